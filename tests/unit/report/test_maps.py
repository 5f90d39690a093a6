"""Maps of a sweep: squares, contours, named conditions, effects, and the page."""

import re
from dataclasses import replace
from itertools import combinations

import pytest

from slownet.judge.records.result import gather
from slownet.report import grid, maps, sweep_page
from slownet.report.answer import answer as answer_of_runs
from slownet.report.chart import text_width
from slownet.report.maps import contours
from slownet.report.scale import Linear, Log, shades
from slownet.report.sweep_page import answer, effect_figures, sweep_figures, write_sweep
from slownet.report.view import view
from slownet.theory.stats.factorial import is_complete, marginal, shares

FACTS = {"clock": "virtual", "tdf": "inf", "cpu": "free", "question": "How slow is <it>?", "experiment": "page"}


def sample(cell, mean, **others):
    metrics = {} if mean is None else {"time_ms": {"mean": mean, "sd": 0.0, "n": 3, "values": [mean] * 3}}
    return {"experiment": "page", "cell": cell, "status": "ok", "boot": 1, "block": 1, "lab": 1, "metrics": metrics} | others


def sweep(rtts=(0, 100, 20), losses=(0, 1), rates=("2Mbit", "10Mbit"), time=lambda rtt, loss, rate: 10 + 4 * rtt + loss * rtt):
    return gather(
        [
            sample(
                {"rtt": f"{rtt}ms", "loss": f"{loss}%", "rate": rate}, time(rtt, loss, rate), condition={"rtt_ms": float(rtt)}
            )
            for rtt in rtts
            for loss in losses
            for rate in rates
        ],
        FACTS,
    )


def test_factors_are_in_the_order_of_their_numbers_the_longest_first():
    first, second, third = grid.factors(sweep())
    assert (first.name, first.levels, first.numbers) == ("rtt", ("0ms", "20ms", "100ms"), (0.0, 20.0, 100.0))
    assert (second.levels, third.levels) == (("0%", "1%"), ("2Mbit", "10Mbit"))
    assert grid.factors(sweep(losses=[0], rates=["2Mbit"]))[0].name == "rtt"


def test_levels_without_numbers_keep_their_order():
    run = gather([sample({"condition": name}, 1.0) for name in ("LTE", "GEO", "LAN")], FACTS)
    assert grid.factors(run) == [grid.Factor("condition", ("LTE", "GEO", "LAN"))]


def test_each_value_of_a_third_factor_has_a_panel_on_one_scale():
    run = sweep()
    figures = maps.metric_maps(run, "time_ms", *grid.factors(run)[:2])
    assert [each.title for each in figures] == [
        "Time, ms over rtt and loss: rate 2Mbit",
        "Time, ms over rtt and loss: rate 10Mbit",
    ]
    for each in figures:
        assert each.head == ("rtt", "loss", "rate", "time_ms", "low", "high")
        assert each.rows[0][:4] == ("0ms", "0%", each.title.split()[-1], 10.0)
        assert len(each.rows) == each.svg.count('class="mark"') == 6
    shades = [float(each) for each in re.findall(r'<g class="mark".*?fill-opacity="([\d.]+)"', figures[0].svg)]
    assert (min(shades), max(shades)) == (maps.FAINT, maps.FULL)


def test_a_failed_cell_is_an_empty_square():
    samples = [sample({"rtt": rtt, "loss": loss}, 1.0) for rtt in ("0ms", "1ms") for loss in ("0%", "1%")]
    samples[3] = sample(samples[3]["cell"], None, status="failed", error="no answer")
    run = gather(samples, FACTS)
    (figure,) = maps.metric_maps(run, "time_ms", *grid.factors(run))
    assert figure.rows[3][2:] == (None, None, None)
    assert "rtt 1ms, loss 1%: failed" in figure.svg


def contoured():
    return gather(
        [sample({"rtt": f"{rtt}ms", "loss": f"{loss}%"}, 1000 / rtt / loss) for rtt in (10, 20, 40) for loss in (0.1, 1, 10)],
        FACTS,
    )


def test_each_contour_bears_its_number_between_the_squares():
    run = contoured()
    (figure,) = maps.metric_maps(run, "time_ms", *grid.factors(run))
    drawn = figure.svg.count('stroke-opacity="0.55"')
    labels = re.findall(r'<text class="small" x="([\d.]+)" y="([\d.]+)" text-anchor="middle">([\d.]+)</text>', figure.svg)
    assert [text for _, _, text in labels] == ["5", "10", "20", "50", "100", "200", "500"]
    assert drawn == len(labels)
    centres = [(float(x), float(y)) for x, y in re.findall(r'<g class="mark" data-x="([\d.]+)" data-y="([\d.]+)"', figure.svg)]
    assert all(min(abs(float(x) - a) + abs(float(y) - 4 - b) for a, b in centres) > 10 for x, y, _ in labels)


def test_numbers_stand_above_the_contours():
    run = contoured()
    (figure,) = maps.metric_maps(run, "time_ms", *grid.factors(run))
    assert figure.svg.rindex('stroke-opacity="0.55"') < figure.svg.index(">1000</text>", figure.svg.index("data-says"))


def test_shades_of_numbers_far_apart_grow_by_factors():
    run = contoured()
    (figure,) = maps.metric_maps(run, "time_ms", *grid.factors(run))
    shades = {
        says: float(shade)
        for says, shade in re.findall(
            r'data-says="(rtt \d+ms, loss [\d.]+%)[^"]*"><rect [^>]*fill-opacity="([\d.]+)"', figure.svg
        )
    }
    middle = shades["rtt 20ms, loss 1%"]
    assert middle == pytest.approx((maps.FAINT + maps.FULL) / 2, abs=0.001), "50 is in the middle of 2.5 and 1000"


def test_a_letter_on_the_map_stands_for_a_named_condition_below_it():
    run = gather([sample({"rtt": rtt, "rate": rate}, 1.0) for rtt in ("0ms", "100ms") for rate in ("1Mbit", "23Mbit")], FACTS)
    (figure,) = maps.verdict_maps(run, "time_ms<2", {}, *grid.factors(run))
    letters = dict(re.findall(r"\b([A-Z]) ([^;.]+)", figure.note.removeprefix("Named conditions: ")))
    assert "LTE" in letters.values()
    assert sorted(letters) == re.findall(r'<text class="small"[^>]*>([A-Z])</text>', figure.svg)
    assert "LTE" not in figure.svg


def test_the_answer_counts_every_cell_and_names_what_matters():
    run = sweep(rates=["2Mbit"])
    titles = [cell.title for cell in run.cells]
    verdicts = dict.fromkeys(titles[:2], "supported") | {titles[2]: "refuted", titles[3]: "inconclusive"}
    said = answer(run, verdicts, "time_ms<20", "time_ms")
    assert said.startswith("2 of 6 cells meet time_ms<20; 1 does not, 1 is open and 2 were not judged. ")
    assert "Time goes from 10 ms (rtt 0ms, loss 0%, rate 2Mbit) to 510 ms (rtt 100ms, loss 1%, rate 2Mbit)" in said
    assert re.search(r"; rtt explains most of it, 9\d %\.$", said)


def test_axes_name_their_unit_and_a_logarithm():
    run = contoured()
    along_rtt, along_loss, _ = effect_figures(run, "time_ms", grid.factors(run))
    assert ">rtt, ms (log scale)</text>" in along_rtt.svg
    assert ">loss, % (log scale)</text>" in along_loss.svg
    assert ">time, ms (log scale)</text>" in along_loss.svg
    assert ">rtt, ms</text>" in effect_figures(sweep(losses=[0], rates=["2Mbit"]), "time_ms", grid.factors(sweep()))[0].svg


def test_a_curve_along_the_only_factor_has_intervals():
    means = {rtt: 10.0 + rtt for rtt in (0, 20, 100)}
    metrics = {rtt: {"time_ms": {"mean": at, "sd": 1.0, "n": 3, "values": [at - 1, at, at + 1]}} for rtt, at in means.items()}
    run = gather([sample({"rtt": f"{rtt}ms"}, None, metrics=each) for rtt, each in metrics.items()], FACTS)
    (figure,) = effect_figures(run, "time_ms", grid.factors(run))
    assert figure.head == ("rtt", "time_ms", "low", "high")
    assert figure.svg.count('class="bar"') == 3
    assert all(low < mean < high for _, mean, low, high in figure.rows)


def test_names_that_do_not_fit_beside_each_other_are_numbered():
    names = [f"a condition with a long name {at}" for at in range(4)]
    run = gather([sample({"condition": name}, 1.0 + at) for at, name in enumerate(names)], FACTS)
    (figure,) = effect_figures(run, "time_ms", grid.factors(run))
    assert figure.note.startswith(f"1: {names[0]}, 2: {names[1]}")


def test_verdicts_are_words_as_well_as_colours():
    run = sweep(rates=["2Mbit"])
    verdicts = {cell.title: "supported" if "rtt 0ms" in cell.title else "refuted" for cell in run.cells}
    verdicts[run.cells[-1].title] = "inconclusive"
    (figure,) = maps.verdict_maps(run, "time_ms<20", verdicts, *grid.factors(run))
    assert re.findall(r">(met|not|\?)</text>", figure.svg) == ["met", "met", "not", "?", "not", "not"]


def test_named_conditions_lie_between_the_levels():
    across, up = grid.Factor("rtt", ("0ms", "100ms"), (0.0, 100.0)), grid.Factor("loss", ("0%", "1%"), (0.0, 1.0))
    found = {name: (x, y) for name, x, y in grid.named(across, up)}
    assert found["LTE"] == (0.7, 0.0)
    assert "GEO" not in found, "629 ms is not on the map"
    assert grid.named(across, grid.Factor("name", ("a", "b"))) == []
    run = gather([sample({"rtt": rtt, "rate": rate}, 1.0) for rtt in ("0ms", "100ms") for rate in ("1Mbit", "23Mbit")], FACTS)
    found = {name: (x, y) for name, x, y in grid.named(*grid.factors(run))}
    assert found["LTE"] == pytest.approx((0.7, 0.5)), "70 ms and 12 Mbit/s"


@pytest.mark.parametrize(("number", "place"), [(0, 0.0), (15, 0.75), (100, 2.0), (60, 1.5), (101, None), (-1, None)])
def test_a_place_among_levels(number, place):
    assert grid.place((0, 20, 100), number) == place


def test_a_contour_runs_where_the_level_is():
    assert contours([[0.0, 2.0], [0.0, 2.0]], 1.0) == [((0.5, 0.0), (0.5, 1.0))]
    assert contours([[0.0, 4.0], [0.0, 4.0], [0.0, 4.0]], 1.0) == [((0.25, 0.0), (0.25, 1.0)), ((0.25, 1.0), (0.25, 2.0))]
    assert contours([[0.0, 0.0], [0.0, 0.0]], 1.0) == []
    assert contours([[0.0, None], [0.0, 4.0]], 1.0) == []


@pytest.mark.parametrize(("high", "low", "cut"), [(5.0, 1.0, [(0, 1), (1, 0)]), (3.0, -1.0, [(0, 0), (1, 1)])])
def test_a_saddle_is_decided_by_its_middle(high, low, cut):
    """Two opposite corners are high, two low: a high middle joins the high ones and cuts off the low ones."""
    assert sorted(map(_corner, contours([[high, low], [low, high]], 2.0))) == cut


def _corner(edge):
    """Return the corner of the unit square that a piece cuts off: on the sides that it ends on."""
    (x1, y1), (x2, y2) = edge
    x = x1 if x1 in (0.0, 1.0) else x2
    y = y1 if y1 in (0.0, 1.0) else y2
    return int(x), int(y)


def test_shares_of_a_sum_and_of_a_product():
    levels = [(a, b) for a in "01" for b in "0123"]
    both = {(a, b): 10.0 * int(a) + int(b) for a, b in levels}
    assert shares(both, "ab") == pytest.approx({("a",): 200 / 210, ("b",): 10 / 210, ("a", "b"): 0.0})
    product = {(a, b): (2 * int(a) - 1) * (2 * int(b) - 3.0) for a, b in levels}
    assert shares(product, "ab") == pytest.approx({("a",): 0.0, ("b",): 0.0, ("a", "b"): 1.0})
    assert shares(dict.fromkeys(levels, 0.1), "ab") == {}
    assert marginal(both, 1) == {"0": 5.0, "1": 6.0, "2": 7.0, "3": 8.0}
    assert is_complete(both)
    assert not is_complete({key: both[key] for key in levels[1:]})


def test_shares_of_three_factors_add_up_to_all():
    levels = [(a, b, c) for a in "01" for b in "01" for c in "01"]
    found = shares({key: float(key == ("1", "1", "1")) for key in levels}, "abc")
    assert sum(found.values()) == pytest.approx(1.0)
    assert found[()] == pytest.approx(1 / 7)


def test_the_page_is_one_file_and_shows_all(tmp_path):
    run = gather([each for cell in sweep().cells for each in cell.samples], FACTS, tmp_path)
    verdicts = {cell.title: "supported" for cell in run.cells}
    aside = [{"cell": {"rtt": "5ms"}, "repetition": 1, "why": "the lab <panicked>"}]
    text = write_sweep(run, verdicts, "time_ms<500", "time_ms", ["met up to rtt 57ms"], aside).read_text()
    assert "How slow is &lt;it&gt;?" in text
    assert "12 of 12 cells meet time_ms&lt;500." in text
    assert "met up to rtt 57ms" in text
    assert "the lab &lt;panicked&gt;" in text
    assert not re.search(r'(src|href)="(?!data:|#)', text)
    names = [each.name for each in sweep_figures(run, verdicts, "time_ms<500", "time_ms")]
    assert names == [
        "verdicts-1",
        "verdicts-2",
        "map-time_ms-1",
        "map-time_ms-2",
        *(f"effect-time_ms-{name}" for name in ("rtt", "loss", "rate")),
        "shares-time_ms",
    ]


def test_one_factor_is_a_curve(tmp_path):
    run = sweep(losses=[0], rates=["2Mbit"])
    assert [each.name for each in sweep_figures(run, {}, "")] == ["effect-time_ms-rtt"]


def test_too_many_cells_for_a_map_are_said_to_be_so(tmp_path, monkeypatch):
    monkeypatch.setattr("slownet.report.sweep_page.LARGEST", 11)
    run = gather([each for cell in sweep().cells for each in cell.samples], FACTS, tmp_path)
    text = write_sweep(run, {}, "", "", [], []).read_text()
    assert "More than 11 cells are not drawn as maps" in text
    names = [each.name for each in sweep_figures(run, {}, "")]
    assert names == [*(f"effect-time_ms-{name}" for name in ("rtt", "loss", "rate")), "shares-time_ms"]


def sampled(*cells):
    return gather(
        [sample({"rtt": f"{rtt}ms", "loss": f"{loss}%", "kind": kind}, mean) for rtt, loss, kind, mean in cells], FACTS
    )


LATIN = sampled((0, 3, "a", 10.0), (7, 0, "b", 40.0), (30, 1, "c", 25.0), (90, 2, "d", None))


def test_a_sample_of_the_grid_is_drawn_as_points_shaded_by_value():
    factors = grid.factors(LATIN)
    assert sweep_page.is_sparse(LATIN, factors)
    assert not sweep_page.is_sparse(sweep(), grid.factors(sweep()))
    figures = sweep_page.metric_points(LATIN, "time_ms", factors)
    assert [each.title for each in figures] == [
        "Time, ms over rtt and loss", "Time, ms over rtt and kind", "Time, ms over loss and kind"
    ]  # fmt: skip
    over = figures[0]
    drawn = re.findall(r'<g class="mark"[^>]*data-says="([^"]*)"><circle class="shade"[^>]*fill-opacity="([\d.]+)"', over.svg)
    assert [float(shade) for _, shade in drawn] == [
        maps.FAINT,
        maps.FULL,
        pytest.approx((maps.FAINT + maps.FULL) / 2, abs=0.001),
    ]
    assert drawn[1][0].startswith("rtt 7ms, loss 0%, kind b: 40")
    assert over.svg.count("failed") == 2, "the point and its entry in the legend"
    assert [row[3] for row in over.rows] == [10.0, 40.0, 25.0, None]
    (middle,) = {
        float(x) for x, says in re.findall(r'data-x="([\d.]+)"[^>]*data-says="(rtt 30ms[^"]*)"', over.svg) for _ in "1"
    }
    lowest, highest = (float(re.search(rf'data-x="([\d.]+)"[^>]*data-says="rtt {rtt}ms', over.svg)[1]) for rtt in (0, 90))
    assert (middle - lowest) / (highest - lowest) == pytest.approx(30 / 90, abs=0.01), "along the number, not the rank"
    assert all(f">{name}</text>" in figures[1].svg for name in "abcd")


def test_a_sample_with_a_criterion_has_points_of_each_verdict():
    verdicts = {
        cell.title: verdict for cell, verdict in zip(LATIN.cells, ["supported", "refuted", "inconclusive"], strict=False)
    }
    figures = sweep_figures(LATIN, verdicts, "time_ms<30", "time_ms")
    first = figures[0]
    assert first.title == "time_ms<30 over rtt and loss"
    assert [row[3] for row in first.rows] == ["supported", "refuted", "inconclusive", "failed"]
    assert all(f">{word}</text>" in first.svg for word in ("met", "not", "open"))
    assert {each.name.partition("-")[0] for each in figures} == {"points", "effect"}


TEXT = re.compile(r'<text(?: class="(\w+)")? x="([\d.]+)" y="([\d.]+)"(?: text-anchor="(\w+)")?>([^<]*)</text>')


def boxes(svg):
    """Return the texts of a picture, each with its left, top, right and bottom."""
    found = []
    for _, x, y, anchor, text in TEXT.findall(svg):
        wide = text_width(text)
        left = float(x) - {"middle": wide / 2, "end": wide}.get(anchor, 0.0)
        found.append((text, left, float(y) - 10, left + wide, float(y) + 1))
    return found


def crossing(svg):
    """Return the pairs of texts that lie on each other."""
    return [(a[0], b[0]) for a, b in combinations(boxes(svg), 2) if a[1] < b[3] and b[1] < a[3] and a[2] < b[4] and b[2] < a[4]]


JUMP = {0: 0.0, 0.5: 0.0, 1: 0.0, 2: 0.0, 5: 0.0, 10: 0.1}


@pytest.mark.parametrize(
    "time",
    [
        lambda rtt, loss, rate: rtt or 0.001,
        lambda rtt, loss, rate: JUMP[loss],
        lambda rtt, loss, rate: 10 + 4 * rtt + loss * rtt,
        lambda rtt, loss, rate: (1 + rtt) * (1 + loss) ** 2,
    ],
    ids=["one round trip", "a jump", "a plane", "growing"],
)
@pytest.mark.parametrize("rtts", [(0, 20, 40, 60, 80), range(0, 210, 10)], ids=["few", "many"])
def test_no_text_of_a_map_lies_on_another(time, rtts):
    run = sweep(rtts=rtts, losses=tuple(JUMP), rates=("2Mbit",), time=time)
    (figure,) = maps.metric_maps(run, "time_ms", *grid.factors(run))
    assert len(boxes(figure.svg)) > 10
    assert crossing(figure.svg) == []


def test_a_line_whose_first_number_is_almost_nothing_has_no_logarithm():
    run = sweep(rtts=(0, 20, 40, 60, 80), losses=(0,), rates=("2Mbit",), time=lambda rtt, loss, rate: rtt or 0.001)
    (figure,) = effect_figures(run, "time_ms", grid.factors(run))
    assert "log scale" not in figure.svg


def test_a_sweep_of_delays_says_the_round_trips_whatever_the_loss_is():
    run = sweep(rtts=(0, 20, 40, 100), rates=("2Mbit",), time=lambda rtt, loss, rate: 10 + 4 * rtt)
    said = "A request costs four round trips, whatever the loss: 40 ms further away, it takes 160 ms longer."
    assert answer(run, {}, "") == said
    assert answer_of_runs(view(run)) == said  # as `slownet show` prints it


def test_a_sweep_of_a_delay_on_several_links_says_the_slope_and_no_round_trips():
    run = sweep(rtts=(0, 20, 40, 100), rates=("2Mbit",), time=lambda rtt, loss, rate: 10 + 6 * rtt)
    cells = []
    for cell in run.cells:
        links = {f"{name}-switch": f"rtt {cell.label['rtt']}, loss {cell.label['loss']}" for name in ("client", "web", "db")}
        cells.append(replace(cell, samples=tuple({**each, "links": links} for each in cell.samples)))
    said = "A request takes 6 ms longer for each ms of rtt, which is set on 3 links."
    run = replace(run, cells=tuple(cells))
    assert answer(run, {}, "") == answer_of_runs(view(run)) == said


def test_a_sweep_whose_loss_adds_round_trips_says_how_many():
    run = sweep(rtts=(0, 20, 100), rates=("2Mbit",))
    assert answer(run, {}, "") == "A request costs four round trips with 0 % loss, and 5 with 1 % loss."


def test_two_delays_in_each_group_are_not_called_a_law():
    run = sweep(rtts=(0, 20), rates=("2Mbit",), time=lambda rtt, loss, rate: 10 + 4 * rtt)
    assert "round trips" not in answer(run, {}, "")


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        ([0.001] * 6 + [80.0, 160.0, 240.0, 320.0] * 6, Linear),  # a law whose nearest cells take almost nothing
        ([1.0, 10.0, 100.0, 1000.0], Log),
        ([2.5, 50.0, 50.0, 1000.0], Log),
        ([10.0, 20.0, 30.0], Linear),
        ([0.0, 1.0, 1000.0], Linear),
    ],
)
def test_a_few_cells_that_take_almost_nothing_do_not_make_shades_grow_by_factors(numbers, kind):
    assert isinstance(shades(numbers), kind)
