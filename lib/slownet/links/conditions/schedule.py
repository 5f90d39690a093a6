"""Schedules: how a link's condition changes over time, for `net.link(...).play`."""

from __future__ import annotations

import dataclasses
import heapq
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from slownet.links.conditions import profiles as conditions
from slownet.links.conditions.impairment import Chance
from slownet.links.conditions.link import Condition, read
from slownet.model.errors import ConditionError, UnitError
from slownet.model.units import duration, show_duration


class Mark(Enum):
    """Actions on a link that leave its condition."""

    CUT = "cut"
    RESTORE = "restore"


@dataclass(frozen=True)
class Change:
    """New values for some attributes of a condition; the others stay as they are.

    fields: names of attributes of `Condition`, and their values.
    """

    fields: tuple[tuple[str, Any], ...]

    def of(self, condition: Condition) -> Condition:
        """Return a condition with this change.

        Raises ConditionError: the kernel cannot do the result, or it contradicts itself.
        """
        return dataclasses.replace(condition, **dict(self.fields))


Action = Condition | Change | Mark


@dataclass(frozen=True)
class Step:
    """One step: at `at` seconds the link gets a condition, a change of some fields, or is cut or restored."""

    at: float
    action: Action


@dataclass(frozen=True)
class Track:
    """Steps in the order of their times.

    steps: at least one.
    every: period in seconds, after which the steps begin again; None plays them once.
    times: number of rounds; None repeats them without end.
    """

    steps: tuple[Step, ...]
    every: float | None = None
    times: int | None = None

    def __post_init__(self) -> None:
        if not self.steps:
            raise ConditionError("a schedule without steps", fix='write it like {"5s": "cut", "6s": "restore"}')
        times = [step.at for step in self.steps]
        if times != sorted(times):
            raise ConditionError("the steps of a schedule are not in the order of their times", fix="sort them")
        if self.every is not None and (self.every <= 0 or times[-1] >= self.every):
            raise ConditionError(
                f"a schedule cannot begin again after {show_duration(self.every)}: its last step is at "
                f"{show_duration(times[-1])}",
                fix="give a longer `every`",
            )
        if self.times is not None and (self.every is None or self.times < 1):
            raise ConditionError(f"a schedule cannot be played {self.times} times", fix="give `every`, and `times` from 1")

    def __iter__(self) -> Iterator[Step]:
        rounds = itertools.count() if self.every is not None and self.times is None else range(self.times or 1)
        for each in rounds:
            for step in self.steps:
                yield Step(each * (self.every or 0.0) + step.at, step.action)


@dataclass(frozen=True)
class State:
    """The condition of a link from `at` seconds on."""

    at: float
    condition: Condition

    def __str__(self) -> str:
        return "cut" if self.condition.cut else str(self.condition)


@dataclass(frozen=True)
class Schedule:
    """The changes of a link's condition over time.

    A cut loses the packets in flight and those sent until the link is restored, in both directions. A condition set while the
    link is cut takes effect when it is restored.

    Attributes
    ----------
    tracks : tuple of Track
        Played at the same time, such as a trace of rates and a flapping cable.
    """

    tracks: tuple[Track, ...]

    @classmethod
    def parse(cls, steps: Mapping[str, object], *, every: str | None = None, times: int | None = None) -> Schedule:
        """Read a schedule of one track.

        Parameters
        ----------
        steps : mapping of str to any
            By its time, such as "5s", each step: a whole condition (a `Condition`, a name, or a mapping of fields as for
            `Condition.parse`), a `change(...)` of some fields, "cut", or "restore" (ends the cut).
        every : str
            Period after which the steps begin again, such as "20s"; without it they are played once.
        times : int
            Number of rounds; without it they are repeated until the schedule is stopped.

        Returns
        -------
        Schedule

        Raises
        ------
        UnitError, ConditionError
            A step, or the period, is wrong.

        Examples
        --------
        >>> outage = Schedule.parse({"5s": {"rtt": "40ms"}, "7s": "LTE", "9s": "cut", "10s": "restore"})
        >>> [str(state) for state in outage.states(Condition())]
        ['+40 ms RTT', '+70 ms RTT, 12 Mbit', 'cut', '+70 ms RTT, 12 Mbit']
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
        """Return a schedule that plays this one and another at the same time.

        Parameters
        ----------
        other : Schedule

        Returns
        -------
        Schedule
        """
        return Schedule((*self.tracks, *other.tracks))

    @property
    def cuts(self) -> bool:
        """True if the link is cut at any time."""
        return any(_cuts(step.action) for track in self.tracks for step in track.steps)

    def states(
        self, before: Condition, seeded: Callable[[Condition], Condition] = lambda condition: condition
    ) -> Iterator[State]:
        """Yield the link's state after each time when there are steps; it may never end.

        With the same seed, netem would begin the same pattern again; so a repeated seed s becomes s + 2, s + 4, ...

        Parameters
        ----------
        before : Condition
            The link's condition when the schedule starts.
        seeded : callable
            Gives a step's condition its seed, see `slownet.net.seeds`.

        Yields
        ------
        State

        Raises
        ------
        ConditionError
            A step cannot be applied to the condition that the link has by then.
        """
        condition, cut = before, False
        uses = {before.seed: 1}
        for at, steps in itertools.groupby(heapq.merge(*self.tracks, key=lambda step: step.at), key=lambda step: step.at):
            for step in steps:
                if isinstance(step.action, Mark):
                    cut = step.action is Mark.CUT
                else:
                    condition = _after(step, condition, seeded)
            now = condition
            if now.seed is not None:
                now = dataclasses.replace(now, seed=now.seed + 2 * uses.get(now.seed, 0))
                uses[condition.seed] = uses.get(condition.seed, 0) + 1
            yield State(at, dataclasses.replace(now, loss=Chance(1.0), seed=None) if cut else now)

    def check(self, before: Condition) -> None:
        """Check one round of all steps.

        Parameters
        ----------
        before : Condition
            The link's condition when the schedule starts.

        Raises
        ------
        ConditionError
            A step cannot be applied to the condition that the link has by then.
        """
        once = Schedule(tuple(Track(track.steps) for track in self.tracks))
        for _ in once.states(before):
            pass


def change(**fields: Any) -> Change:
    """Return a step that changes some fields and keeps the others.

    **fields: as for `Condition.parse`.
    Raises UnitError, ConditionError.
    """
    return Change(tuple(sorted(read(fields).items())))


def flap(up: str, down: str, *, times: int | None = None) -> Schedule:
    """Return a schedule of a link that alternately works and is cut.

    up, down: how long it works and how long it is cut, such as "9s" and "1s".
    times: number of cuts; without it the link flaps until the schedule is stopped.
    Raises UnitError, ConditionError.
    """
    works, gap = duration(up), duration(down)
    if not works or not gap:
        raise ConditionError(f"a link that is up for {up} and down for {down} does not flap", fix="give two times above 0")
    if times is not None:
        steps = [Step(each * (works + gap) + at, mark) for each in range(times) for at, mark in
                 ((works, Mark.CUT), (works + gap, Mark.RESTORE))]  # fmt: skip
        return Schedule((Track(tuple(steps)),))
    # In an endless schedule, the first step of a round restores the cut of the previous round.
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
    raise ConditionError(f"{value!r} is not a step", fix='a step is a condition, its name, change(...), "cut" or "restore"')


def _cuts(action: Action) -> bool:
    if isinstance(action, Mark):
        return action is Mark.CUT
    return action.cut if isinstance(action, Condition) else dict(action.fields).get("loss") == Chance(1.0)


def _after(step: Step, condition: Condition, seeded: Callable[[Condition], Condition]) -> Condition:
    assert not isinstance(step.action, Mark)
    try:
        if not isinstance(step.action, Change):
            return seeded(step.action)
        changed = step.action.of(condition)
        is_seeded = changed.seed is not None and "seed" not in dict(step.action.fields)
        return changed if is_seeded else seeded(changed)
    except ConditionError as error:
        raise ConditionError(error.what, f"the schedule's step at {show_duration(step.at)}", error.fix) from None
