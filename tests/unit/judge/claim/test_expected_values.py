"""Tests of expectations computed from measured numbers: on hand-computed examples, and in the project's own experiments."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from slownet.hypotheses.catalogue import discover
from slownet.hypotheses.experiment import condition
from slownet.judge.claim import bound, expected_values, follows, judge_all, law, predicted, ratio
from slownet.judge.claim.expected_values import apart
from slownet.judge.claim.requirements import _flat
from slownet.judge.records.cell import Cell
from slownet.judge.records.result import RunData, gather
from slownet.model.errors import ExperimentError
from slownet.theory.stats import Summary, from_moments
from slownet.theory.stats import ratio as quotient

NEAR, FAR = {"room": "one"}, {"room": "far"}
WHY = expected_values.BARE()


def run_of(near, far, **more):
    def cell(label, summary):
        return Cell(label, label, ({"cell": label, "status": "ok"},), {"row_ms": summary, **more})

    return RunData(Path("runs/x"), "pipeline", {}, (cell(NEAR, near), cell(FAR, far)))


SURE = Summary(30.0, 30.0, 30.0, 9)


def sum_of(run):
    return run.at(NEAR).summary("row_ms") + 20


def bare_sum(run):
    return run.at(NEAR).summary("row_ms").mean + 20


def test_both_intervals_count():
    near, far = from_moments(10.0, 2.0, 9), from_moments(30.0, 1.0, 9)
    found = predicted("row_ms", FAR, expected=sum_of, within=0.05).judge(run_of(near, far))
    both = quotient(far, near.plus(20)).scaled(30)
    assert (found.measured, found.low, found.high) == pytest.approx((30.0, both.low, both.high))
    assert (found.verdict, found.expected, found.margin) == ("inconclusive", 30.0, pytest.approx((28.5, 31.5)))
    assert found.text == "30.0 (29.2 to 30.8) ms measured, 30.0 (28.5 to 31.5) ms predicted, 1.000 (0.945 to 1.060) times"
    alone = predicted("row_ms", FAR, expected=30.0, within=0.05).judge(run_of(near, far))
    assert (alone.verdict, alone.high) == ("supported", far.high)
    calm = from_moments(10.0, 0.2, 9)
    assert predicted("row_ms", FAR, expected=sum_of, within=0.05).judge(run_of(calm, far)).verdict == "supported"
    assert predicted("row_ms", FAR, expected=sum_of, within=0.05).judge(run_of(calm.plus(4), far)).verdict == "refuted"


def test_both_cells_are_what_an_open_claim_asks_for():
    found = predicted("row_ms", FAR, expected=sum_of).judge(run_of(from_moments(10.0, 9.0, 9), SURE))
    assert found.cells == (FAR, NEAR)
    assert predicted("row_ms", FAR, expected=30.0).judge(run_of(SURE, SURE)).cells == (FAR,)


def test_a_summary_is_an_expectation_too():
    found = predicted("row_ms", FAR, expected=from_moments(30.0, 1.0, 9), within=0.05).judge(run_of(SURE, SURE))
    assert found.verdict == "supported"
    assert found.low < 30.0 < found.high


def test_a_bare_number_of_measured_ones_has_lost_their_error():
    found = predicted("row_ms", FAR, expected=bare_sum, within=0.05).judge(run_of(from_moments(10.0, 0.2, 9), SURE))
    assert (found.verdict, found.stays_open) == ("inconclusive", WHY)
    assert found.text.endswith(
        'so their error is lost: return a Summary, such as run.at(...).summary("row_ms") + 20 (without .mean)'
    )
    wrong = predicted("row_ms", FAR, expected=lambda run: 2 * bare_sum(run)).judge(run_of(from_moments(10.0, 0.2, 9), SURE))
    assert wrong.verdict == "inconclusive"
    exact = Summary(10.0, 10.0, 10.0, 9)
    assert (
        predicted("row_ms", FAR, expected=bare_sum, within=0).judge(run_of(exact, SURE)).verdict == "supported"
    )  # an exact number has no error to lose


def test_a_number_of_theory_that_reads_nothing_is_exact():
    assert (
        predicted("row_ms", FAR, expected=lambda run: 10.0 + 20, within=0).judge(run_of(from_moments(1, 1, 9), SURE)).verdict
        == "supported"
    )


@pytest.mark.parametrize("given", [None, "30", True, 0, -3, float("nan"), float("inf")])
def test_a_function_that_gives_no_number_is_one_line(given):
    with pytest.raises(ExperimentError) as caught:
        predicted("row_ms", FAR, expected=lambda run: given, name="the sum").judge(run_of(SURE, SURE))
    assert "the sum, within 5 %: " in str(caught.value)
    assert "in experiment pipeline: give a number" in str(caught.value)


def test_a_failed_cell_of_the_expectation_leaves_it_open():
    failed = Cell(NEAR, NEAR, ({"cell": NEAR, "status": "failed", "error": "no broker"},), {})
    run = RunData(Path("x"), "pipeline", {}, (failed, run_of(SURE, SURE).cells[1]))
    found = predicted("row_ms", FAR, expected=sum_of).judge(run)
    assert (found.verdict, found.text) == ("inconclusive", "not decided, because 1 cell failed (room one: no broker)")


def test_a_law_may_be_compared_with_what_was_counted():
    def run(half):
        def cell(rtt):
            time, trips = 5.0 + 4 * rtt, Summary(4.0, 4 - half, 4 + half, 9)
            metrics = {"time_ms": Summary(time, time, time, 9), "round_trips": trips}
            return Cell({"rtt": f"{rtt}ms"}, {"rtt_ms": float(rtt)}, ({"status": "ok"},), metrics)

        return RunData(Path("x"), "x", {}, (cell(0), cell(10), cell(40)))

    claim = law("time_ms", round_trips=lambda run: run.at({"rtt": "0ms"}).summary("round_trips"), within=0.05)
    assert claim.judge(run(0.1)).verdict == "supported"
    found = claim.judge(run(0.3))
    assert (found.verdict, found.expected) == ("inconclusive", 4.0)
    assert found.text == "4.00 round trips per operation measured, 4.00 (3.70 to 4.30) expected, 1.000 (0.930 to 1.081) times"
    assert claim.judge(run(0.0)).text == "4.00 round trips per operation measured, 4 expected"
    bare = law("time_ms", round_trips=lambda run: run.at({"rtt": "0ms"}).summary("round_trips").mean)
    assert bare.judge(run(0.1)).stays_open == WHY


def test_theory_may_take_measured_numbers_of_the_cell():
    def by_loss(condition, cell):
        return 20 / cell.summary("loss") if condition["room"] == "far" else None

    claim = follows("row_ms", by_loss, at_least=0.9, at_most=1.1, because="of theory", name="as theory says")
    exact = claim.judge(run_of(SURE, Summary(10.0, 10.0, 10.0, 9), loss=Summary(2.0, 2.0, 2.0, 9)))
    assert (exact.verdict, exact.measured, exact.low) == ("supported", 1.0, 1.0)
    rough = claim.judge(run_of(SURE, Summary(10.0, 9.8, 10.2, 9), loss=Summary(2.0, 1.8, 2.2, 9)))
    assert rough.verdict == "inconclusive"
    # Both come from the same cell, so full correlation is assumed: 9.8 to 10.2 over 9.09 to 11.1.
    assert (rough.low, rough.high) == pytest.approx((9.8 * 1.8 / 20, 10.2 * 2.2 / 20))
    bare = follows(
        "row_ms", lambda condition, cell: cell.summary("row_ms").mean, at_least=0.9, at_most=1.1, because="", name="itself"
    )
    assert bare.judge(run_of(SURE, Summary(10.0, 9.8, 10.2, 9))).stays_open == WHY


# Expected and measured numbers from the same cell


def load(boots, **more):
    """Make a run whose machine speed differs from boot to boot and scales both metrics alike."""
    means = {"waited_s": 2.0, "backlog_s": 4.0}
    samples = [
        {
            "cell": {"load": "over"}, "condition": {"load": "over"}, "status": "ok", **more,
            "metrics": {name: {"mean": each * pace, "sd": 0.01, "n": 9} for name, each in means.items()},
        }
        for pace in boots
    ]  # fmt: skip
    return gather(samples, {"experiment": "overload", "clock": "virtual", "tdf": 4})


def half_the_backlog(run):
    return run.at({"load": "over"}).summary("backlog_s") / 2


WAITED = predicted("waited_s", {"load": "over"}, expected=half_the_backlog, within=0.1)


def test_a_ratio_within_a_cell_is_taken_repetition_by_repetition():
    rough = [0.8, 1.0, 1.3, 0.9]  # boots differ by 20 % and more, but each ratio is 1
    found = WAITED.judge(load(rough).at_confidence(0.99))
    assert (found.verdict, found.measured) == ("supported", 2.0)
    assert found.high - found.low < 0.01
    assert found.expected == pytest.approx(2.0)
    assert found.margin == pytest.approx((1.8, 2.2))
    two = WAITED.judge(load(rough[:2]).at_confidence(0.99))
    assert two.verdict == "inconclusive"  # too few boots to see the correlation: the widest interval is taken
    other = predicted("waited_s", {"load": "over"}, expected=lambda run: 1.2 * half_the_backlog(run), within=0.1)
    assert other.judge(load(rough).at_confidence(0.99)).verdict == "refuted"


def test_a_cell_that_is_decided_and_not_measured_again_takes_no_repetition_away():
    rough = load([0.8, 1.0, 1.3, 0.9])
    alone = {**rough.cells[0].samples[0], "cell": {"load": "alone"}, "condition": {"load": "alone"}}
    run = gather([alone, *rough.cells[0].samples], rough.facts).at_confidence(0.99)
    assert WAITED.judge(run).verdict == "supported"


def test_the_expectation_is_the_one_that_the_ratio_is_to():
    """A nonlinear expectation of the mean boot differs from the mean of the expectations per boot."""

    def squared(run):
        backlog = run.at({"load": "over"}).summary("backlog_s")
        return backlog * backlog / 8

    rough = [0.8, 1.0, 1.3, 0.9]
    found = predicted("waited_s", {"load": "over"}, expected=squared, within=0.1).judge(load(rough).at_confidence(0.99))
    mean = sum(1 / pace for pace in rough) / 4
    assert found.measured / found.expected == pytest.approx(mean)
    assert found.low < found.measured < found.high
    none = predicted(
        "waited_s", {"load": "over"}, expected=lambda run: half_the_backlog(run) - 1.7, within=0.1
    )  # below 0 in one boot
    assert none.judge(load(rough).at_confidence(0.99)).verdict == "inconclusive"


def test_a_run_comes_apart_into_its_boots():
    run = load([1.0, 2.0])
    assert [each.cells[0].summary("waited_s").mean for each in apart(run)] == [2.0, 4.0]
    blocks = gather(
        [{**sample, "boot": 1 + at // 2} for at, sample in enumerate(load([1, 3, 5, 7]).cells[0].samples)], run.facts
    )
    assert [each.cells[0].summary("waited_s").mean for each in apart(blocks)] == [4.0, 12.0]
    samples = [*load([1.0, 2.0]).cells[0].samples]
    failed = {**samples[1], "status": "failed", "error": "no", "metrics": {}}
    assert len(apart(gather([samples[0], failed], run.facts))) == 1
    lacking = gather([*samples, {**samples[0], "cell": {"load": "none"}}], run.facts)
    assert len(apart(lacking)) == 1  # a cell is missing in the second repetition
    assert apart(RunData(Path("x"), "x", {}, ())) == ()


@pytest.mark.parametrize("boots", [3, 5])
def test_a_true_claim_within_a_cell_is_refuted_in_at_most_one_percent(boots):
    """The true ratio lies on the margin; from boot to boot the speed differs by 12 % and the ratio by 1 %."""
    rng, runs, refuted = np.random.default_rng(1), 1000, 0
    for _ in range(runs):
        run = load([1.0] * boots)
        samples = []
        for sample in run.cells[0].samples:
            pace, own = rng.normal(1, 0.12), rng.normal(1.1, 0.01)
            means = {"waited_s": 2 * pace * own, "backlog_s": 4 * pace}
            samples.append({**sample, "metrics": {name: {"mean": mean, "sd": 0.01, "n": 9} for name, mean in means.items()}})
        refuted += WAITED.judge(gather(samples, run.facts).at_confidence(0.99)).verdict == "refuted"
    assert refuted / runs <= 0.01


# Counts


@pytest.mark.parametrize(
    ("measured", "verdict", "said"),
    [
        (Summary(1200.0, 1200.0, 1200.0, 3), "supported", "1200 measured"),
        (Summary(1199.0, 1199.0, 1199.0, 3), "refuted", "1199 measured"),
        (
            Summary(1199.7, 1198.2, 1201.1, 3),
            "inconclusive",
            "a margin of 0, and these vary, 1199.7000 (1198.2000 to 1201.1000): widen it",
        ),
        (Summary(1190.0, 1188.0, 1192.0, 3), "refuted", "1190 (1188 to 1192) measured"),
        (from_moments(1199.0, None, 1), "inconclusive", "its interval is not known: that takes"),
        (from_moments(1200.0, None, 1), "inconclusive", "its interval is not known: that takes"),
    ],
)
def test_a_count_beside_a_number_is_judged(measured, verdict, said):
    run = run_of(SURE, SURE, stalls=measured)
    for claim in (bound("stalls", FAR, at_least=1200, at_most=1200), predicted("stalls", FAR, expected=1200, within=0)):
        found = claim.judge(run)
        assert (found.verdict, said in found.text) == (verdict, True)
        assert bool(found.stays_open) == (verdict == "inconclusive" and measured.known)  # repetition finds an unknown interval
    over = ratio("stalls", FAR, expected=1.0, within=0, of=NEAR)
    assert judge_all([over], run)[0].verdict in ("supported", "inconclusive", "refuted")


# The project's own experiments


@dataclass(frozen=True)
class Any_(Mapping):  # noqa: N801
    """A mapping that has every metric, each with an interval."""

    def __getitem__(self, name):
        return Summary(10.0, 9.0, 11.0, 9)

    def __contains__(self, name):
        return True

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0


EXPERIMENTS = discover()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_whatever_a_shipped_experiment_expects_of_measured_numbers_has_their_error(name):
    found = EXPERIMENTS[name]
    sample = {"status": "ok", "facts": {"document_length": 51_686, "header_length": 300}}
    cells = tuple(Cell(cell, condition(cell), ({"cell": cell, **sample},), Any_()) for cell in found.cells())
    run = RunData(Path("x"), name, {"clock": "virtual", "tdf": 4}, cells)
    for claim in _flat(found.judged_by):
        for value in (getattr(claim, "expected", None), getattr(claim, "round_trips", None)):
            if callable(value):
                given, read = expected_values.asked(value, run)
                assert isinstance(given, Summary) or not read, getattr(claim, "name", claim)
        for cell in run.cells if isinstance(claim, follows) else ():
            given, read = expected_values.asked(lambda only: claim._theoretical(only.cells[0]), replace(run, cells=(cell,)))  # noqa: B023
            assert isinstance(given, Summary) or not read, claim.name


def test_this_would_see_one():
    assert any(callable(getattr(claim, "expected", None)) for each in EXPERIMENTS.values() for claim in each.judged_by)
    given, read = expected_values.asked(bare_sum, run_of(SURE, SURE))
    assert (given, list(read)) == (50.0, ["room one"])
