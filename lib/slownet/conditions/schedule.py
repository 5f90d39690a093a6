"""What happens to a link over time: a value, which `net.link(...).play` plays."""

from __future__ import annotations

import dataclasses
import heapq
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from slownet.conditions import profiles as conditions
from slownet.conditions.impairment import Chance
from slownet.conditions.link import Condition, read
from slownet.errors import ConditionError, UnitError
from slownet.units import duration, show_duration


class Mark(Enum):
    """What is done to a link without another condition."""

    CUT = "cut"
    RESTORE = "restore"


@dataclass(frozen=True)
class Change:
    """Some fields of a condition stated anew (by their names in Condition); the others stay as they are."""

    fields: tuple[tuple[str, Any], ...]

    def of(self, condition: Condition) -> Condition:
        """Raises ConditionError."""
        return dataclasses.replace(condition, **dict(self.fields))


Action = Condition | Change | Mark


@dataclass(frozen=True)
class Step:
    """At `at` seconds a link gets another condition, a part of one, or is cut or restored."""

    at: float
    action: Action


@dataclass(frozen=True)
class Track:
    """Steps in the order of their times, begun again after `every` seconds, `times` times (None: without an end)."""

    steps: tuple[Step, ...]
    every: float | None = None
    times: int | None = None

    def __post_init__(self) -> None:
        if not self.steps:
            raise ConditionError("a schedule without a step", fix='write it like {"5s": "cut", "6s": "restore"}')
        times = [step.at for step in self.steps]
        if times != sorted(times):
            raise ConditionError("the steps of a schedule are not in the order of their times", fix="sort them")
        if self.every is not None and (self.every <= 0 or times[-1] >= self.every):
            raise ConditionError(
                f"a schedule cannot begin again after {show_duration(self.every)}: its last step is at "
                f"{show_duration(times[-1])}",
                fix="repeat it later than that",
            )
        if self.times is not None and (self.every is None or self.times < 1):
            raise ConditionError(f"a schedule that is played {self.times} times", fix="give `every` and 1 or more `times`")

    def __iter__(self) -> Iterator[Step]:
        rounds = itertools.count() if self.every is not None and self.times is None else range(self.times or 1)
        for each in rounds:
            for step in self.steps:
                yield Step(each * (self.every or 0.0) + step.at, step.action)


@dataclass(frozen=True)
class State:
    """What a link does from `at` seconds on."""

    at: float
    condition: Condition

    def __str__(self) -> str:
        return "cut" if self.condition.cut else str(self.condition)


@dataclass(frozen=True)
class Schedule:
    """Tracks that are played side by side, such as a trace of rates and a flapping cable.

    A cut loses what is on the link and what is sent until it is restored, in both directions; what is set meanwhile
    holds from then on.
    """

    tracks: tuple[Track, ...]

    @classmethod
    def parse(cls, steps: Mapping[str, Any], *, every: str | None = None, times: int | None = None) -> Schedule:
        """From `{"5s": {"rtt": "40ms"}, "7s": "LTE", "9s": "cut", "10s": "restore"}`.

        A step is a whole condition (fields as `Condition.parse` reads them, a name, or a Condition), `change(...)` of some
        fields, "cut" or "restore" (what the link did before it was cut). every: all of it again after that time, `times`
        times or until the link is left. Raises UnitError, ConditionError.
        """
        read_steps = []
        for at, action in steps.items():
            try:
                read_steps.append(Step(duration(at), _action(action)))
            except (UnitError, ConditionError) as error:
                raise type(error)(error.what, f"step '{at}' of a schedule", error.fix) from None
        read_steps.sort(key=lambda step: step.at)
        return cls((Track(tuple(read_steps), None if every is None else duration(every), times),))

    def beside(self, other: Schedule) -> Schedule:
        """Both at once."""
        return Schedule((*self.tracks, *other.tracks))

    @property
    def cuts(self) -> bool:
        """Whether the link is cut at any time."""
        return any(_cuts(step.action) for track in self.tracks for step in track.steps)

    def states(
        self, before: Condition, seeded: Callable[[Condition], Condition] = lambda condition: condition
    ) -> Iterator[State]:
        """What a link that is in the condition `before` does, one state a time at which a step is; may have no end.

        Told the same seed again, netem would begin the same pattern again; so each time another one is told: s, s + 2, ...
        seeded: gives the conditions of the steps the seeds that the link is told, see `slownet.net.seeds`. Raises
        ConditionError for a step that the condition of its time does not allow.
        """
        condition, cut = before, False
        told = {before.seed: 1}
        for at, steps in itertools.groupby(heapq.merge(*self.tracks, key=lambda step: step.at), key=lambda step: step.at):
            for step in steps:
                if isinstance(step.action, Mark):
                    cut = step.action is Mark.CUT
                else:
                    condition = _done(step, condition, seeded)
            now = condition
            if now.seed is not None:
                now = dataclasses.replace(now, seed=now.seed + 2 * told.get(now.seed, 0))
                told[condition.seed] = told.get(condition.seed, 0) + 1
            yield State(at, dataclasses.replace(now, loss=Chance(1.0), seed=None) if cut else now)

    def check(self, before: Condition) -> None:
        """Raises ConditionError for the first step that cannot be, on a link that is in the condition `before`."""
        once = Schedule(tuple(Track(track.steps) for track in self.tracks))
        for _ in once.states(before):
            pass


def change(**fields: Any) -> Change:
    """A step that states some fields anew, read as `Condition.parse` reads them. Raises UnitError, ConditionError."""
    return Change(tuple(sorted(read(fields).items())))


def flap(up: str, down: str, *, times: int | None = None) -> Schedule:
    """A link that works for `up` and is cut for `down`, again and again. Raises UnitError, ConditionError."""
    works, gap = duration(up), duration(down)
    if not works or not gap:
        raise ConditionError(f"a link that is up for {up} and down for {down} does not flap", fix="give two times above 0")
    if times is not None:
        steps = [Step(each * (works + gap) + at, mark) for each in range(times) for at, mark in
                 ((works, Mark.CUT), (works + gap, Mark.RESTORE))]  # fmt: skip
        return Schedule((Track(tuple(steps)),))
    # Without an end a round's first step restores what the one before it cut.
    return Schedule((Track((Step(0.0, Mark.RESTORE), Step(works, Mark.CUT)), works + gap),))


def _action(value: Any) -> Action:
    if isinstance(value, Condition | Change | Mark):
        return value
    if isinstance(value, Mapping):
        return Condition.parse(**value)
    if value in (Mark.CUT.value, Mark.RESTORE.value):
        return Mark(value)
    if isinstance(value, str):
        return conditions.find(value)
    raise ConditionError(f"{value!r} is no step", fix='a step is a condition, its name, change(...), "cut" or "restore"')


def _cuts(action: Action) -> bool:
    if isinstance(action, Mark):
        return action is Mark.CUT
    return action.cut if isinstance(action, Condition) else dict(action.fields).get("loss") == Chance(1.0)


def _done(step: Step, condition: Condition, seeded: Callable[[Condition], Condition]) -> Condition:
    assert not isinstance(step.action, Mark)
    try:
        if not isinstance(step.action, Change):
            return seeded(step.action)
        changed = step.action.of(condition)
        is_told = changed.seed is not None and "seed" not in dict(step.action.fields)
        return changed if is_told else seeded(changed)
    except ConditionError as error:
        raise ConditionError(error.what, f"the schedule's step at {show_duration(step.at)}", error.fix) from None
