import pytest

from slownet.judge.records.charging import Charging
from slownet.runner.sampling import Schedule

HALF = 0.5


def shares(plan):
    return [100 * plan.share(at) for at in plan.looks]


def test_the_table_of_thirty_repetitions():
    for charging, is_random in ((Charging.TIME, False), (Charging.REAL, False), (Charging.FREE, True), (Charging.WORK, True)):
        plan = Schedule.of(charging, charging.verdict_from(is_random), False, 30)
        assert plan.looks == (3, 4, 6, 9, 14, 20, 30)
        assert shares(plan) == pytest.approx([1 / 10, 1 / 30, 1 / 15, 1 / 10, 1 / 6, 1 / 5, 1 / 3])


def test_where_the_waver_was_measured_the_first_look_takes_half():
    work = Schedule.of(Charging.WORK, 1, False, 30)
    assert work.looks == (1, 2, 3, 4, 6, 9, 14, 20, 30)
    assert shares(work) == pytest.approx([HALF, *(HALF * each / 29 for each in (1, 1, 1, 2, 3, 5, 6, 10))])


@pytest.mark.parametrize("charging", list(Charging))
@pytest.mark.parametrize("is_random", [False, True])
@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 10, 29, 30, 31, 45, 46, 100, 999])
def test_all_looks_together_may_be_wrong_in_one_percent(charging, is_random, most):
    plan = Schedule.of(charging, charging.verdict_from(is_random), False, most)
    if not plan.looks:
        assert most < charging.verdict_from(is_random)
        return
    assert sum(shares(plan)) == pytest.approx(1)
    assert min(shares(plan)) > 0
    assert plan.looks[-1] == most
    assert list(plan.looks) == sorted(set(plan.looks))
    # Whenever wall time ends the run, the shares including the last look's add up to exactly the total.
    for boots in range(1, most + 1):
        before = [at for at in plan.looks if at < boots]
        assert sum(plan.share(at) for at in before) + plan.share(boots, is_last=True) == pytest.approx(0.01)
        assert plan.share(boots) <= plan.share(boots, is_last=True) + 1e-15


def test_where_nothing_is_random_there_is_one_look():
    for boots in (1, 2):  # two of programs that slownet does not know
        plan = Schedule.of(Charging.FREE, boots, True, 30)
        assert (plan.looks, plan.share(boots), plan.next(boots)) == ((boots,), 0.01, 0)


def test_beyond_thirty():
    assert Schedule.of(Charging.TIME, 3, False, 100).looks == (3, 4, 6, 9, 14, 20, 30, 45, 68, 100)
    assert Schedule.of(Charging.TIME, 3, False, 2) == Schedule((), 3)


def test_the_next_look():
    plan = Schedule.of(Charging.TIME, 3, False, 30)
    assert [plan.next(boots) for boots in (0, 1, 3, 5, 29, 30, 40)] == [3, 3, 4, 6, 30, 0, 0]
