"""What a hunt chooses from, and what Hypothesis makes of it, without any lab."""

import importlib
import sys
from types import SimpleNamespace

import pytest

from slownet import ConditionError, ExperimentError, Faults, UnitError, faults
from slownet.hunt import drawing, strategy
from slownet.links.fault_space import KINDS, REPAIRS, Break, breaks, repairs
from slownet.links.faults import VERBS

SPACE = faults(["a", "b", "c"], within="10s", services=["a", "b"])


def test_breaks_are_mended_and_what_cannot_happen_is_left_out():
    def schedule(*breaks):
        return str(SPACE.of([Break(*each) for each in breaks]))

    assert schedule(("kill", ("a",), (), 1, 3), ("cut", ("a",), ("b", "c"), 2, 2.5)) == (
        "kill a at 1 s; cut a from b, c at 2 s; heal at 2.5 s; start a at 3 s"
    )
    assert schedule(("kill", ("a",), (), 1, 3), ("kill", ("a",), (), 2, 4)) == "kill a at 1 s; start a at 3 s"
    assert schedule(("pause", ("a",), (), 1, 3), ("kill", ("a",), (), 2, 4)) == "pause a at 1 s; kill a at 2 s; start a at 4 s"
    assert schedule(("kill", ("a",), (), 1, 3), ("pause", ("a",), (), 2, 4)) == "kill a at 1 s; start a at 3 s"
    assert schedule(("cut", ("a",), ("b",), 1, 3), ("one-way", ("b",), ("a", "c"), 2, 4)) == "cut a from b at 1 s; heal at 3 s"
    assert schedule(("cut", ("a",), ("b",), 1, 3), ("cut", ("c",), ("b",), 2, 4)) == (
        "cut a from b at 1 s; cut c from b at 2 s; heal at 3 s"
    )
    assert schedule(("kill", ("a",), (), 1, 3), ("kill", ("a",), (), 3, 4)) == (
        "kill a at 1 s; start a at 3 s; kill a at 3 s; start a at 4 s"
    )


def test_disks_break_beside_the_programs_on_them():
    space = faults(["a"], ["crash", "fill-disk", "fail-disk", "kill"], within="10s")
    assert space.kinds == ("kill", "crash", "fill-disk", "fail-disk")
    breaks = [("crash", 1, 3), ("fill-disk", 2, 4), ("fail-disk", 3, 5), ("kill", 2, 6)]
    schedule = space.of([Break(kind, ("a",), (), begin, end) for kind, begin, end in breaks])
    assert str(schedule) == "crash a at 1 s; fill-disk a at 2 s; start a at 3 s; repair-disk a at 4 s"
    schedule.check(["a"], {"a": "a"}, ["a"])
    tried = drawing.of([schedule])
    assert (tried.together, list(tried.begun)) == (1, ["crash a", "fill-disk a"])
    for each in strategy.planned(space, 1, 50):
        each.check(["a"], {"a": "a"}, ["a"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_hunt_chooses_each_kind_of_fault_that_a_schedule_can_have(kind):
    space = faults(["a", "b"], [kind], within="10s", services=["a"], most=2)
    planned = strategy.planned(space, 1, 30)
    assert len(planned) >= 10
    for schedule in planned:
        schedule.check(["a", "b"], {"a": "a"}, ["a"])
        assert Faults.parse(str(schedule)) == schedule
        broken = [step for step in schedule.steps if breaks(step.action)]
        assert [str(step.action).split()[0] for step in broken] == len(broken) * [{"one-way": "cut"}.get(kind, kind)]
        assert len([step for step in schedule.steps if repairs(step.action)]) == len(broken) or kind in ("cut", "one-way")
        assert broken or kind == "reset"
    counted = drawing.of(planned)
    assert sum(map(sum, counted.begun.values())) >= len(planned)


def test_kinds_are_all_verbs_that_break_something():
    assert {*KINDS} == {"cut", "one-way", "reset", *(verb for verb, each in VERBS.items() if each.undo)}
    assert all(each.undo in VERBS for each in VERBS.values() if each.undo)
    restored = ["restore-cpu", "restore-mtu", "restore-names", "resume", "start", "stop-corrupting"]
    assert sorted(REPAIRS) == ["heal", "repair-disk", *restored]


def test_amounts_of_kinds():
    space = faults(["a"], ["slow-disk 50ms", "corrupt", "mtu 1400", "corrupt 20%"], within="10s")
    assert space.kinds == ("slow-disk 50ms", "corrupt 5%", "corrupt 20%", "mtu 1400")
    schedule = space.of(
        [Break("mtu 1400", ("a",), (), 1, 3), Break("mtu 1400", ("a",), (), 2, 4), Break("corrupt 20%", ("a",), (), 2, 5)]
    )
    assert str(schedule) == "mtu a 1400 at 1 s; corrupt a 20% at 2 s; restore-mtu a at 3 s; stop-corrupting a at 5 s"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("kill 5%", "'kill' does not take an amount"),
        ("cut 5%", "'cut' does not take an amount"),
        ("mtu 10", "'10' is not an MTU"),
        ("corrupt 200%", "'200%' is not a percentage"),
        ("slow-disk x", "x"),
        ("slow-cpu 100%", "'100%' is not a percentage"),
        ("repair-disk", "no kind of faults 'repair-disk'"),
        ("heal", "no kind of faults 'heal'"),
    ],
)
def test_kinds_that_are_none(kind, message):
    with pytest.raises((ConditionError, UnitError), match=message):
        faults(["a", "b"], [kind])


def test_an_mtu_is_given_back_once_it_was_changed():
    with pytest.raises(ConditionError, match=r"'restore-mtu a', but a's MTU is as it was by then"):
        Faults.parse("restore-mtu a at 1 s").check(["a"], {})
    Faults.parse("mtu a 1280 at 1 s; mtu a 1400 at 2 s; restore-mtu a at 3 s").check(["a"], {})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hosts": ["a"], "kinds": ["kil"]}, "no kind of faults 'kil', faults(): did you mean 'kill'?"),
        ({"hosts": []}, "nothing can break, faults()"),
        ({"hosts": ["a"]}, "'cut' needs two hosts, faults(): name more hosts, or leave it out"),
        ({"hosts": ["a", "b"], "services": []}, "'kill' needs a service, faults(): name some in services="),
        ({"hosts": ["a", "b"], "within": "100ms"}, "'100ms' has no room for a break, faults(): give more than twice the step"),
        ({"hosts": ["a", "b"], "most": 0}, "most is 0, faults(): give at least 1"),
    ],
)
def test_a_space_that_is_none(arguments, message):
    with pytest.raises(ConditionError) as caught:
        faults(**arguments)
    assert message in str(caught.value)


def test_a_time_that_is_none():
    with pytest.raises(UnitError):
        faults(["a"], ["kill"], within="soon")


def test_every_plan_can_happen_and_is_the_same_again():
    planned = strategy.planned(SPACE, 1, 150)
    assert planned == strategy.planned(SPACE, 1, 150)
    assert planned != strategy.planned(SPACE, 2, 150)
    assert len(set(map(str, planned))) == len(planned) > 100
    names = {"a": "a", "b": "b"}
    for each in planned:
        each.check(["a", "b", "c"], names)
        assert each.steps[-1].at <= 10
        assert Faults.parse(str(each)) == each
    kinds = {str(step.action).split()[0] for each in planned for step in each.steps}
    assert kinds == {"kill", "start", "pause", "resume", "cut", "heal"}


def needs_two(schedule):
    """Return whether b is killed from 3 s on while it does not hear a: two breaks that must overlap."""
    deaf = False
    for step in schedule.steps:
        text = str(step.action)
        if text.startswith("cut"):
            deaf = deaf or ("a", "b") in step.action.lost
        elif text == "heal":
            deaf = False
        elif text == "kill b" and deaf and step.at >= 3:
            return True
    return False


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_is_found_is_shrunk_to_the_breaks_that_it_takes(seed):
    tried = []

    def judge(schedule):
        tried.append(str(schedule))
        return needs_two(schedule)

    found = strategy.search(SPACE, judge, seed, 300)
    assert found
    _, kill = (each for each in found.steps if str(each.action).split()[0] in ("cut", "kill"))
    assert kill.at == 3
    assert len(found.steps) == 4
    planned = [str(each) for each in strategy.planned(SPACE, seed, 300)]
    first = next(number for number, each in enumerate(planned) if needs_two(Faults.parse(each)))
    assert (
        list(dict.fromkeys(tried))[: first + 1] == planned[: first + 1]
    )  # what labs measure ahead is what Hypothesis asks for


def test_a_shrink_goes_on_after_hypothesis_gave_up_for_lack_of_time(monkeypatch):
    from hypothesis.internal.conjecture import engine

    whole, most = strategy.search(SPACE, needs_two, 1, 300), strategy.PASSES
    now = 0.0
    clock = SimpleNamespace(monotonic=lambda: now, perf_counter=lambda: now)
    for module in (engine, strategy):
        monkeypatch.setattr(module, "time", clock)

    def searched(passes):
        known = {}

        def judge(schedule):
            nonlocal now
            if str(schedule) not in known:
                now += 10  # what is known takes no time
                known[str(schedule)] = needs_two(schedule)
            return known[str(schedule)]

        monkeypatch.setattr(strategy, "PASSES", passes)
        return strategy.search(SPACE, judge, 1, 300)

    assert searched(1) != whole
    assert searched(most) == whole


def test_modules_that_are_imported_meanwhile_change_no_choice(tmp_path, monkeypatch):
    """Hypothesis takes integers of local modules for likely bugs; a seed would choose others once more of them are loaded."""
    space = faults(["a", "b"], within="100s")
    before = strategy.planned(space, 1, 150)
    (tmp_path / "full_of_numbers.py").write_text(f"NUMBERS = {list(range(500, space.steps))}")  # it takes those from 100 on
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "full_of_numbers", raising=False)
    importlib.import_module("full_of_numbers")
    assert strategy.planned(space, 1, 150) == before


def test_what_does_not_break_is_not_found():
    assert strategy.search(SPACE, lambda schedule: False, 1, 30) is None


def test_an_error_passes_through():
    class Ended(BaseException):
        pass

    def judge(schedule):
        raise Ended

    with pytest.raises(Ended):
        strategy.search(SPACE, judge, 1, 30)


def test_a_strategy_of_ones_own():
    from hypothesis import strategies

    def mine():
        return strategies.integers(1, 9).map(lambda number: Faults.parse(f"kill a at {number} s; start a at 10 s"))

    found = strategy.search(mine, lambda schedule: schedule.steps[0].at >= 4, 1, 100)
    assert str(found) == "kill a at 4 s; start a at 10 s"
    with pytest.raises(ExperimentError, match="int is not a set of faults to choose from: write faults"):
        strategy.planned(lambda: 5, 1, 1)


def test_without_hypothesis_a_line_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "hypothesis", None)
    with pytest.raises(
        ExperimentError, match=r"Hypothesis is not installed, slownet hunt: python -m pip install 'hypothesis>="
    ):
        strategy.need()


def test_many_hosts_are_cut_one_from_another_or_from_all():
    space = faults([f"h{number}" for number in range(9)], ["cut"], within="10s")
    assert len(strategy.planned(space, 1, 20)) > 10


def test_coverage():
    tried = drawing.of(map(Faults.parse, [
        "none", "kill a at 1 s; start a at 8 s", "kill a at 1 s; cut a from b at 2 s; heal at 3 s; start a at 5 s",
        "cut a from b at 7 s; heal at 7.5 s; pause b at 7.5 s; resume b at 8 s",
    ]))  # fmt: skip
    assert (tried.schedules, tried.together, tried.within) == (3, 1, 8)
    assert tried.begun == {"cut a from b": [0, 1, 0, 1], "kill a": [2, 0, 0, 0], "pause b": [0, 0, 0, 1]}
