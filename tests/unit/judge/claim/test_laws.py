from pathlib import Path

import pytest

from slownet.judge.claim import all_of, constant_round_trips, law, more_round_trips, published_times, round_trips_between
from slownet.judge.claim.laws import fitted
from slownet.judge.records.cell import Cell
from slownet.judge.records.charging import Charging, Terms
from slownet.judge.records.judgement import Reason
from slownet.judge.records.result import RunData
from slownet.model.errors import ExperimentError
from slownet.theory.slow_start import round_trips
from slownet.theory.stats import Summary

METRIC = "time_per_request_ms"
CLIENT = {0: 12.323, 10: 51.825, 40: 173.318, 120: 491.918}
DATABASE = {0: 12.323, 10: 286.732, 40: 1099.341}


def run_of(times, half=0.0, name="client_delay", failed=()):
    cells = []
    for rtt, time in times.items():
        record = {"status": "failed", "error": "ab timed out"} if rtt in failed else {"status": "ok"}
        metrics = {} if rtt in failed else {METRIC: Summary(time, time - half, time + half, 100)}
        sample = record | {"facts": {"document_length": 51686, "header_length": 208}}
        cells.append(Cell({"rtt": f"{rtt}ms"}, {"rtt_ms": float(rtt)}, (sample,), metrics))
    return RunData(Path("runs/x"), name, {}, tuple(cells))


def of_page(run):
    return round_trips(run.fact("document_length"), until="close", header_bytes=run.fact("header_length"))


def straight(k, t0=9.0, half=0.0, **more):
    return run_of({rtt: t0 + k * rtt for rtt in (0, 10, 40, 120)}, half, **more)


def test_the_article_supports_four_round_trips():
    judgement = law(METRIC, round_trips=4, within=0.05).judge(run_of(CLIENT), {})
    assert judgement.verdict == "supported"
    assert judgement.name == "4 round trips per operation, within 5 %"
    assert judgement.measured == pytest.approx(3.99800676)
    assert (judgement.low, judgement.high) == (pytest.approx(3.96027977), pytest.approx(4.03573375))
    assert judgement.expected == 4.0
    assert judgement.margin == (pytest.approx(3.8), pytest.approx(4.2))
    assert judgement.text == "4.00 (3.96 to 4.04) round trips per operation measured, 4 expected"


@pytest.mark.parametrize(
    ("k", "half", "verdict"),
    [
        (4.0, 0.0, "supported"),
        (4.15, 0.0, "supported"),
        (4.25, 0.0, "refuted"),
        (3.75, 0.0, "refuted"),
        (4.15, 8.0, "inconclusive"),  # half width 8 / sqrt(8875) = 0.0849
        (4.15, 4.0, "supported"),
        (4.30, 8.0, "refuted"),
        (4.25, 8.0, "inconclusive"),
    ],
)
def test_the_interval_decides_on_the_law(k, half, verdict):
    assert law(METRIC, round_trips=4).judge(straight(k, half=half), {}).verdict == verdict


def on_the_real_clock(times, half, late, charging=Charging.REAL):
    """Return a run of three boots, with links that were later than stated by this share of their ping."""
    cells = []
    for rtt, time in times.items():
        samples = tuple({"status": "ok", "boot": boot, "late": late if rtt else None} for boot in (1, 2, 3))
        metrics = {METRIC: Summary(time, time - half, time + half, 3)}
        cells.append(Cell({"rtt": f"{rtt}ms"}, {"rtt_ms": float(rtt)}, samples, metrics, terms=Terms(charging)))
    return RunData(Path("runs/x"), "client_delay", {"clock": "real"}, tuple(cells))


@pytest.mark.parametrize(
    ("k", "late", "verdict"),
    [
        (4.0, 0.01, "supported"),
        (4.6, 0.1, "inconclusive"),  # four round trips, for each of which a processor woke up to a fifth late
        (4.6, 0.01, "refuted"),
        (4.6, None, "refuted"),
        (3.5, 0.1, "refuted"),  # waking late makes nothing shorter
        (9.0, 0.1, "refuted"),
    ],
)
def test_waking_late_is_no_round_trip_in_a_run_as_in_a_test(k, late, verdict):
    """The rule of `slowed`: `slownet.judge.records.charging.woken_late`."""
    run = on_the_real_clock({rtt: 9.0 + k * rtt for rtt in (0, 10, 40)}, 0.05, late)
    found = law(METRIC, round_trips=4).judge(run, {})
    assert (found.verdict, "woke late" in found.text) == (verdict, verdict == "inconclusive")
    assert bool(found.stays_open) == (verdict == "inconclusive"), "further boots do not decide what is late in each"
    between = round_trips_between(METRIC, {"rtt": "40ms"}, of={"rtt": "0ms"}, because="theory", expected=4.0)
    assert between.judge(run, {}).verdict == verdict
    charged = on_the_real_clock({rtt: 9.0 + k * rtt for rtt in (0, 10, 40)}, 0.05, late, Charging.WORK)
    assert law(METRIC, round_trips=4).judge(charged, {}).verdict == ("supported" if k == 4 else "refuted")


def painted(times, waits):
    """Return a run of three boots of a page's first paint, whose values wait for a frame by up to so many ms."""
    metric, cells = "first_paint_ms", []
    for rtt, time in times.items():
        record = {metric: {"mean": time, "n": 3} | ({"waits": waits} if waits else {})}
        samples = tuple({"status": "ok", "boot": boot, "metrics": record} for boot in (1, 2, 3))
        metrics = {metric: Summary(time, time - 1, time + 1, 3)}
        cells.append(Cell({"rtt": f"{rtt}ms"}, {"rtt_ms": float(rtt)}, samples, metrics, terms=Terms(Charging.FREE)))
    return RunData(Path("runs/x"), "page", {"clock": "virtual", "tdf": "inf"}, tuple(cells))


PAINTS = {50: 162.2, 100: 319.8, 200: 620.3}
"""Means of 14 boots, in ms; a stylesheet blocks the paint, and a frame takes 16.7 ms."""


@pytest.mark.parametrize(
    ("round_trips", "within", "verdict"),
    [(3, 0.1, "supported"), (3, 0.03, "inconclusive"), (4, 0.1, "refuted"), (2, 0.1, "refuted")],
)
def test_what_waits_for_a_frame_bends_no_law(round_trips, within, verdict):
    claim = law("first_paint_ms", round_trips=round_trips, within=within)
    found = claim.judge(painted(PAINTS, 1000 / 60), {})
    assert found.verdict == verdict
    assert found.high - found.low == pytest.approx(2 * 0.119 + 0.02, abs=0.02)  # a frame in each of the times
    if verdict == "inconclusive":
        assert found.text.endswith("it waits for the next frame, for up to 17 ms, which is a smaller part of a longer delay")
        assert (found.reason, bool(found.stays_open)) == (Reason.LATE, True)
    bent = claim.judge(painted(PAINTS, 0), {})
    assert "bent" in bent.text or bent.verdict == "refuted"


def test_what_waits_for_a_frame_is_in_the_round_trips_between_two_distances():
    between = round_trips_between("first_paint_ms", {"rtt": "200ms"}, of={"rtt": "50ms"}, because="theory", expected=3.0)
    found, exact = (between.judge(painted(PAINTS, waits), {}) for waits in (1000 / 60, 0))
    assert found.high - exact.high == pytest.approx(16.7 / 150, abs=0.001) == exact.low - found.low


def test_what_is_late_is_in_all_that_a_law_says():
    times = {rtt: 9.0 + 4.6 * rtt for rtt in (0, 10, 40)}
    late, punctual = (fitted(on_the_real_clock(times, 0.05, each), METRIC) for each in (0.1, None))
    assert late.k.mean == punctual.k.mean
    assert late.k.low < 4.0 < punctual.k.low
    assert late.k.high == pytest.approx(punctual.k.high, abs=0.3)
    assert late.predict(0, 40).low < 160 < punctual.predict(0, 40).low


def test_an_exact_run_needs_no_variance():
    judgement = law(METRIC, round_trips=4).judge(straight(4.0, t0=0.0), {})
    assert judgement.verdict == "supported"
    assert judgement.low == judgement.measured == judgement.high
    assert judgement.text == "4.00 round trips per operation measured, 4 expected"


def test_expected_round_trips_may_come_from_the_run():
    claim = law(METRIC, round_trips=of_page)
    judgement = claim.judge(run_of(CLIENT), {})
    assert (judgement.verdict, judgement.expected) == ("supported", 4.0)


def test_a_run_without_intervals_is_inconclusive():
    run = run_of({0: 12.323, 10: 51.825}, half=float("inf"))
    judgement = law(METRIC, round_trips=4).judge(run, {})
    assert judgement.verdict == "inconclusive"
    assert judgement.text.endswith("(its interval is not known: that takes 3 repetitions or more)")
    assert judgement.to_json()["low"] is None


def test_round_trips_of_the_articles_database_are_constant():
    judgement = constant_round_trips(METRIC, at=("10ms", "40ms")).judge(run_of(DATABASE), {})
    assert judgement.verdict == "supported"
    assert judgement.measured == pytest.approx(1087.018 / 40 / (274.409 / 10))
    assert judgement.low == judgement.measured == judgement.high
    assert judgement.text.startswith("27.44 round trips per operation at 10ms, 27.18 at 40ms: ratio 0.990")


def test_round_trips_that_grow_are_not_constant():
    bent = run_of({0: 10.0, 10: 50.0, 40: 190.0})
    judgement = constant_round_trips(METRIC).judge(bent, {})
    assert (judgement.verdict, judgement.measured) == ("refuted", pytest.approx(4.5 / 4.0))


def test_noise_leaves_constancy_open_and_the_baseline_counts_once():
    # k: (40 +- h) / 10 and (160 +- h) / 40, where h includes the baseline's half width of 2 in both.
    judgement = constant_round_trips(METRIC).judge(straight(4.0, half=2.0), {})
    assert judgement.verdict == "inconclusive"
    a, b, h_a, h_b, c = 4.0, 4.0, 8**0.5 / 40, 8**0.5 / 10, 4 / 400
    root = ((a * b - c) ** 2 - (a * a - h_a**2) * (b * b - h_b**2)) ** 0.5
    assert judgement.low == pytest.approx((a * b - c - root) / (b * b - h_b**2))
    assert judgement.high == pytest.approx((a * b - c + root) / (b * b - h_b**2))


def test_the_database_costs_more_than_the_client():
    claim = more_round_trips(METRIC, at_least=5, of="client_delay", otherwise=4)
    database = run_of(DATABASE, name="database_delay")
    judgement = claim.judge(straight(27.0, name="database_delay"), {"client_delay": straight(4.0)})
    assert (judgement.verdict, judgement.margin) == ("supported", (5, None))
    assert judgement.measured == pytest.approx(6.75)
    assert judgement.text.endswith(" against 4.00 of client_delay of the same invocation: 6.75 times")
    alone = claim.judge(database, {"database_delay": database})
    assert "of theory (client_delay did not run)" in alone.text
    assert alone.measured == pytest.approx(27.166 / 4, rel=1e-3)


def test_less_than_five_times_is_refuted():
    claim = more_round_trips(METRIC, at_least=5, of="client_delay")
    assert claim.judge(straight(19.0), {"client_delay": straight(4.0)}).verdict == "refuted"
    assert claim.judge(straight(20.5, half=60.0), {"client_delay": straight(4.0)}).verdict == "inconclusive"


def test_a_sibling_that_did_not_run_leaves_the_claim_unjudged():
    claim = more_round_trips(METRIC, at_least=5, of="client_delay")
    found = claim.judge(straight(20.0), {"client_dela": straight(4.0)})
    assert (found.verdict, found.measured) == ("not judged", None)
    assert found.text == (
        "client_delay did not run in the same invocation (did you mean 'client_dela'?), and otherwise= is not given"
    )
    alone = claim.judge(straight(20.0))
    assert alone.text == "client_delay did not run in the same invocation, and otherwise= is not given"
    assert all_of(claim, law(METRIC, round_trips=20)).judge(straight(20.0)).verdict == "not judged"


def test_the_published_t0_gives_the_published_times():
    times = {"10ms": 51.825, "40ms": 173.318, "120ms": 491.918}
    claim = published_times(METRIC, t0_ms=12.323, times_ms=times)
    judgement = claim.judge(straight(4.02, t0=3.0), {})
    assert judgement.verdict == "supported"
    assert judgement.measured == pytest.approx((12.323 + 4.02 * 10) / 51.825)  # the worst of the three
    pairs = ("52.5 ms (51.8) at 10ms", "173.1 ms (173.3) at 40ms", "494.7 ms (491.9) at 120ms")
    assert judgement.text == "predicted (published): " + ", ".join(pairs)
    assert claim.judge(straight(5.0), {}).verdict == "refuted"
    judgement = claim.judge(straight(4.2, half=8.0), {})
    assert judgement.verdict == "inconclusive"


@pytest.mark.parametrize(
    "claim",
    [
        law(METRIC, round_trips=4),
        law(METRIC, round_trips=lambda run: 4),
        constant_round_trips(METRIC),
        more_round_trips(METRIC, at_least=5, of="client_delay", otherwise=4),
        published_times(METRIC, t0_ms=12.323, times_ms={"10ms": 51.825}),
    ],
)
def test_a_failed_cell_leaves_a_claim_open_and_says_so(claim):
    judgement = claim.judge(run_of(CLIENT, failed=(40,)), {})
    assert (judgement.verdict, judgement.measured) == ("inconclusive", None)
    assert judgement.text == "not decided, because 1 cell failed (rtt 40ms: ab timed out)"


def test_a_failed_sibling_leaves_the_comparison_open():
    claim = more_round_trips(METRIC, at_least=5, of="client_delay")
    judgement = claim.judge(straight(27.0), {"client_delay": run_of(CLIENT, failed=(10, 40))})
    assert judgement.verdict == "inconclusive"
    assert judgement.text.startswith("not decided, because 2 cells failed (rtt 10ms and rtt 40ms: ab timed out)")


def test_a_failed_cell_that_a_claim_does_not_need_does_not_matter():
    assert constant_round_trips(METRIC).judge(run_of(CLIENT, failed=(120,)), {}).verdict == "supported"


def test_wrong_names_are_errors_not_verdicts():
    run = run_of(CLIENT)
    with pytest.raises(ExperimentError, match="did you mean 'time_per_request_ms'"):
        law("time_per_request", round_trips=4).judge(run, {})
    with pytest.raises(ExperimentError, match=r"no cell at rtt_ms = 15.*the values are 0, 10, 40, 120"):
        constant_round_trips(METRIC, at=("10ms", "15ms")).judge(run, {})
    with pytest.raises(ExperimentError, match="no condition 'delay_ms'"):
        law(METRIC, round_trips=4, along="delay_ms").judge(run, {})
    with pytest.raises(ExperimentError, match="compares a delay with itself"):
        constant_round_trips(METRIC, at=("0ms", "10ms")).judge(run, {})
