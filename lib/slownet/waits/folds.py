"""Blocks that follow each other and repeat, as one: 200 times a question and the program's pause after it.

An account of 100,000 steps is read by the few parts that this leaves, and each of them has its steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from slownet.waits.account import Cause, Step
from slownet.waits.blocks import Block

LONGEST_PATTERN = 8
"""Blocks of a pattern, at most."""
LEAST_TIMES = 3
"""Repetitions that make a pattern."""


@dataclass(frozen=True)
class Fold:
    """Blocks that are shown as one.

    Attributes
    ----------
    blocks : tuple of Block
        In order.
    pattern : int
        The number of blocks that repeat; 0 if they do not, and are only the short ones between longer ones.
    """

    blocks: tuple[Block, ...]
    pattern: int = 1

    @property
    def times(self) -> int:
        """The number of its repetitions."""
        return len(self.blocks) // self.pattern if self.pattern else 1

    @property
    def kinds(self) -> tuple[Block, ...]:
        """The pattern's blocks, as they come the first time."""
        return self.blocks[: self.pattern]

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, in order."""
        return tuple(step for each in self.blocks for step in each.steps)

    @property
    def ns(self) -> int:
        """The time of its steps."""
        return sum(each.ns for each in self.blocks)

    @property
    def begin_ns(self) -> int:
        """When its first step begins."""
        return self.blocks[0].begin_ns

    @property
    def end_ns(self) -> int:
        """When its last step ends. Steps between, which blocks leave out, are within it and do not count as its time."""
        return self.blocks[-1].steps[-1].end_ns

    @property
    def round_trips(self) -> float:
        """Half the number of messages that crossed the network."""
        return sum(each.round_trips for each in self.blocks)

    @property
    def cause(self) -> Cause:
        """The cause that takes most of its time."""
        by: dict[Cause, int] = {}
        for each in self.blocks:
            by[each.cause] = by.get(each.cause, 0) + each.ns
        return max(by, key=lambda cause: by[cause])

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that its steps touch."""
        return tuple(dict.fromkeys(host for each in self.blocks for host in (each.source, each.target)))


def folds(blocks: Sequence[Block], most: int | None = None) -> list[Fold]:
    """Return blocks with their repetitions folded.

    Parameters
    ----------
    blocks : sequence of Block
        In order.
    most : int, optional
        How many folds there may be, at least 3. With more, the shorter ones that follow each other are one.

    Returns
    -------
    list of Fold
        In order; together they have all blocks.
    """
    keys = [(each.cause, frozenset((each.source, each.target)), bool(each.round_trips)) for each in blocks]
    found, at = [], 0
    while at < len(blocks):
        length, times = _repeated(keys, at)
        found.append(Fold(tuple(blocks[at : at + length * times]), length))
        at += length * times
    return found if most is None or len(found) <= most else list(_at_most(found, most))


def _repeated(keys: Sequence[object], at: int) -> tuple[int, int]:
    """Return the length and the times of the pattern that covers most from a place on; (1, 1) if nothing repeats."""
    best = 1, 1
    for length in range(1, min(LONGEST_PATTERN, (len(keys) - at) // LEAST_TIMES) + 1):
        times = 1
        while keys[at + times * length : at + (times + 1) * length] == keys[at : at + length]:
            times += 1
        if times >= LEAST_TIMES and times * length > best[0] * best[1]:
            best = length, times
    return best


def _at_most(found: Sequence[Fold], most: int) -> Iterator[Fold]:
    """Yield the longest ones as they are, and what is between two of them as one. Half of them may be such."""
    longest = {id(each) for each in sorted(found, key=lambda each: -each.ns)[: max(1, (most - 1) // 2)]}
    between: list[Fold] = []
    for each in found:
        if id(each) in longest:
            yield from _joined(between)
            between = []
            yield each
        else:
            between.append(each)
    yield from _joined(between)


def _joined(between: Iterable[Fold]) -> Iterator[Fold]:
    parts = tuple(between)
    if len(parts) > 1:
        yield Fold(tuple(block for each in parts for block in each.blocks), 0)
    else:
        yield from parts
