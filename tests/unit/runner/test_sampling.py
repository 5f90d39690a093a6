import json
import math

import pytest

from slownet.judge.claim import all_of, bound, law, ratio
from slownet.judge.records.charging import Terms
from slownet.judge.records.result import gather
from slownet.model.errors import ExperimentError, UnitError
from slownet.runner.rule import BUDGET, MOST, Rule, read_rule
from slownet.runner.sampling import decide, first_boots, predicted_repetitions
from slownet.theory.stats import t_quantile

TIME = "time_per_request_ms"
VIRTUAL, REAL = {"clock": "virtual", "tdf": "inf"}, {"clock": "real"}
CPU_TIME, WORK = ({"clock": "virtual", "tdf": 4} | cpu for cpu in ({}, {"cpu": "work"}))
FOUR = law(TIME, round_trips=4)
CELLS = ({"rtt": "0ms"}, {"rtt": "10ms"}, {"rtt": "40ms"})


def sample(rtt, mean, sd, **more):
    metrics = {TIME: {"mean": mean, "sd": sd, "n": 100} | more}
    return {"cell": {"rtt": f"{rtt}ms"}, "condition": {"rtt_ms": float(rtt)}, "status": "ok", "metrics": metrics}


def run_of(facts, *rounds, sd=0.1, **told):
    """Return a run with k = 4 whose rounds have the given amounts added to their times."""
    samples = [sample(rtt, 10 + 4 * rtt + more * (1 + rtt / 10), sd) | told for more in rounds for rtt in (0, 10, 40)]
    return gather(samples, {"experiment": "e", **facts})


AUTO = Rule()


def look(run, *claims, rule=AUTO, spent=10.0, took=10.0):
    return decide(run, claims, {"e": run}, rule, spent, took)


def test_where_nothing_is_random_one_repetition_is_all_there_is():
    found = look(run_of(VIRTUAL, 0, random=False), FOUR)
    assert (found.cells, found.boots, found.confidence) == ((), 0, 0.99)
    assert found.why == (
        "1 repetition: all decidable claims are decided; "
        "with free CPU and nothing random another repetition gives the same numbers"
    )
    bent = gather(
        [sample(rtt, mean, 0.1) | {"random": False} for rtt, mean in ((0, 10), (10, 52), (40, 165))],
        {"experiment": "e", **VIRTUAL},
    )
    found = look(bent, FOUR)
    assert (found.cells, found.last_line) == ((), "")
    assert found.why.startswith("1 repetition, 1 of 1 claim open: ")


def test_chance_takes_three_seeds():
    first = look(run_of(VIRTUAL, 0, random=True), FOUR)
    assert (first.cells, first.boots, first.why) == (CELLS, 2, "1 repetition: 3 seeds are needed to estimate their spread")
    third = look(run_of(VIRTUAL, 0, 0.001, -0.001, random=True), FOUR)
    assert (third.cells, third.why) == (
        (), "3 repetitions: all decidable claims are decided; the intervals include the spread of seeds",
    )  # fmt: skip
    assert third.confidence == pytest.approx(0.999)
    assert look(run_of(WORK, 0, random=True), FOUR).boots == 2


def partly_random(facts, rounds):
    """Return a run in which only the links of 10 and 40 ms are random."""
    return gather(
        [
            sample(rtt, 10 + 4 * rtt + number / 1000 * (rtt > 0), 0.1) | {"random": rtt > 0}
            for number in range(rounds)
            for rtt in (0, 10, 40)
        ],
        {"experiment": "e", **facts},
    )


@pytest.mark.parametrize("facts", [VIRTUAL, VIRTUAL | {"chance": "threads"}])
def test_with_free_cpu_only_random_links_are_measured_for_the_first_look(facts):
    found = look(partly_random(facts, 1), FOUR)

    assert (found.cells, found.boots) == (CELLS[1:], 2)


UNKNOWN = VIRTUAL | {"own_programs": True}


def test_of_unknown_programs_four_boots_show_whether_they_are_random():
    """A program that waits 0 to 20 ms at random gave "nothing random", and one of three runs refuted that it equals itself.

    One that draws its page's round trips from twelve numbers gave the same one in two boots in 1 of 12 runs.
    """
    first = look(run_of(UNKNOWN, 0, random=False), FOUR)
    assert (first.cells, first.boots) == (CELLS, 3)
    assert first.why == "1 repetition: 4 are needed to see whether they differ"
    for few in (run_of(UNKNOWN, 0, 0, random=False), run_of(UNKNOWN, 0, 0, 0, random=False)):
        assert (look(few, FOUR).cells, FOUR.judge(few.for_verdicts(0.99)).verdict) == (CELLS, "inconclusive")
    same = look(run_of(UNKNOWN, 0, 0, 0, 0, random=False), FOUR)
    assert (same.cells, same.confidence) == ((), 0.99)
    assert same.why == "4 repetitions: all decidable claims are decided; with free CPU all gave the same numbers"
    assert run_of(UNKNOWN, 0, 0, 0, 0, random=False).cells[0].summary(TIME).half_width == 0
    third = look(run_of(UNKNOWN, 0, 0.001, -0.001, random=False), FOUR)
    assert (third.cells, third.confidence) == ((), pytest.approx(0.999))
    enough = "3 repetitions: all decidable claims are decided"
    assert third.why == f"{enough}; with free CPU only programs' own random numbers and the order of cells differ"
    assert FOUR.judge(run_of(UNKNOWN, 0, 0.001, random=False).for_verdicts(0.99)).verdict == "inconclusive"


def test_unknown_programs_whose_round_trips_are_drawn_are_not_judged_by_luck():
    """k of 6 is claimed; each boot draws 2 to 13 round trips, and every page of that boot costs as many."""
    drawn = [6, 6, 9]
    samples = [
        sample(rtt, 10 + k * rtt, 0.1) | {"random": False, "boot": boot}
        for boot, k in enumerate(drawn, 1)
        for rtt in (0, 10, 40)
    ]
    run = gather(samples, {"experiment": "e", **UNKNOWN})
    six = law(TIME, round_trips=6)
    assert look(run, six).cells
    assert six.judge(run.for_verdicts(0.99)).verdict == "inconclusive"


def test_unknown_programs_have_no_variation_that_was_measured_and_may_be_known_to_be_random():
    work = look(run_of(WORK | {"own_programs": True}, 0, random=False), FOUR)
    assert (work.cells, work.boots, work.why) == (CELLS, 2, "1 repetition: 3 are needed to estimate their spread")
    chance = look(run_of(UNKNOWN | {"chance": "threads"}, 0, random=False), FOUR)
    assert (chance.cells, chance.boots, chance.why) == (CELLS, 2, "1 repetition: 3 are needed to estimate their spread")
    seeds = look(run_of(UNKNOWN, 0, random=True), FOUR)
    assert seeds.why == "1 repetition: 3 seeds are needed to estimate their spread"
    once = look(run_of(UNKNOWN, 0, random=False), FOUR, rule=Rule(1))
    assert once.last_line == (
        "1 repetition: too few for a verdict: of programs that slownet does not know a verdict needs 4 boots, "
        "to see whether they differ: --repeat 4 or more"
    )
    for facts, first in ((UNKNOWN, 4), (WORK | {"own_programs": True}, 3), (VIRTUAL, 1), (WORK, 1), (CPU_TIME, 3)):
        assert first_boots(AUTO, Terms.of(facts), claims=True) == first


@pytest.mark.parametrize("facts", [CPU_TIME, WORK, REAL])
def test_where_cpu_counts_compared_cells_share_the_boots_of_the_first_look(facts):
    found = look(partly_random(facts, 1), FOUR)

    assert (found.cells, found.boots) == (CELLS, 2)


def test_a_claim_can_be_decided_on_cells_of_one_boot_and_of_three():
    first, *others = partly_random(VIRTUAL, 3).cells
    samples = [first.samples[0], *(each for cell in others for each in cell.samples)]
    found = look(gather(samples, {"experiment": "e", **VIRTUAL}), FOUR)

    assert found.cells == ()
    assert found.why.startswith("3 repetitions: all decidable claims are decided")


def test_counted_work_is_decided_by_the_boots_that_its_measured_variation_asks_for():
    found = look(run_of(WORK, 0), FOUR)
    assert (found.cells, found.boots) == ((), 0)
    assert found.why == (
        "1 repetition: all decidable claims are decided; "
        "the intervals include the spread between boots as measured earlier (0.3 %)"
    )
    assert found.confidence == pytest.approx(0.995)


P99 = {"mean": 60.0, "sd": None, "n": 1000, "percent": 99, "of": TIME}
WITHIN = bound("p99_ms", at_most=61)


def tail(facts, *p99s, random=None, **values):
    samples = [sample(0, 50.0 + number, 5.0, **values) | {"random": random} for number in range(len(p99s))]
    for each, p99 in zip(samples, p99s, strict=True):
        each["metrics"]["p99_ms"] = P99 | {"mean": p99}
    return gather(samples, {"experiment": "e", **facts})


def test_a_printed_percentile_is_exact_where_nothing_is_random():
    run = tail(VIRTUAL, 60.0, random=False)
    assert WITHIN.judge(run).verdict == "supported"
    assert look(run, WITHIN).cells == ()
    assert WITHIN.judge(tail(VIRTUAL, 60.0, random=True)).verdict == "inconclusive"


@pytest.mark.parametrize("facts", [CPU_TIME, REAL])
def test_a_printed_percentile_is_not_exact_where_the_cpu_counts(facts):
    alone = tail(facts, 60.0)
    assert WITHIN.judge(alone).verdict == "inconclusive"
    assert "its interval is not known: that takes" in WITHIN.judge(alone).text
    assert look(alone, WITHIN).cells == ({"rtt": "0ms"},)
    again = tail(facts, 60.0, 60.0, 60.0)  # for example from a histogram with coarse steps
    assert WITHIN.judge(again).verdict == "inconclusive"
    near = tail(facts, 60.0, 60.01, 59.99)
    assert bound("p99_ms", at_most=95).judge(near).verdict == "supported"
    found = WITHIN.judge(near)  # in another run the CPU is not as fast: 2.58 * 12 % of 60 is more than 1
    assert found.verdict == "inconclusive"
    assert found.text.endswith("(CPU time differs by about 12 % between runs, and more repetitions do not help)")
    assert found.reason == "cpu varies"
    assert look(near, WITHIN).cells == ()
    assert "more repetitions do not help: CPU time differs by about 12 % between runs" in look(near, WITHIN).why


def test_a_printed_percentile_has_the_interval_of_what_was_recorded():
    values = [50 + each / 99 for each in range(1000)]  # the 99th percentile is 60
    steps = [[value, count] for count, value in enumerate(values, 1)]
    for kept in ({"values": values, "n": 1000}, {"steps": steps, "n": 1000}):
        run = tail(VIRTUAL | {"chance": "threads"}, 60.0, **kept)
        found = WITHIN.judge(run)
        assert found.verdict == "supported"
        assert found.low < 60 < found.high
        assert WITHIN.judge(run.at_confidence(0.99)).high > found.high
        assert WITHIN.judge(run.at_confidence(1 - 1e-5)).verdict == "inconclusive"  # a thousand values are too few
        assert bound("p99_ms", at_least=60.02).judge(run).verdict == "inconclusive"
        work = WITHIN.judge(tail(WORK, 60.0, **kept))  # with the variation of boots and runs: 1.96 * 0.3 % of 60
        assert work.high - 60 == pytest.approx(((found.high - 60) ** 2 + 2 * (1.959964 * 0.18) ** 2) ** 0.5)


def test_a_single_number_takes_another_measurement():
    def least(*values, **facts):
        samples = [sample(0, 50.0 + at, 5.0) | {"random": False} for at in range(len(values))]
        for each, value in zip(samples, values, strict=True):
            each["metrics"]["least_ms"] = {"mean": value, "sd": None, "n": 100, "step": 0.01}
        return gather(samples, {"experiment": "e"} | CPU_TIME | facts)

    below = bound("least_ms", at_most=61)
    found = below.judge(least(60.0))
    assert found.verdict == "inconclusive"
    assert found.text.endswith("(its interval is not known: that takes 3 repetitions or more)")
    assert look(least(60.0), below).cells == ({"rtt": "0ms"},)
    assert below.judge(least(60.0, tdf="inf")).verdict == "supported"
    random = {"tdf": "inf", "chance": "threads"}
    same, other = (below.judge(least(60.0, *more, **random)) for more in ((60.0, 60.0), (60.01, 60.0)))
    assert same.high - 60 == pytest.approx(4.302653 * 0.01 / 6)  # 0.01 / sqrt(12) / sqrt(3)
    assert same.high < other.high < 60.03
    assert look(least(60.0, 60.0), below).boots == 1
    assert look(least(60.0, 60.0, 60.0), below).cells == ()


@pytest.mark.parametrize("facts", [REAL, CPU_TIME])
def test_where_all_of_the_cpu_counts_it_takes_three_boots(facts):
    first, second = look(run_of(facts, 0), FOUR), look(run_of(facts, 0, 0.01), FOUR)
    assert (first.cells, first.boots) == (CELLS, 2)
    assert (second.cells, second.boots) == (CELLS, 1)
    assert first.why.startswith("1 repetition: the ")
    assert first.why.endswith(" needs 3 to estimate their spread")
    third = look(run_of(facts, 0, 0.001, -0.001), FOUR)
    assert (third.cells, third.boots, third.why) == (
        (), 0, "3 repetitions: all decidable claims are decided; the intervals include the spread between boots",
    )  # fmt: skip


def test_of_two_boots_no_claim_is_decided():
    run = run_of(CPU_TIME, 0, 0, sd=0.0)
    assert run.cells[0].summary(TIME).known
    assert not run.for_verdicts(0.99).cells[0].summary(TIME).known
    assert not run.for_verdicts(0.99).at_confidence(0.9).cells[0].summary(TIME).known
    assert run_of(CPU_TIME, 0, 0, 0).for_verdicts(0.99).cells[0].summary(TIME).known


def test_an_open_claim_asks_for_its_own_cells_only():
    run = run_of(VIRTUAL, 0, sd=1.6)
    twice = ratio(TIME, {"rtt": "10ms"}, expected=5.2)
    assert look(run, twice).cells == ({"rtt": "0ms"}, {"rtt": "10ms"})
    assert look(run, twice).why == "1 repetition, 1 of 1 claim open"
    assert look(run, twice, FOUR, bound(TIME, at_most=180)).why == "1 repetition, 1 of 3 claims open"
    assert look(run, FOUR).cells == ()


def test_boots_count_towards_the_next_look_whichever_cells_they_measure():
    """A look comes after so many boots of the run, not of a cell: else all cells are measured until one has caught up."""
    fast, slow = bound(TIME, at={"rtt": "0ms"}, at_most=12), bound(TIME, at={"rtt": "40ms"}, at_most=172)
    spread = (0, 1.2, -1.2)
    first = [
        sample(rtt, 10 + 4 * rtt + more * (rtt > 0), 0.1) | {"random": True, "boot": boot}
        for boot, more in enumerate(spread, 1)
        for rtt in (0, 10, 40)
    ]
    alone = [sample(40, 170, 0.1) | {"random": True, "boot": 4}]
    other = [sample(0, 10, 0.1) | {"random": True, "boot": boot} for boot in (5, 6)]

    def decided(samples):
        return look(gather(samples, {"experiment": "e", **VIRTUAL}), fast, slow)

    assert (decided(first).cells, decided(first).boots) == ((CELLS[2],), 1)
    assert (decided(first + alone).cells, decided(first + alone).boots) == ((CELLS[2],), 2)
    assert decided(first + alone + other).why.startswith("6 repetitions, 1 of 2 claims open")
    assert decided(first + alone + other).boots == 3


def test_numbers_without_a_spread_are_measured_with_the_random_links():
    """A single number of a cell with a random service has no interval in one boot, whatever it is; three boots give it one."""
    other = "lag_last_ms"
    facts = {"experiment": "e", **VIRTUAL, "chance": "threads"}

    def measured(rtt, boot):
        made = sample(rtt, 10 + 4 * rtt, 0.1) | {"random": rtt == 40, "boot": boot}
        return made | {"metrics": made["metrics"] | {other: {"mean": 5.0, "sd": None, "n": 1}}}

    run = gather([measured(rtt, 1) for rtt in (0, 10, 40)], facts)
    assert look(run, FOUR).cells == (CELLS[2],)
    assert look(run, bound(other, at={"rtt": "0ms"}, at_most=6)).cells == (CELLS[0], CELLS[2])
    assert look(run, bound(other, at={"rtt": "0ms"}, at_most=4)).cells == (CELLS[0], CELLS[2])
    three = [measured(rtt, boot) for boot in (1, 2, 3) for rtt in (0, 10, 40) if boot == 1 or rtt != 10]
    assert look(gather(three, facts), bound(other, at={"rtt": "0ms"}, at_most=6)).cells == ()


def test_a_law_through_single_boots_is_not_decided_by_how_straight_it_is():
    """Drift in one boot gave T - 4 d of 62.9, 60.2, 57.9 and 48.9 ms, and the verdict "k 3.889 (3.868 to 3.910) supported"."""
    found = FOUR.judge(run_of(CPU_TIME, 0, 0).for_verdicts(0.99))
    assert found.verdict == "inconclusive"
    assert found.text.endswith("(too few boots to know how they differ: that takes 3 repetitions or more)")
    assert found.reason == "few boots"
    assert FOUR.judge(run_of(CPU_TIME, 0, 0, 0).for_verdicts(0.99)).verdict == "supported"
    assert FOUR.judge(run_of(VIRTUAL, 0, 0, random=True).for_verdicts(0.99)).verdict == "inconclusive"
    assert FOUR.judge(run_of(WORK, 0).for_verdicts(0.99)).verdict == "supported"


def test_looks_are_taken_at_their_time_only():
    rounds = [9.0 * (-1) ** at for at in range(30)]
    found = {count: look(run_of(REAL, *rounds[:count]), FOUR) for count in range(1, 31)}
    assert [count + each.boots for count, each in found.items()] == [
        3, 3, 4, 6, 6, *[9] * 3, *[14] * 5, *[20] * 6, *[30] * 11,
    ]  # fmt: skip
    assert found[5].why == "5 repetitions, judged after 6"
    looks = [1 - found[count].confidence for count in (3, 4, 6, 9, 14, 20, 30)]
    assert looks == pytest.approx([0.01 * share / 30 for share in (3, 1, 2, 3, 5, 6, 10)])


def test_a_bent_law_is_not_measured_on_for():
    """The times of four repetitions of a page whose server kept working while its data travelled."""
    times = {"0": (27.03, 31.1, 29.07, 26.9), "10": (60.9, 59.7, 58.6, 62.0), "40": (180.2, 181.0, 180.1, 179.5)}
    times["120"] = (497.2, 503.2, 500.9, 499.0)

    def repeated(count):
        samples = [sample(rtt, values[at], 2.5) for at in range(count) for rtt, values in times.items()]
        return gather(samples, {"experiment": "e", **VIRTUAL, "chance": "threads"})

    looks = [look(repeated(count), FOUR) for count in (1, 2, 3, 4)]
    assert [bool(each.cells) for each in looks] == [True, True, True, False]
    assert looks[-1].why == "4 repetitions, 1 of 1 claim open: more repetitions do not help: the law is bent by 4.5 ms at 0 ms"
    found = FOUR.judge(repeated(4).at_confidence(looks[-1].confidence))
    assert found.verdict == "inconclusive"
    assert "the law is bent by 4.5 ms at 0 ms, and more repetitions do not help" in found.text
    assert (found.low, found.high) == (pytest.approx(3.50, abs=0.02), pytest.approx(4.41, abs=0.02))
    for wide in (law(TIME, round_trips=4, within=0.2), law(TIME, round_trips=8)):
        assert wide.judge(repeated(4)).verdict == ("supported" if wide.within == 0.2 else "refuted")
    other = bound(TIME, at_most=501, at={"rtt": "120ms"})  # open, but not because of curvature
    assert look(repeated(4), FOUR, other).cells == ({"rtt": "120ms"},)
    assert look(repeated(4), all_of(FOUR, other)).cells


def test_what_repeats_itself_is_not_asked_again():
    run = run_of(VIRTUAL, 0, 0, sd=60.0)
    found = look(run, FOUR)
    assert found.cells == ()
    assert found.why == "2 repetitions, 1 of 1 claim open: all gave identical numbers"
    assert look(run_of(VIRTUAL, 0, 5, sd=60.0), FOUR).cells == CELLS
    drawn = run_of(VIRTUAL, 0, 5, 5, sd=60.0)  # two of three drew the same
    assert look(drawn, FOUR).cells == CELLS


def test_wall_time_bounds_it_and_says_so_last():
    open_law = run_of(CPU_TIME, 3, -2, -1, sd=60.0)
    done = look(open_law, FOUR, rule=Rule(budget_s=300), spent=250, took=60)
    assert (done.cells, done.boots) == ((), 0)
    assert done.why.startswith("3 repetitions, 1 of 1 claim open: another of 60 s exceeds the wall time of 5 min")
    assert done.last_line.startswith("stopped by the wall time of 5 min after 3 of at most 30 repetitions, 1 of 1 claim open")
    assert done.last_line.endswith(": --budget 30,10min")
    assert done.confidence == 0.99  # the last look takes the whole rest
    assert look(open_law, FOUR, rule=Rule(budget_s=300), spent=230, took=60).boots == 1
    between = look(run_of(CPU_TIME, 3, -2, -1, 2, 0, sd=60.0), FOUR, rule=Rule(budget_s=300), spent=250, took=60)
    assert between.last_line.startswith("stopped by the wall time of 5 min after 5 of")
    assert 1 - between.confidence == pytest.approx(0.01 - 0.01 * 4 / 30)
    early = look(run_of(REAL, 0), FOUR, rule=Rule(budget_s=300), spent=250, took=60)
    assert (
        early.why
        == "1 repetition: the real clock needs 3 to estimate their spread, but another of 60 s exceeds the wall time of 5 min"
    )
    assert early.last_line.startswith("stopped by the wall time of 5 min after 1 of at most 30 repetitions, before any claim")


def test_repetitions_end_it_and_say_how_many_would_decide():
    many = run_of(CPU_TIME, *(9.0 * (-1) ** at for at in range(MOST)))
    done = look(many, FOUR)
    assert done.cells == ()
    assert done.why == (
        "30 repetitions, 1 of 1 claim open: the maximum is 30 repetitions; about 174 repetitions would decide it"
    )
    assert done.last_line == ""
    told = [FOUR.judge(run_of(CPU_TIME, *(9.0 * (-1) ** at for at in range(count))).for_verdicts(0.99)) for count in (160, 180)]
    assert [found.verdict for found in told] == ["inconclusive", "supported"]
    few = look(run_of(CPU_TIME, 0, 0, 0), FOUR, rule=Rule(most=2))
    assert look(run_of(CPU_TIME, 0, 0), FOUR, rule=Rule(most=2)).last_line == (
        "2 repetitions: the virtual clock with CPU time charged needs 3 to estimate their spread, "
        "but the maximum is 2 repetitions: --budget 3"
    )
    assert few.cells == ()


def test_how_many_repetitions_it_takes():
    """Ten boots around 103 with a standard error of 1, margin 5 around 100: the distance to the edge at 105 is 2."""
    values = [103 + 10**0.5 * each for each in (-1.0, 1.0)] * 5
    sd = (sum((each - 103) ** 2 for each in values) / 9) ** 0.5
    samples = [sample(0, each, 1.0) | {"random": False} for each in values]
    run = gather(samples, {"experiment": "e", **VIRTUAL, "chance": "threads"}).for_verdicts(0.99)
    found = bound(TIME, at_least=95, at_most=105).judge(run)
    number = predicted_repetitions(found, 10)
    assert t_quantile(number - 1, 0.99) * sd / number**0.5 <= 2 < t_quantile(number - 2, 0.99) * sd / (number - 1) ** 0.5
    assert predicted_repetitions(bound(TIME, at_least=95, at_most=103).judge(run), 10) is None  # exactly on the edge
    assert predicted_repetitions(bound(TIME, at_least=95, at_most=103.001).judge(run), 10) == 1000


def test_a_number_of_repetitions_is_what_is_done():
    assert look(run_of(VIRTUAL, 0), FOUR, rule=Rule(2)).cells == CELLS
    assert look(run_of(VIRTUAL, 0), FOUR, rule=Rule(5)).boots == 4
    done = look(run_of(VIRTUAL, 0, 0), FOUR, rule=Rule(2))
    assert (done.cells, done.confidence, done.why, done.last_line) == ((), 0.99, "2 repetitions, as requested", "")
    assert look(run_of(REAL, 0), rule=Rule()).why == "1 repetition: there is no claim to decide"


def test_too_few_repetitions_for_a_verdict_are_told():
    done = look(run_of(CPU_TIME, 0), FOUR, rule=Rule(1))
    assert done.last_line == (
        "1 repetition: too few for a verdict: on the virtual clock with CPU time charged a verdict needs 3 boots, "
        "to estimate their spread: --repeat 3 or more, or --tdf inf if CPU time does not matter"
    )
    seeds = look(run_of(VIRTUAL, 0, 1, random=True), FOUR, rule=Rule(2))
    assert seeds.last_line == "2 repetitions: too few for a verdict, which needs 3 seeds: --repeat 3 or more"
    for facts, rounds in ((CPU_TIME, 3), (WORK, 1), (VIRTUAL, 1)):
        assert look(run_of(facts, *range(rounds)), FOUR, rule=Rule(rounds)).last_line == ""
    assert look(run_of(CPU_TIME, 0), rule=Rule(1)).last_line == ""


def test_failed_cells_and_mistaken_claims_are_not_repeated():
    samples = [
        sample(0, 10, 60.0),
        sample(10, 50, 60.0),
        sample(40, 170, 60.0) | {"status": "failed", "error": "no", "metrics": {}},
    ]
    run = gather(samples, {"experiment": "e", **VIRTUAL})
    assert look(run, FOUR).cells == ()
    assert look(run, FOUR, rule=Rule(2)).cells == CELLS[:2]
    assert look(run_of(VIRTUAL, 0), law("time", round_trips=4)).cells == ()


def test_too_few_values_for_a_percentile_ask_for_more():
    values = [float(each) for each in range(100)]
    run = gather([sample(0, 49.5, 29.0, values=values)], {"experiment": "e", **VIRTUAL})
    assert look(run, bound(TIME, at_most=300, percentile=99)).cells == ({"rtt": "0ms"},)


def test_the_rule_as_it_is_typed():
    assert read_rule("auto", "5m") == Rule(None, 300.0, 30)
    assert read_rule("7", "90s") == Rule(7, 90.0)
    assert read_rule("auto", "45") == Rule(None, math.inf, 45)
    assert read_rule("auto", "45,10m") == read_rule("auto", "10min, 45") == Rule(None, 600.0, 45)
    assert read_rule("auto", BUDGET) == Rule()
    for rule in (read_rule("7", "2min"), read_rule("auto", "12"), read_rule("auto", "12,2h")):
        assert Rule.from_json(json.loads(json.dumps(rule.to_json()))) == rule
    assert Rule.from_json({}) == Rule()
    assert Rule.from_json({"repeat": "auto", "budget_s": 300.0}) == Rule(None, 300.0)  # as in older runs
    for repeat in ("0", "-1", "many", "1.5"):
        with pytest.raises(ExperimentError, match=f"invalid number of repetitions '{repeat}', --repeat: write a whole number"):
            read_rule(repeat, "5m")
    for budget in ("0", "30,40", "5m,10m", "1000", "30,5m,2", ""):
        with pytest.raises((ExperimentError, UnitError), match=r"invalid budget|duration"):
            read_rule("auto", budget)
    with pytest.raises(UnitError):
        read_rule("auto", "soon")
