"""What came of a hunt, as data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from slownet.runner.hunt.bench import Example


@dataclass(frozen=True)
class Hunted:
    """What came of a hunt.

    Attributes
    ----------
    directory : Path
        Its folder.
    examples : tuple of Example
        All that was tried, in the order in which it was known.
    first, smallest : Example or None
        The schedule that broke the system first, and the smallest one; None if none did.
    tried : int
        Schedules up to the first that broke it, by the plan; all if none did.
    repeats : str or None
        Where another boot of the smallest schedule differs, empty if in no digit; None if it was not tried.
    is_over : bool
        Whether the budget ended it.
    """

    directory: Path
    examples: tuple[Example, ...]
    first: Example | None = None
    smallest: Example | None = None
    tried: int = 0
    repeats: str | None = None
    is_over: bool = False
