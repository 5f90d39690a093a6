"""The figure of a rate against loss, with what theory says."""

from pathlib import Path

import pytest
from test_figures import said, texts

from slownet.judge.claim import bound, follows
from slownet.judge.records.cell import Cell
from slownet.judge.records.result import RunData
from slownet.report.losses import loss_figure
from slownet.report.plots import figures
from slownet.report.view import view
from slownet.theory.stats import Summary

METRIC = "mbit_per_s"
RATES = {"0.1%": 4.8, "1%": 1.5, "10%": 0.36}


def made(delays=("100ms", "20ms"), shares=tuple(RATES), metric=METRIC, published=()):
    cells = []
    for number, delay in enumerate(delays, 1):
        for share in shares:
            label = {"delay_up": delay, "loss_up": share, "seed": "1"}
            condition = {"delay_up_ms": float(delay[:-2]), "loss_up_percent": float(share[:-1])}
            rate = RATES[share] * number
            found = Summary(rate, 0.9 * rate, 1.1 * rate, 3)
            cells.append(Cell(label, condition, ({"status": "ok"},), {metric: found}))
    return RunData(Path("runs/packet_loss"), "packet_loss", {"published": {"rows": published}}, tuple(cells))


def test_a_line_for_each_delay_with_theory_and_claimed_ranges():
    run = made()
    claims = [
        follows(METRIC, lambda at: 5.0 if at["loss_up_percent"] < 1 else None, at_least=0.5, at_most=2.5,
                because="of it", name="the law"),
        bound(METRIC, run.cells[2].label, at_least=0.2, at_most=0.5),
    ]  # fmt: skip
    found = loss_figure(view(run.judged([claim.judge(run) for claim in claims])))
    assert found.title == "Throughput against loss"
    words = texts(found.svg)
    assert {"100 ms of delay", "20 ms of delay", "theory", "range that is claimed", "packets lost, % (log scale)"} <= set(words)
    assert "published" not in words
    assert {"0.1", "1", "10"} <= set(words)
    assert "100 ms of delay: 5 Mbit/s by theory" in said(found.svg)
    assert [each for each in said(found.svg) if "claimed" in each] == [f"{run.cells[2].title}: 0.2 to 0.5 Mbit/s claimed"]
    assert found.head == ("condition", "Mbit/s", "from", "to", "theory")
    assert [row[4] for row in found.rows] == [5.0, None, None, 5.0, None, None]


def test_it_is_the_runs_first_figure_and_has_what_was_published():
    run = made(published=[{"cell": {"delay_up": "100ms", "loss_up": "1%", "seed": "1"}, METRIC: 1.4}])
    found = figures(view(run))[0]
    assert found.name == "loss"
    assert "published" in texts(found.svg)
    assert found.head[-1] == "published"


@pytest.mark.parametrize(
    "run",
    [
        made(shares=("0.1%", "1%")),
        made(metric="time_ms"),
        made(delays=("1ms", "2ms", "3ms", "4ms")),
    ],
    ids=["two shares", "no rate", "too many lines"],
)
def test_other_runs_have_none(run):
    assert loss_figure(view(run)) is None


def test_a_loss_of_nothing_has_no_place_on_the_axis():
    run = made()
    run.cells[0].condition["loss_up_percent"] = 0.0
    assert loss_figure(view(run)) is None
