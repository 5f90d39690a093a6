import pytest

from slownet.judge.records.charging import Charging, Terms
from slownet.lab.run.clock import INF, Clock
from slownet.model.errors import SlownetError

VIRTUAL = {"clock": "virtual", "tdf": 4}


@pytest.mark.parametrize(
    ("facts", "charging"),
    [
        ({"clock": "real", "tdf": None}, Charging.REAL),
        ({}, Charging.REAL),
        (VIRTUAL, Charging.TIME),
        (VIRTUAL | {"cpu": None}, Charging.TIME),
        (VIRTUAL | {"cpu": "time"}, Charging.TIME),
        (VIRTUAL | {"cpu": "work"}, Charging.WORK),
        ({"clock": "virtual", "tdf": "inf"}, Charging.FREE),
        ({"clock": "virtual", "tdf": "inf", "cpu": "free"}, Charging.FREE),
        ({"clock": "virtual", "cpu": "free"}, Charging.FREE),
        ({"clock": "real", "cpu": "real"}, Charging.REAL),
    ],
)
def test_a_runs_facts_say_what_the_clock_charged(facts, charging):
    assert Charging.of(facts) is charging


def test_a_word_that_no_clock_has():
    with pytest.raises(SlownetError) as caught:
        Charging.of(VIRTUAL | {"cpu": "wurk"})
    assert str(caught.value) == "a clock that charges 'wurk', cpu in the facts of a run: did you mean 'work'?"


def test_boots_before_a_verdict_and_before_the_first_look():
    table = {
        each: (each.verdict_from(False), each.first_look(each.verdict_from(False)), each.verdict_from(True))
        for each in Charging
    }
    assert table == {
        Charging.REAL: (3, 3, 3),
        Charging.TIME: (3, 3, 3),
        Charging.WORK: (1, 1, 3),  # 2.807 * sqrt(2) * 0.3 % is 1.2 %
        Charging.FREE: (1, 1, 3),
        Charging.EXACT: (1, 1, 3),
    }
    assert [each.first_look(3) for each in Charging] == [3] * 5


def test_terms_of_a_run():
    assert Terms.of({}) == Terms(None, False)
    assert Terms.of({"clock": "virtual", "tdf": "inf", "chance": "threads"}) == Terms(Charging.FREE, True)
    assert (Terms.of({"clock": "real"}).cpu_variation, Terms().cpu_variation) == (0.12, 0.0)


def test_a_run_repeats_where_the_cpu_is_free_and_no_program_draws():
    assert {each: Terms(each).repeats for each in (None, *Charging)} == {None: False} | {
        each: each is Charging.FREE for each in Charging
    }
    assert not Terms(Charging.FREE, chance=True).repeats


@pytest.mark.parametrize(
    "clock", [Clock("real"), Clock("virtual", 4), Clock("virtual", 4, counter="process"), Clock("virtual", INF)], ids=str
)
def test_a_clock_and_its_record_say_the_same(clock):
    assert Charging.of(clock.facts).value == (clock.cpu or "real")
    assert (Charging.of(clock.facts) is Charging.FREE) == clock.cpu_is_free
