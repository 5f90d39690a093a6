import itertools

import pytest

from slownet.links.conditions.link import Condition
from slownet.links.conditions.profiles import find
from slownet.links.conditions.schedule import Schedule, Track, change, flap
from slownet.model.errors import ConditionError, SlownetError

RTT = Condition.parse(rtt="40ms")


def states(schedule, before=None, most=100):
    return [(state.at, str(state)) for state in itertools.islice(schedule.states(before or Condition()), most)]


def test_a_condition_a_cut_and_what_comes_back():
    schedule = Schedule.parse({"5s": {"rtt": "40ms"}, "9s": "cut", "10s": "restore"})
    assert states(schedule) == [(5, "+40 ms RTT"), (9, "cut"), (10, "+40 ms RTT")]
    assert schedule.cuts
    cut = list(schedule.states(Condition()))[1].condition
    assert cut == RTT.but(loss="100%")


def test_steps_come_in_the_order_of_their_times_whatever_their_order():
    schedule = Schedule.parse({"2s": "LTE", "1500ms": change(rate_up="1Mbit"), "0s": Condition()})
    assert states(schedule, RTT) == [(0, "no condition"), (1.5, "1 Mbit up"), (2, str(find("LTE")))]
    assert not schedule.cuts


def test_a_change_leaves_the_other_fields():
    assert states(Schedule.parse({"1s": change(loss="1%"), "2s": change(loss=None)}), RTT) == [
        (1, "+40 ms RTT, loses 1 %"), (2, "+40 ms RTT"),
    ]  # fmt: skip


def test_what_is_set_during_a_cut_holds_after_it():
    schedule = Schedule.parse({"1s": "cut", "2s": {"rtt": "40ms"}, "3s": "restore"})
    assert states(schedule) == [(1, "cut"), (2, "cut"), (3, "+40 ms RTT")]


def test_a_schedule_that_repeats():
    steps = {"1s": {"rtt": "40ms"}, "2s": {}}
    assert [at for at, _ in states(Schedule.parse(steps, every="5s", times=3))] == [1, 2, 6, 7, 11, 12]
    assert [at for at, _ in states(Schedule.parse(steps, every="5s"), most=7)] == [1, 2, 6, 7, 11, 12, 16]


def test_a_flapping_link():
    expected = [(0, "+40 ms RTT"), (9, "cut"), (10, "+40 ms RTT"), (19, "cut"), (20, "+40 ms RTT")]
    assert states(flap(up="9s", down="1s"), RTT, most=5) == expected
    assert states(flap(up="9s", down="1s", times=2), RTT) == expected[1:]


def test_two_side_by_side():
    both = Schedule.parse({"8s": {"rtt": "40ms"}, "9500ms": {}}).beside(flap(up="9s", down="1s", times=1))
    assert states(both) == [(8, "+40 ms RTT"), (9, "cut"), (9.5, "cut"), (10, "no condition")]


def test_steps_at_the_same_time_are_one_state():
    both = Schedule.parse({"1s": change(rate_up="1Mbit")}).beside(Schedule.parse({"1s": change(rate_down="2Mbit")}))
    assert states(both, RTT) == [(1, "+40 ms RTT, 1 Mbit up, 2 Mbit down")]


def test_each_state_draws_a_pattern_of_its_own():
    lossy = Condition.parse(loss="1%", seed=7)
    schedule = Schedule.parse({"1s": change(rate="1Mbit"), "2s": change(rate="2Mbit"), "3s": {"loss": "2%", "seed": 50}})
    assert [state.condition.seed for state in schedule.states(lossy)] == [9, 11, 50]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Schedule.parse({}), "a schedule without steps"),
        (lambda: Schedule.parse({"5": "cut"}), "duration '5' has no unit, step '5' of a schedule"),
        (lambda: Schedule.parse({"5s": "LET"}), "no condition 'LET', step '5s' of a schedule: did you mean 'LTE'?"),
        (lambda: Schedule.parse({"5s": {"rt": "1ms"}}), "a condition has no field 'rt', step '5s'"),
        (lambda: Schedule.parse({"5s": 7}), "7 is not a step"),
        (lambda: Schedule.parse({"5s": "cut"}, every="5s"), "cannot begin again after 5 s: its last step is at 5 s"),
        (lambda: Schedule.parse({"5s": "cut"}, times=2), "played 2 times"),
        (lambda: Schedule.parse({"5s": "cut"}, every="6s", times=0), "played 0 times"),
        (lambda: flap(up="0s", down="1s"), "does not flap"),
        (lambda: Schedule((Track((*flap("1s", "1s").tracks[0].steps[::-1],)),)), "not in the order of their times"),
        (lambda: Schedule.parse({"3s": change(jitter="1ms")}).check(Condition()), "jitter without delay.*step at 3 s"),
    ],
)
def test_what_cannot_be_is_one_line(wrong, message):
    with pytest.raises(SlownetError, match=message):
        wrong()


def test_a_change_is_checked_with_the_condition_of_its_time():
    schedule = Schedule.parse({"1s": {"delay": "5ms"}, "3s": change(jitter="1ms")}, every="10s")
    schedule.check(Condition())
    with pytest.raises(ConditionError):
        Schedule.parse({"1s": change(jitter="1ms"), "3s": {"delay": "5ms"}}).check(Condition())
