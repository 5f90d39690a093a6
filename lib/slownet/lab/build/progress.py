"""Progress of a long step of a build, which logs a line for each file: how much is done, and how long the rest takes."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from slownet.model.beside import beside

Say = Callable[[str], None]
COMPILED = re.compile(rb"^  (?:CC|AS)  +", re.M)
"""The lines of the kernel's makefiles that name a file which is compiled."""
FIRST_S, EVERY_S = 15.0, 60.0
ENOUGH = 0.05
"""The share of the files after which the time for the others is estimated: the first ones are small."""


def sentence(done: int, total: int, seconds: float) -> str:
    """Return how far a step is.

    Parameters
    ----------
    done, total : int
        Files; 0 for a total that is not known. More than the total may come: another release has other files.
    seconds : float
        Since the step began.
    """
    if not total:
        return f"{done} files compiled"
    said = f"{done} of some {max(total, done)} files compiled"
    if done < ENOUGH * total or done >= total:
        return said
    minutes = round(seconds * (total - done) / done / 60)
    return f"{said}, about {max(minutes, 1)} minute{'s' if minutes > 1 else ''} left"


@contextlib.contextmanager
def reported(log: Path, total: int, say: Say) -> Iterator[None]:
    """Report once a minute how far a step is while the block runs, from the lines that it adds to its log."""
    before = log.stat().st_size if log.exists() else 0

    def report(ended: threading.Event) -> None:
        began = time.monotonic()
        wait = FIRST_S
        while not ended.wait(wait):
            done = _compiled(log, before)
            say(sentence(done, total, time.monotonic() - began))
            wait = EVERY_S

    with beside(report):
        yield


def _compiled(log: Path, before: int) -> int:
    """Count the files in what was added to a log."""
    with open(log, "rb") as file:
        file.seek(before)
        return len(COMPILED.findall(file.read()))
