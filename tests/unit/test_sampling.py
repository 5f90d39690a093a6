import pytest

from slownet.claim import all_of, bound, law, ratio
from slownet.errors import ExperimentError, UnitError
from slownet.records.result import gather
from slownet.sweep.sampling import MOST, Rule, decide, read_rule

TIME = "time_per_request_ms"
VIRTUAL, REAL = {"clock": "virtual", "tdf": "inf"}, {"clock": "real"}
FOUR = law(TIME, round_trips=4)
CELLS = ({"rtt": "0ms"}, {"rtt": "10ms"}, {"rtt": "40ms"})


def sample(rtt, mean, sd, **more):
    metrics = {TIME: {"mean": mean, "sd": sd, "n": 100} | more}
    return {"cell": {"rtt": f"{rtt}ms"}, "condition": {"rtt_ms": float(rtt)}, "status": "ok", "metrics": metrics}


def run_of(facts, *rounds, sd=0.1):
    """A run whose rounds differ by what is added to the times of the law with k = 4."""
    samples = [sample(rtt, 10 + 4 * rtt + more * (1 + rtt / 10), sd) for more in rounds for rtt in (0, 10, 40)]
    return gather(samples, {"experiment": "e", **facts})


AUTO = Rule()


def look(run, *claims, rule=AUTO, spent=10.0, took=10.0):
    return decide(run, claims, {"e": run}, rule, spent, took)


def test_on_the_virtual_clock_one_repetition_is_the_usual_answer():
    found = look(run_of(VIRTUAL, 0), FOUR)
    assert found.cells == ()
    assert found.why == (
        "1 repetition: every claim is decided that can be; "
        "the virtual clock with free CPU counts nothing but what the network does"
    )
    assert found.confidence == pytest.approx(0.995)
    assert "not what else this machine does" in look(run_of({"clock": "virtual", "tdf": 4}, 0), FOUR).why


P99 = {"mean": 60.0, "sd": None, "n": 1000, "percent": 99, "of": TIME}
WITHIN = bound("p99_ms", below=61)


def tail(facts, *p99s, **values):
    samples = [sample(0, 50.0 + number, 5.0, **values) for number in range(len(p99s))]
    for each, p99 in zip(samples, p99s, strict=True):
        each["metrics"]["p99_ms"] = P99 | {"mean": p99}
    return gather(samples, {"experiment": "e", **facts})


def test_a_printed_percentile_is_exact_where_the_cpu_is_free():
    run = tail(VIRTUAL, 60.0)
    assert WITHIN.judge(run).verdict == "supported"
    assert look(run, WITHIN).cells == ()
    assert "the virtual clock with free CPU counts nothing but what the network does" in look(run, WITHIN).why


@pytest.mark.parametrize("facts", [{"clock": "virtual", "tdf": 4}, REAL])
def test_a_printed_percentile_is_not_exact_where_the_cpu_counts(facts):
    alone = tail(facts, 60.0)
    assert WITHIN.judge(alone).verdict == "inconclusive"
    assert "its interval is not known: repeat the measurement" in WITHIN.judge(alone).text
    assert look(alone, WITHIN).cells == ({"rtt": "0ms"},)
    again = tail(facts, 60.0, 60.0, 60.0)  # of a histogram's coarse steps, say
    assert WITHIN.judge(again).verdict == "inconclusive"
    near = tail(facts, 60.0, 60.01, 59.99)
    assert WITHIN.judge(near).verdict == "supported"


def test_a_printed_percentile_has_the_interval_of_what_was_recorded():
    values = [50 + each / 99 for each in range(1000)]  # the 99th percentile is 60
    steps = [[value, count] for count, value in enumerate(values, 1)]
    for kept in ({"values": values, "n": 1000}, {"steps": steps, "n": 1000}):
        run = tail({"clock": "virtual", "tdf": 4}, 60.0, **kept)
        found = WITHIN.judge(run)
        assert found.verdict == "supported"
        assert found.low < 60 < found.high
        assert WITHIN.judge(run.at_confidence(0.99)).high > found.high
        assert WITHIN.judge(run.at_confidence(1 - 1e-5)).verdict == "inconclusive"  # a thousand are too few
        assert bound("p99_ms", above=60.02).judge(run).verdict == "inconclusive"


def test_a_single_number_takes_another_measurement():
    def least(*values, **facts):
        samples = [sample(0, 50.0 + at, 5.0) for at in range(len(values))]
        for each, value in zip(samples, values, strict=True):
            each["metrics"]["least_ms"] = {"mean": value, "sd": None, "n": 100, "step": 0.01}
        return gather(samples, {"experiment": "e", "clock": "virtual", "tdf": 4} | facts)

    below = bound("least_ms", below=61)
    found = below.judge(least(60.0))
    assert found.verdict == "inconclusive"
    assert found.text.endswith("(its interval is not known: repeat the measurement, --repeat 3 or more)")
    assert look(least(60.0), below).cells == ({"rtt": "0ms"},)
    assert below.judge(least(60.0, tdf="inf")).verdict == "supported"
    same, other = (below.judge(least(60.0, *more)) for more in ((60.0, 60.0), (60.01, 60.0)))
    assert same.high - 60 == pytest.approx(4.302653 * 0.01 / 6)  # 0.01 / sqrt(12) / sqrt(3)
    assert same.high < other.high < 60.03
    assert look(least(60.0, 60.0), below).cells == ()


def test_the_real_clock_takes_three_of_them_every_second_backwards():
    first, second = look(run_of(REAL, 0), FOUR), look(run_of(REAL, 0, 0.01), FOUR)
    assert (first.cells, second.cells) == (CELLS[::-1], CELLS)
    assert first.why == "1 repetition: the real clock takes 3 to see how boots differ"
    third = look(run_of(REAL, 0, 0.01, -0.01), FOUR)
    assert (third.cells, third.why) == (
        (),
        "3 repetitions: every claim is decided that can be; the intervals hold how boots differ",
    )


def test_an_open_claim_asks_for_its_own_cells_only():
    run = run_of(VIRTUAL, 0, sd=1.6)
    twice = ratio(TIME, {"rtt": "10ms"}, expected=5.2)
    assert look(run, twice).cells == ({"rtt": "10ms"}, {"rtt": "0ms"})
    assert look(run, twice).why == "1 repetition, 1 of 1 claim open"
    assert look(run, twice, FOUR, bound(TIME, below=180)).why == "1 repetition, 1 of 3 claims open"
    assert look(run, FOUR).cells == ()


def test_each_look_takes_its_share_of_one_percent():
    rounds = [0.5 * (-1) ** at for at in range(8)]
    left = [1 - look(run_of(REAL, *rounds[:count]), FOUR).confidence for count in range(3, 8)]
    assert left == pytest.approx([0.01 / 2, 0.01 / 6, 0.01 / 12, 0.01 / 20, 0.01 / 30])


def test_a_bent_law_is_not_measured_on_for():
    """The times of four repetitions of a page whose server worked on while its data travelled."""
    times = {"0": (27.03, 31.1, 29.07, 26.9), "10": (60.9, 59.7, 58.6, 62.0), "40": (180.2, 181.0, 180.1, 179.5)}
    times["120"] = (497.2, 503.2, 500.9, 499.0)

    def repeated(count):
        samples = [sample(rtt, values[at], 2.5) for at in range(count) for rtt, values in times.items()]
        return gather(samples, {"experiment": "e", "clock": "virtual", "tdf": 1})

    looks = [look(repeated(count), FOUR) for count in (1, 2, 3, 4)]
    assert [bool(each.cells) for each in looks] == [True, True, True, False]
    assert looks[-1].why == "4 repetitions, 1 of 1 claim open: more repetitions do not help: the law is bent by 4.5 ms at 0 ms"
    found = FOUR.judge(repeated(4).at_confidence(looks[-1].confidence))
    assert found.verdict == "inconclusive"
    assert "the law is bent by 4.5 ms at 0 ms, and more repetitions do not help" in found.text
    assert (found.low, found.high) == (pytest.approx(3.50, abs=0.02), pytest.approx(4.41, abs=0.02))
    for wide in (law(TIME, 4, within=0.2), law(TIME, 8)):
        assert wide.judge(repeated(4)).verdict == ("supported" if wide.within == 0.2 else "refuted")
    other = bound(TIME, below=501, at={"rtt": "120ms"})  # open, and not for the bend
    assert look(repeated(4), FOUR, other).cells == ({"rtt": "120ms"},)
    assert look(repeated(4), all_of(FOUR, other)).cells


def test_what_repeats_itself_is_not_asked_again():
    run = run_of(VIRTUAL, 0, 0, sd=60.0)
    found = look(run, FOUR)
    assert found.cells == ()
    assert found.why == "2 repetitions, 1 of 1 claim open: the last repeated the one before to the digit"
    assert look(run_of(VIRTUAL, 0, 5, sd=60.0), FOUR).cells == CELLS


def test_budgets_end_it():
    run = run_of(VIRTUAL, 0, sd=60.0)
    assert look(run, FOUR, spent=250, took=60).why == (
        "1 repetition, 1 of 1 claim open: another of 60 s is beyond the budget of 5 min"
    )
    assert look(run_of(REAL, 0), FOUR, spent=250, took=60).why.endswith("but another of 60 s is beyond the budget of 5 min")
    many = run_of(VIRTUAL, *(200.0 * (-1) ** at + at for at in range(MOST)))
    assert look(many, FOUR).why.endswith(f"{MOST} repetitions are the most")


def test_a_number_of_repetitions_is_what_is_done():
    assert look(run_of(VIRTUAL, 0), FOUR, rule=Rule(2)).cells == CELLS[::-1]
    done = look(run_of(VIRTUAL, 0, 0), FOUR, rule=Rule(2))
    assert (done.cells, done.confidence, done.why) == ((), 0.99, "2 repetitions, as told")
    assert look(run_of(REAL, 0), rule=Rule()).why == "1 repetition: there is no claim to decide"


def test_failed_cells_and_mistaken_claims_are_not_repeated():
    samples = [
        sample(0, 10, 60.0),
        sample(10, 50, 60.0),
        sample(40, 170, 60.0) | {"status": "failed", "error": "no", "metrics": {}},
    ]
    run = gather(samples, {"experiment": "e", **VIRTUAL})
    assert look(run, FOUR).cells == ()
    assert look(run, FOUR, rule=Rule(2)).cells == CELLS[1::-1]
    assert look(run_of(VIRTUAL, 0), law("time", round_trips=4)).cells == ()


def test_too_few_values_for_a_percentile_ask_for_more():
    values = [float(each) for each in range(100)]
    run = gather([sample(0, 49.5, 29.0, values=values)], {"experiment": "e", **VIRTUAL})
    assert look(run, bound(TIME, below=300, percentile=99)).cells == ({"rtt": "0ms"},)


def test_the_rule_as_it_is_typed():
    assert read_rule("auto", "5m") == Rule(None, 300.0)
    assert read_rule("7", "90s") == Rule(7, 90.0)
    assert Rule.from_json(read_rule("7", "2min").to_json()) == Rule(7, 120.0)
    assert Rule.from_json({}) == Rule()
    for repeat in ("0", "-1", "many", "1.5"):
        with pytest.raises(ExperimentError, match=f"unclear repetitions '{repeat}', --repeat: write a whole number"):
            read_rule(repeat, "5m")
    with pytest.raises(UnitError, match="has no unit"):
        read_rule("auto", "5")
