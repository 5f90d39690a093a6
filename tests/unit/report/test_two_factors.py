"""Two factors as a matrix: of a metric, or of round trips where a delay was varied, too; what it does not replace."""

import io

import pytest
from rich.console import Console

from slownet.judge.records.condition_columns import condition
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import gather
from slownet.report.grid import matrix
from slownet.report.html_page import render_page
from slownet.report.table import show
from slownet.report.view import view

FACTS = {
    "clock": "virtual",
    "tdf": "inf",
    "cpu": "free",
    "question": "How slow is it?",
    "experiment": "page",
    "operation": "page",
}
TRIPS = {("1 file", "old"): 3.0, ("1 file", "new"): 2.0, ("9 files", "old"): 12.0, ("9 files", "new"): 4.0,
         ("99 files", "old"): 102.0, ("99 files", "new"): 7.0}  # fmt: skip


def sample(cell, mean, metric="page_ms"):
    metrics = {metric: {"mean": mean, "sd": 0.0, "n": 3, "values": [mean] * 3}}
    return {"experiment": "page", "cell": cell, "status": "ok", "boot": 1, "block": 1, "lab": 1, "metrics": metrics} | {
        "condition": condition(cell)
    }


def protocols(rtts=(20, 100), metric="page_ms", left_out=()):
    return gather(
        [
            sample({"page": page, "protocol": protocol, "rtt": f"{rtt}ms"}, 1 + trips * rtt, metric)
            for (page, protocol), trips in TRIPS.items()
            for rtt in rtts
            if (page, protocol) not in left_out
        ],
        FACTS,
    )


def rates(rows=("1%", "0.1%", "10%"), columns=("20ms", "100ms")):
    cells = [
        sample({"loss": row, "delay": column}, 5.0 + at, "mbit_per_s") for row in rows for at, column in enumerate(columns)
    ]
    return gather(cells, FACTS)


def printed(run, width=80):
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(show(run))
    return console.export_text()


def test_three_factors_of_which_one_is_a_delay_are_a_matrix_of_round_trips():
    found = matrix(view(protocols()))
    assert (found.title, found.down, found.columns) == ("Round trips per page", "page", ("old", "new"))
    assert found.rows == (("1 file", ("3", "2")), ("9 files", ("12", "4")), ("99 files", ("102", "7")))


def test_a_pair_that_was_not_measured_is_a_dash():
    rows = dict(matrix(view(protocols(left_out=[("9 files", "new")]))).rows)
    assert rows["9 files"] == ("12", "-")


def test_two_factors_are_a_matrix_of_the_metric_in_the_order_of_their_numbers():
    found = matrix(view(rates()))
    assert (found.title, found.columns) == ("Mbit/s", ("20 ms of delay", "100 ms of delay"))
    assert [name for name, _ in found.rows] == ["0.1 % loss", "1 % loss", "10 % loss"]
    assert {values for _, values in found.rows} == {("5", "6")}


@pytest.mark.parametrize(
    "run",
    [
        rates(rows=["1%"]),
        rates(rows=["1%", "2%"]),
        rates(rows=[f"{at}%" for at in range(1, 9)], columns=[f"{at}ms" for at in range(1, 9)]),
        protocols(metric="mbit_per_s"),
        protocols(left_out=list(TRIPS)[:4]),
    ],
    ids=["one factor", "few cells", "too wide", "no time", "mostly holes"],
)
def test_others_stay_tables(run):
    assert matrix(view(run)) is None


def test_the_terminal_prints_the_matrix_of_many_cells_and_where_the_table_is():
    text = printed(protocols())
    assert "99 files  102    7" in text
    assert "all 12 cells are in its report.html" in text
    assert "rtt 20ms" not in text
    assert "loss 0.1%, delay 100ms" in printed(rates()), "six cells stay a table"


def test_the_page_has_the_matrix_with_the_pictures_and_all_cells_folded():
    text = render_page([view(protocols())])
    assert text.index("<caption>Round trips per page</caption>") < text.index("<summary>All 12 cells</summary>")
    assert "<caption>" not in render_page([view(rates(rows=["1%"]))])


def test_many_supported_claims_are_folded_and_others_are_not():
    def claims(verdicts):
        return tuple(
            Judgement.from_json({"name": f"claim {at}", "verdict": each, "expected": "", "text": "", "kind": "", "metric": ""})
            for at, each in enumerate(verdicts)
        )

    many = render_page([view(protocols().judged(claims(["supported"] * 9 + ["refuted"])))])
    assert many.index("claim 9") < many.index("<summary>9 of 10 supported</summary>") < many.index("claim 0")
    few = render_page([view(protocols().judged(claims(["supported"] * 3 + ["refuted"])))])
    assert "of 4 supported" not in few
