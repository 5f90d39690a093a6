"""The project's own errors: each says what went wrong, where, and how to put it right.

The command line prints ``str(error)`` and exits 2; nobody but a developer should see a traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MAX_LISTED = 12


def _one_line(text: str) -> str:
    return " ".join(str(text).split())


class SlownetError(Exception):
    """A mistake or a failure that one line explains.

    ``str()`` gives ``what, where: fix``; parts left empty are left out.

    Parameters
    ----------
    what
        What went wrong.
    where
        The host, file, option or experiment that it is about.
    fix
        How to put it right.
    """

    def __init__(self, what: str, where: str = "", fix: str = "") -> None:
        self.what = _one_line(what)
        self.where = _one_line(where)
        self.fix = _one_line(fix)
        super().__init__(self.what, self.where, self.fix)

    @property
    def line(self) -> str:
        """The one line, without anything that a subclass appends to it."""
        text = f"{self.what}, {self.where}" if self.where else self.what
        return f"{text}: {self.fix}" if self.fix else text

    def __str__(self) -> str:
        return self.line


class UnitError(SlownetError):
    """A duration, a rate or a size that cannot be read."""


class ConditionError(SlownetError):
    """A condition that contradicts itself, is out of range, or that the kernel cannot do."""


class ExperimentError(SlownetError):
    """An experiment, a cell or a metric that is not there, or one that is described wrongly."""


class NoCellError(ExperimentError):
    """A condition that was not measured."""


class TooFewError(ExperimentError):
    """Fewer values than an answer takes."""


class LabError(SlownetError):
    """The lab cannot be built or booted, or it died."""


class TraceError(SlownetError):
    """A recording of a network that cannot be read; it names the file and the line."""


class NetworkError(SlownetError):
    """The emulated network did not come up, or a link does not do what it was told."""


class ServiceError(SlownetError):
    """A server that does not start or does not answer.

    Parameters
    ----------
    what, where, fix
        As in `SlownetError`.
    log
        The last lines that the server logged; ``str()`` shows them, indented, below the line.
    """

    def __init__(self, what: str, where: str = "", fix: str = "", log: str = "") -> None:
        super().__init__(what, where, fix)
        self.log = log.rstrip("\n")

    def __str__(self) -> str:
        return "\n".join([self.line, *("    " + line for line in self.log.splitlines())])


class ToolError(SlownetError):
    """A client program that is missing, failed, or printed what its parser does not know.

    Parameters
    ----------
    what, where, fix
        As in `SlownetError`.
    raw
        Everything that the program printed; ``str()`` leaves it out.
    """

    def __init__(self, what: str, where: str = "", fix: str = "", raw: str = "") -> None:
        super().__init__(what, where, fix)
        self.raw = raw


def nearest(name: str, known: Iterable[str]) -> str:
    """What to suggest for a name that is not known: the nearest known one, else a list of them."""
    names = sorted(set(known))
    by_lower = {each.lower(): each for each in names}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    if close:
        return f"did you mean '{by_lower[close[0]]}'?"
    if not names:
        return "there are none"
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return "choose from " + ", ".join(names[:MAX_LISTED]) + more
