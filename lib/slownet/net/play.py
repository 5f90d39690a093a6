"""Plays a schedule on a link: a thread applies each step at its time on the network's clock."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from slownet.links.conditions.link import Condition
from slownet.links.conditions.oneway import OneWay
from slownet.links.conditions.schedule import Schedule, State
from slownet.model.errors import NetworkError
from slownet.net import neighbours
from slownet.net.shaping import Shaping

T = TypeVar("T")


class Reshaped(Protocol):
    """The part of a link that is used here; see `slownet.net.network_link.Link`."""

    @property
    def name(self) -> str: ...

    @property
    def condition(self) -> Condition: ...

    @property
    def directions(self) -> tuple[OneWay, OneWay]: ...

    def apply_directions(self, each: tuple[OneWay, OneWay]) -> None: ...

    def apply(self, condition: Condition, since: Condition | None = None) -> None: ...


@dataclass(frozen=True)
class Applied:
    """A step: when it was due and when the kernel had confirmed it, in seconds since the schedule's start, and its text."""

    planned: float
    actual: float
    what: str


@dataclass
class Played:
    """The steps of a schedule that were applied to a link."""

    link: str
    steps: list[Applied] = field(default_factory=list)
    is_over: bool = False

    @property
    def latest(self) -> float:
        """The largest delay of a step, in seconds."""
        return max((step.actual - step.planned for step in self.steps), default=0.0)

    def to_json(self) -> dict[str, object]:
        """Return {"link", "steps": [{"planned_s", "actual_s", "what"}]}."""
        steps = [
            {"planned_s": round(step.planned, 9), "actual_s": round(step.actual, 9), "what": step.what} for step in self.steps
        ]
        return {"link": self.link, "steps": steps}


class Timed(ABC, Generic[T]):
    """Applies steps at their times, in a thread of its own.

    `start` is the start time on the monotonic clock; `follow` gets each step when it was applied. A subclass calls `_begin` and
    `_end`, and applies a step in `_apply`.
    """

    def __init__(self, name: str, log: list[Played]) -> None:
        self._log = log
        self._over = threading.Event()
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        self.played = Played(name)
        self.follow: Callable[[Applied], object] = lambda step: None
        self.start = 0.0

    @property
    def steps(self) -> list[Applied]:
        """The steps that were applied so far."""
        return self.played.steps

    @abstractmethod
    def _apply(self, step: T) -> str:
        """Apply a step; return what it is, as text."""

    def _begin(self, steps: Iterator[tuple[float, T]]) -> None:
        """Apply the steps that are due at 0 s, and start the thread for the others."""
        self.start = time.monotonic()
        following = next(steps, None)
        while following is not None and following[0] <= 0:
            self._take(*following)
            following = next(steps, None)
        self._log.append(self.played)
        self._thread = threading.Thread(
            target=self._play, args=(following, steps), name=f"steps of {self.played.link}", daemon=True
        )
        self._thread.start()

    def wait(self) -> None:
        """Wait until all steps are done."""
        if self._thread:
            self._thread.join()

    def _end(self) -> None:
        """End the thread; `_raise` raises what went wrong in it."""
        self._over.set()
        if self._thread:
            self._thread.join()
        self.played.is_over = True

    def _raise(self, error: BaseException | None) -> None:
        """Raise what went wrong in a step, or note it on the error that has ended the ``with`` block."""
        if self._error and error is None:
            raise self._error
        if self._error and error is not None:
            error.add_note(f"the schedule on {self.played.link} ended early: {self._error}")

    def _play(self, following: tuple[float, T] | None, steps: Iterator[tuple[float, T]]) -> None:
        try:
            while following is not None:
                if self._over.wait(max(0.0, self.start + following[0] - time.monotonic())):
                    return
                self._take(*following)
                following = next(steps, None)
        except BaseException as error:  # raised again at the end of the block
            self._error = error

    def _take(self, at: float, step: T) -> None:
        what = self._apply(step)
        self.steps.append(Applied(at, time.monotonic() - self.start, what))
        self.follow(self.steps[-1])


class Playing(Timed[State]):
    """A schedule that plays while a `with` lasts; see `Link.play`.

    `start` is its start time on the monotonic clock.
    """

    def __init__(
        self, link: Reshaped, ends: tuple[Any, Any], schedule: Schedule, log: list[Played], shaping: Shaping,
        seeded: Callable[[Condition], Condition] = lambda condition: condition,
    ) -> None:  # fmt: skip
        super().__init__(link.name, log)
        self._link = link
        self._ends = ends
        self._schedule = schedule
        self._seeded = seeded
        self._shaping = shaping

    def __enter__(self) -> Self:
        cable = self._ends[0].link
        if cable in self._shaping.playing or self._thread is not None:
            raise NetworkError(
                f"a schedule is already playing on {self._link.name}", fix="join the two: schedule.beside(another)"
            )
        self._before = self._now = self._link.condition
        self._sides = self._link.directions
        self._schedule.check(self._before)
        with ExitStack() as undone:
            for end in self._ends:
                self._shaping.programs.run(end, [])  # starts tc before the first step is due
            self._shaping.playing.add(cable)
            undone.callback(self._shaping.playing.discard, cable)
            if self._schedule.cuts:
                undone.enter_context(neighbours.known(self._ends, self._shaping.introduced))
            undone.callback(self._restore)
            states = self._schedule.states(self._before, self._seeded)
            self._begin((state.at, state) for state in states)
            self._undone = undone.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end()
        self._undone.close()
        self._raise(error)

    def _restore(self) -> None:
        self._link.apply_directions(self._sides)

    def _apply(self, step: State) -> str:
        self._link.apply(step.condition, self._now)
        self._now = step.condition
        return str(step)
