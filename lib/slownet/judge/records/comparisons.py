"""The comparisons of a test that runs in several boots: what each boot measured, and when they are judged.

A test compares one measured number after the other. If it runs again, on a network and services that are made anew, its first
comparison is again about the first number, and so on: each has one value a boot, and the boots' values are the units, as in a
run (`slownet.judge.records.intervals`). Boots that agree to the bit are exact from `AGREEING` boots on.

A test with a given number of boots is judged in the last one. Any other test is judged in its first boot; only if it failed
at a comparison that this boot cannot decide, it is run again and judged at `looks`. The later looks share one error rate, so
that looking again does not make wrong decisions more likely. In the boots between, comparisons hold, so that the test goes on
to its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from math import inf
from statistics import fmean

from slownet.judge.records.exactness import AGREEING
from slownet.theory.stats import DECIDING, Summary, from_moments, mean_and_sd

MOST = 10
"""The most boots of a test that does not state their number, unless the session overrides it."""


def looks(most: int) -> tuple[int, ...]:
    """Return the boots in which a test is judged unless it states their number: `most` is the last.

    >>> looks(10), looks(1), looks(30)
    ((1, 4, 7, 10), (1,), (1, 4, 7, 10, 15, 22, 30))
    """
    found = [1, AGREEING, 7, MOST]
    while found[-1] < most:
        found.append(found[-1] * 3 // 2)
    return (*(each for each in found if each < most), most)


def pooled(found: Sequence[Summary], confidence: float) -> Summary:
    """Combine one number of several boots.

    found: the number in each boot, with its interval within that boot.
    confidence: of the result, unless there is only one boot.
    returns: the mean of the boots with the t interval of their spread; exact if `AGREEING` boots or more gave the same number.
    """
    if len(found) == 1:
        return found[0]
    means = [each.mean for each in found]
    if len(set(means)) > 1:
        middle, spread = mean_and_sd(means)
        return from_moments(middle, spread, len(found), confidence)
    if len(found) >= AGREEING:
        return Summary(means[0], means[0], means[0], len(found), None, confidence)
    return max((each.at_confidence(confidence) for each in found), key=lambda each: each.half_width)


class Comparisons:
    """Those of one test.

    boots: how many boots judge; as many as the comparisons need unless given.
    most: the most boots if their number is not given.
    """

    def __init__(self, boots: int | None = None, most: int = MOST) -> None:
        self._stated = boots
        self._looks = looks(most)
        self._found: dict[tuple[int, str], list[Summary]] = {}
        self._settled: dict[tuple[int, str], Summary] = {}
        self._late: dict[tuple[int, str], list[float]] = {}
        self._at: tuple[int, str] = (0, "")
        self._is_open = False
        self.compared: list[tuple[str, Summary]] = []
        """The numbers that this boot's comparisons are about, in order, by their metrics."""
        self.boot = 0
        self.boots = 1
        """The number of boots that the last comparison uses."""

    def begin(self) -> None:
        """Begin a boot."""
        self.boot += 1
        self._at, self._is_open = (0, ""), False
        self.compared = []

    @property
    def most(self) -> int:
        """The largest number of boots."""
        return self._stated or self._looks[-1]

    @property
    def holds(self) -> bool:
        """True if comparisons hold in this boot whatever they find, because they are judged in a later one."""
        return self.boot != self._stated if self._stated else self.boot not in self._looks

    @property
    def goes_on(self) -> bool:
        """True if another boot is needed, if the test failed at its last comparison or this boot's comparisons hold."""
        return self.boot < self.most and (self.holds or (not self._stated and self._is_open))

    @property
    def late(self) -> float:
        """The share of the last comparison's mean that its interval begins earlier: the mean of the boots'."""
        return fmean(self._late.get(self._at, [0.0]))

    def take(self, kind: str, found: Summary, late: float = 0.0) -> Summary:
        """Add what this boot found in the next comparison, and return what all boots found.

        kind: which comparison it is. late: at most this share of the mean is due to processors that wake late. They do so in
        every boot, so that no number of boots distinguishes it from what is compared: the interval begins by so much earlier.
        """
        self._at = at = (self._at[0] + 1, kind)
        self._late.setdefault(at, []).append(late)
        values = self._found.setdefault(at, [])
        values.append(found)
        self.boots = len(values)
        if at in self._settled:
            return self._settled[at]
        if self._stated and len(values) < self.boot:  # not reached in each boot
            return replace(found, low=-inf, high=inf, df=0)
        found = pooled(values, DECIDING if self._stated else self._later)
        return replace(found, low=found.low - self.late * abs(found.mean))

    @property
    def _later(self) -> float:
        """The confidence of a look after the first one."""
        return 1 - (1 - DECIDING) / max(1, len(self._looks) - 1)

    def judged(self, found: Summary, is_open: bool) -> None:
        """Note whether the comparison that was taken last is decided. One that is stays so in later boots."""
        self._is_open = is_open
        if not is_open and not self.holds:
            self._settled[self._at] = found


_current: ContextVar[Comparisons | None] = ContextVar("comparisons", default=None)


def current() -> Comparisons:
    """Return those of the running test; new ones, of a single boot, outside of one."""
    found = _current.get()
    if found is None:
        found = Comparisons(1)
        found.begin()
    return found


@contextmanager
def compared_in(comparisons: Comparisons) -> Iterator[None]:
    """Make the comparisons in this context those of a test."""
    token = _current.set(comparisons)
    try:
        yield
    finally:
        _current.reset(token)
