"""Tests of a cell's interval depending on what the clock charges, with exact numbers."""

import math
from statistics import NormalDist

import pytest

from slownet.judge.records import intervals
from slownet.judge.records.cell import of_samples
from slownet.judge.records.charging import Charging, Terms
from slownet.judge.records.intervals import Scope
from slownet.theory.stats import DECIDING, Summary, from_moments, t_quantile

TIME = "time_per_request_ms"
Z = 1.9599639845
ONE_ROW = {"mean": 50.0, "sd": None, "n": 1}


def sample(mean, sd=2.0, n=100, metric=TIME, boot=None, charged=None, took=None, random=None, **more):
    told = {"status": "ok", "cell": {}, "metrics": {metric: {"mean": mean, "sd": sd, "n": n} | more}, "random": random}
    return told | {"boot": boot, "charged_s": charged, "virtual_s": took}


def of(charging, *samples, metric=TIME, confidence=0.95, chance=False):
    return intervals.summary(samples, metric, Terms(charging, chance), confidence)


def test_means_of_boots_where_all_of_the_cpu_counts():
    boots = [sample(mean, boot=boot) for boot, means in enumerate(((50, 52), (53, 53), (55, 55)), 1) for mean in means]
    for charging in (Charging.REAL, Charging.TIME):
        found = of(charging, *boots)
        assert (found.mean, found.n, found.df_or_default) == (53, 600, 2)
        assert found.log_half == pytest.approx(t_quantile(2) * 2 / math.sqrt(3) / 53)


def test_a_time_has_no_bound_below_0_where_the_cpu_is_charged():
    """Its error is the factor by which the machine is slower or faster in a boot."""
    boots = [sample(mean, boot=boot) for boot, mean in enumerate((2.0, 8.0, 16.0), 1)]
    relative = t_quantile(2) * math.sqrt(148 / 3 / 3) / (26 / 3)
    assert relative > 1  # mean - half width would be below 0
    found = of(Charging.TIME, *boots)
    assert (found.low, found.high) == (pytest.approx(26 / 3 / math.exp(relative)), pytest.approx(26 / 3 * math.exp(relative)))
    wider = found.at_confidence(0.999)
    assert 0 < wider.low < found.low
    assert wider.at_confidence(found.confidence).low == pytest.approx(found.low)


def test_older_records_that_tell_no_boots_have_one_a_sample():
    old = [sample(mean) for mean in (51.0, 53.0, 55.0)]
    assert of(Charging.TIME, *old).log_half == pytest.approx(t_quantile(2) * 2 / math.sqrt(3) / 53)
    assert of_samples(old, Terms(Charging.TIME)).repetitions == 3
    blocks = [sample(mean, boot=1) for mean in (51.0, 53.0, 55.0)]
    assert of_samples(blocks, Terms(Charging.TIME)).repetitions == 1


@pytest.mark.parametrize("charging", [Charging.REAL, Charging.TIME, Charging.WORK])
def test_one_boot_has_the_measured_variation_in_it(charging):
    found = of(charging, sample(50.0))
    assert found.half_width == pytest.approx(Z * math.hypot(0.2, charging.cpu_variation * 50), rel=0.02)
    two = of(charging, sample(50.0, boot=1), sample(50.0, boot=2))
    assert two.half_width == pytest.approx(Z * math.hypot(0.2, charging.cpu_variation * 50) / math.sqrt(2), rel=0.02)


def test_only_the_cpus_part_of_a_time_varies():
    part = of(Charging.TIME, sample(50.0, charged=0.5, took=5.0))  # a hundred requests of 50 ms, half a second of CPU
    assert part.half_width == pytest.approx(Z * math.hypot(0.2, 0.1 * 0.12 * 50), rel=0.02)
    beside = of(Charging.TIME, sample(50.0, charged=2.5, took=25.0))  # 20 s of these might be a service's start
    assert beside.half_width == pytest.approx(Z * math.hypot(0.2, 0.5 * 0.12 * 50), rel=0.02)
    rate = sample(20.0, 0.2, metric="requests_per_second", charged=0.5, took=5.0)
    assert of(Charging.TIME, rate, metric="requests_per_second").half_width == pytest.approx(
        Z * math.hypot(0.02, 0.24), rel=0.02
    )


def test_on_the_exact_clock_only_seeds_make_an_error_and_another_run_none():
    cpu_variation = Charging.EXACT.cpu_variation
    one = of(Charging.EXACT, sample(50.0, 20.0, random=False))
    assert one.half_width == pytest.approx(Z * cpu_variation * 50, rel=1e-4)
    assert of(Charging.EXACT, sample(50.0, 20.0, random=False, charged=0.5, took=5.0)).half_width == pytest.approx(
        Z * cpu_variation * 5, rel=1e-4
    )
    assert intervals.across_runs([sample(50.0, 20.0, random=False)], TIME, Terms(Charging.EXACT), one) == one
    assert of(Charging.EXACT, sample(50.0, 20.0, random=True)).half_width > 3  # a link's own chance is within the boot
    apart = of(Charging.EXACT, *(sample(mean, random=False, boot=at) for at, mean in enumerate((45.0, 50.0, 55.0))))
    assert apart.half_width == pytest.approx(t_quantile(2) * 5 / math.sqrt(3))
    other = of(Charging.EXACT, sample(0.1, 0.3, metric="loss", random=False), metric="loss")
    assert other.half_width > 0.05  # what is not a time is not known to vary with seeds by so little


@pytest.mark.parametrize("charging", [Charging.FREE, Charging.REAL, Charging.TIME])
def test_boots_that_give_the_same_single_number_have_an_interval_from_the_third_on(charging):
    """A program's own number, beside another one of the same cell that does vary."""
    boots = [
        sample(50.0, None, 1, boot=boot, random=False, metric="rows")
        | {"metrics": {"rows": ONE_ROW, TIME: ONE_ROW | {"mean": 9.0 + boot}}}
        for boot in (1, 2, 3)
    ]
    assert of(charging, *boots, metric="rows").half_width == 0


def test_a_percentile_on_the_exact_clock_is_that_of_its_values():
    values = [float(each) for each in range(1, 101)]
    told = sample(50.5, 29.0, values=values, random=False)
    found = intervals.percentile_of([told], TIME, 90, Terms(Charging.EXACT), 0.95)
    assert found.mean == pytest.approx(90, abs=1)
    assert found.half_width == pytest.approx(Z * Charging.EXACT.cpu_variation * found.mean, rel=1e-4)


def test_what_is_no_time_does_not_vary():
    for metric in ("loss", "queries_per_transaction"):
        assert of(Charging.TIME, sample(0.1, 0.3, metric=metric), metric=metric) == from_moments(0.1, 0.3, 100)
    constant = of(Charging.TIME, sample(100.0, 0.0, metric="target_per_s"), metric="target_per_s")
    assert constant.half_width == 0


@pytest.mark.parametrize("sd", [2.0, None], ids=["means", "single numbers"])
@pytest.mark.parametrize("means", [(206.06, 206.06, 206.06), (206.06, 206.06, 206.0601)])
def test_rounded_numbers_are_not_known_better_than_their_step(means, sd):
    """All boots may be rounded the same way."""

    def found(step):
        boots = [sample(mean, sd, metric="busy_threads", boot=at, step=step) for at, mean in enumerate(means)]
        return of(Charging.TIME, *boots, metric="busy_threads", confidence=0.99)

    by_spread = means[0] == means[2] and sd is None  # equal single numbers
    expected = t_quantile(2, 0.99) * 0.2 / math.sqrt(12) / math.sqrt(3) if by_spread else 0.1
    assert found(0.2).half_width == pytest.approx(expected, rel=1e-5)
    assert found(0.00001).half_width <= t_quantile(2, 0.99) * 0.0001


def test_boots_of_counted_work_are_pooled_with_what_was_measured_before():
    boots = [sample(mean, 0.0001) for mean in (99.9, 100.0, 100.1)]
    found = of(Charging.WORK, *boots)
    variance = (2 * 0.01 + 9 * 0.09) / 11
    assert found.df_or_default == 11
    assert found.half_width == pytest.approx(t_quantile(11) * math.sqrt(variance / 3), rel=1e-4)
    apart = of(Charging.WORK, *(sample(mean, 0.0001) for mean in (95.0, 100.0, 105.0)))  # far more spread than the variation
    assert (apart.df_or_default, apart.half_width) == (2, pytest.approx(t_quantile(2) * 5 / math.sqrt(3)))
    spread = [sample(mean, 0.0001) for mean in (99.5, 100.0, 100.5)]
    assert of(Charging.WORK, *spread).df_or_default == 11
    assert of(Charging.WORK, *(each | {"random": True} for each in spread)).df_or_default == 2


@pytest.mark.parametrize("charging", [Charging.WORK])
@pytest.mark.parametrize("boots", [1, 2, 3, 10, 30])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99, 0.9999])
def test_counted_work_is_never_known_better_than_the_variation_says(charging, boots, confidence):
    found = of(charging, *(sample(100.0, 1e-6) for _ in range(boots)), confidence=confidence)
    z = from_moments(0, math.sqrt(10**7), 10**7, confidence).half_width
    assert found.half_width >= z * charging.cpu_variation * 100 / math.sqrt(boots) * (1 - 1e-6)


def test_more_boots_of_counted_work_are_never_worse():
    widths = [
        of(Charging.WORK, *(sample(100 + 0.3 * (-1) ** at, 0.5) for at in range(boots))).half_width for boots in range(1, 9)
    ]
    assert widths == sorted(widths, reverse=True)


def test_free_cpu_and_nothing_random_is_exact():
    found = of(Charging.FREE, sample(50.0, random=False))
    assert (found.low, found.mean, found.high) == (50, 50, 50)
    for one in (sample(50.0, random=None), sample(50.0, random=True)):
        assert of(Charging.FREE, one).half_width == pytest.approx(t_quantile(99) * 0.2)
    assert of(Charging.FREE, sample(50.0, random=False), chance=True).half_width > 0
    printed = sample(60.0, None, random=False)
    assert of(Charging.FREE, printed).half_width == 0
    # Boots that differ are not exact, even if the records say that nothing is random.
    assert of(Charging.FREE, sample(50.0, random=False), sample(50.1, random=False)).half_width > 0


def test_chance_that_does_not_reach_a_number_leaves_it_exact():
    """With a random service and three boots with equal means, the interval of the mean has no width."""

    def found(*means, random=False):
        return of(Charging.FREE, *(sample(mean, boot=at, random=random) for at, mean in enumerate(means)), chance=True)

    assert found(41.2, 41.2, 41.2).half_width == 0
    assert found(41.2, 41.2).half_width > 0
    assert found(41.2, 41.2, 41.5).half_width == pytest.approx(t_quantile(2) * 0.1)
    assert found(41.2, 41.2, 41.2, random=True).half_width > 0


def test_a_spread_that_was_measured_before_replaces_what_varies_within_boots():
    """As for a rate that swings within a transfer and is the same in the next one."""
    terms = Terms(Charging.FREE, True, [{"metric": "mbit", "relative": 0.002, "at": {"link": "narrow"}}])

    def found(*means, random=False, metric="mbit", link="narrow"):
        swings = [50.0 + 20 * (-1) ** (at // 8) for at in range(64)]
        samples = [
            sample(mean, 20.0, 64, metric, boot=at, random=random, values=swings, ordered=True) | {"cell": {"link": link}}
            for at, mean in enumerate(means)
        ]
        return intervals.summary(samples, metric, terms, 0.95)

    z = NormalDist().inv_cdf(0.975)
    assert found(50.0).half_width == pytest.approx(z * 0.1, rel=1e-4)
    assert found(50.0, 50.2).half_width == pytest.approx(z * 0.002 * 50.1 / math.sqrt(2), rel=1e-4)
    assert found(50.0, 50.0, 50.0).half_width == pytest.approx(z * 0.1 / math.sqrt(3), rel=0.02)  # not narrower than known
    assert found(40.0, 50.0, 60.0).half_width == pytest.approx(t_quantile(2) * 10 / math.sqrt(3))  # they disagree with it
    single = intervals.summary(
        [sample(60.0, None, 1, "mbit", random=False) | {"cell": {"link": "narrow"}}], "mbit", terms, 0.95
    )
    assert single.half_width == pytest.approx(z * 0.12, rel=1e-4)
    for more in ({"random": True}, {"random": None}, {"metric": "other"}, {"link": "wide"}):
        assert found(50.0, **more).half_width > 1


def test_seeds_are_independent_of_each_other():
    seeds = [sample(mean, random=True) for mean in (50.0, 52.0, 54.0)]
    assert of(Charging.FREE, *seeds).half_width == pytest.approx(t_quantile(2) * 2 / math.sqrt(3))
    assert of_samples(seeds, Terms(Charging.FREE)).verdict_from == 3
    # If the values are in time order their batches count: 20 values per seed make 10 batches of two.
    values = [[50.0 + seed + (-1) ** (at // 2) for at in range(20)] for seed in (-0.1, 0.0, 0.1)]
    ordered = [sample(50 + seed, 1.0, 20, random=True, values=each, ordered=True)
               for seed, each in zip((-0.1, 0.0, 0.1), values, strict=True)]  # fmt: skip
    found = of(Charging.FREE, *ordered)
    assert (found.mean, found.n, found.df_or_default) == (pytest.approx(50), 60, 29)


def test_a_seed_three_times_is_no_news():
    """As in older runs: repetitions with the same random numbers must not narrow the interval."""
    once = of(Charging.FREE, sample(0.9, 0.5, 60, metric="mbit"), metric="mbit")
    thrice = of(Charging.FREE, *[sample(0.9, 0.5, 60, metric="mbit")] * 3, metric="mbit")
    assert (thrice.low, thrice.high) == (once.low, once.high)


def test_values_in_times_order_go_through_batches():
    values = [50.0 + 3 * math.sin(at / 8) for at in range(200)]  # strongly correlated
    sd = math.sqrt(sum((each - 50) ** 2 for each in values) / 199)
    mean = sum(values) / 200
    kept = of(None, sample(mean, sd, 200, values=values))
    ordered = of(None, sample(mean, sd, 200, values=values, ordered=True))
    assert ordered.half_width > 2 * kept.half_width
    assert kept.half_width == pytest.approx(t_quantile(199) * sd / math.sqrt(200))


def test_groups_in_times_order_are_batches():
    """As in ab's output: the second in which a request began is known, the order within it is not."""
    rows = [[50.0 + 3 * math.sin(second / 8) + jitter for jitter in (-0.1, 0.1)] for second in range(100)]
    values = [each for row in rows for each in row]
    kept = sample(50.0, 2.1, 200, values=values)
    grouped = sample(50.0, 2.1, 200, values=values, groups=[2] * 100)
    assert of(None, grouped).half_width > 2 * of(None, kept).half_width
    few = sample(50.0, 2.1, 200, values=values, groups=[50] * 4)  # seconds with 50 requests each: too few groups
    assert of(None, few) == of(None, kept)


def test_five_blocks_speak_for_themselves():
    blocks = [sample(mean, 0.0, boot=1) for mean in (48.0, 49.0, 50.0, 51.0, 52.0)]
    assert of(Charging.WORK, *blocks).half_width > t_quantile(4) * math.sqrt(2.5) / math.sqrt(5) * 0.9


def test_a_count_has_the_interval_of_a_count():
    once = of(Charging.TIME, sample(1200.0, 0.0, 1, metric="retransmits", count=True), metric="retransmits")
    assert (once.low, once.high) == (pytest.approx(1133.06, abs=0.01), pytest.approx(1269.87, abs=0.01))  # Garwood, 1936
    three = [sample(each, 0.0, 1, metric="retransmits", count=True) for each in (1200.0, 1199.0, 1201.0)]
    found = of(Charging.TIME, *three, metric="retransmits")
    assert found.low == pytest.approx(1161.12, abs=0.01)  # a count of 3,600 varies this much, however close the boots are
    assert found.low < 1199 < found.high
    exact = of(Charging.FREE, sample(1200.0, 0.0, 1, metric="retransmits", count=True, random=False), metric="retransmits")
    assert exact.half_width == 0


def test_another_run_is_another_hour():
    samples = [sample(mean, boot=boot) for boot, mean in enumerate((49.9, 50.0, 50.1) * 4, 1)]
    own = of(Charging.TIME, *samples)
    across = intervals.across_runs(samples, TIME, Terms(Charging.TIME), own)
    assert across.log_half == pytest.approx(math.hypot(own.log_half, Z * 0.12))
    field = intervals.across_runs(samples, TIME, Terms(), own)
    assert field == own


def test_a_cell_shows_what_another_run_may_give_and_is_compared_within_its_run():
    """In 20 runs of four experiments that charge CPU time, 73 to 81 % of the 95 % intervals within runs held the mean."""
    samples = [sample(mean, boot=boot) for boot, mean in enumerate((49.9, 50.0, 50.1) * 4, 1)]
    shown = of_samples(samples, Terms(Charging.TIME), 0.95)
    judged = shown.with_intervals(0.95, Scope.WITHIN_RUN)
    own = of(Charging.TIME, *samples)
    assert (
        shown.summary(TIME, Scope.WITHIN_RUN).half_width == judged.summary(TIME, Scope.WITHIN_RUN).half_width == own.half_width
    )
    assert judged.summary(TIME).half_width == own.half_width
    across = math.hypot(own.log_half, Z * 0.12)
    assert shown.summary(TIME).log_half == shown.summary(TIME, Scope.BETWEEN_RUNS).log_half == pytest.approx(across)
    assert judged.summary(TIME, Scope.BETWEEN_RUNS).log_half == pytest.approx(across)
    alone = Summary(50.0, 50.0, 50.0, 1, None, DECIDING)
    always = intervals.across_runs(samples, TIME, Terms(Charging.TIME), alone)
    assert always.half_width == pytest.approx(2.5758 * 6, rel=1e-4)


def test_a_percentile_holds_how_boots_differ():
    values = [float(each) for each in range(1, 401)]
    run = [sample(200.5, 115.6, 400, values=values, boot=1)]
    alone = intervals.percentile_of(run, TIME, 50, Terms(), 0.95)
    boot = intervals.percentile_of(run, TIME, 50, Terms(Charging.TIME), 0.95)
    assert boot.high - boot.mean == pytest.approx(math.hypot(alone.high - alone.mean, Z * 0.12 * 200.5))
    three = [sample(mean, 115.6, 400, values=values, boot=number) for number, mean in enumerate((190.5, 200.5, 210.5))]
    found = intervals.percentile_of(three, TIME, 50, Terms(Charging.TIME), 0.95)
    assert found.half_width > t_quantile(2) * 10 / math.sqrt(3)
    exact = intervals.percentile_of([run[0] | {"random": False}], TIME, 50, Terms(Charging.FREE), 0.95)
    assert exact.low == exact.mean == exact.high == 200.5
