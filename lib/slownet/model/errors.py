"""slownet's exceptions: each states what went wrong, where, and how to fix it.

The command line prints ``str(error)`` without a traceback and exits with status 2.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import cast

from slownet.model.control_characters import visible
from slownet.model.options import Option, here

MAX_LISTED = 12


def _one_line(text: str) -> str:
    return visible(" ".join(str(text).split()))


class SlownetError(Exception):
    """A mistake of the user or a failure, explained in one line.

    ``str()`` gives ``what, where: fix`` without the empty parts. What is quoted may come from a lab or a foreign file,
    so control characters are shown as escapes.

    Parameters
    ----------
    what : str
        What went wrong.
    where : str or Option
        The host, file, option or experiment concerned; ``option`` has it as it was given, if it is an option.
    fix : str
        How to fix it.
    """

    def __init__(self, what: str, where: str | Option = "", fix: str = "") -> None:
        self.what = _one_line(what)
        self.where = _one_line(str(where))
        self.option = where if isinstance(where, Option) else None
        self.fix = _one_line(fix)
        super().__init__(self.what, self.where, self.fix)

    @property
    def line(self) -> str:
        """The one line, without what a subclass appends to it."""
        text = f"{self.what}, {self.where}" if self.where else self.what
        return here(f"{text}: {self.fix}" if self.fix else text)

    def __str__(self) -> str:
        return self.line

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows instead of a traceback: the line, and notes such as how to continue."""
        return [f"{type(self).__name__}: {self}", *getattr(self, "__notes__", ())]


class UnitError(SlownetError):
    """A duration, a rate or a size that cannot be read."""


class ConditionError(SlownetError):
    """A condition that contradicts itself, is out of range, or that the kernel cannot do."""


class ExperimentError(SlownetError):
    """An experiment, a cell or a metric that does not exist or is described wrongly."""


@contextlib.contextmanager
def writing(path: Path, where: str | Option = "") -> Iterator[None]:
    """Raise ExperimentError if the caller's file cannot be written in this block. where: the option that names it."""
    try:
        yield
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        fix = "free space, or name another file" if is_full else "name another file"
        raise ExperimentError(f"cannot write {path} ({error.strerror})", where, fix) from error


class NoCellError(ExperimentError):
    """A condition that was not measured."""


class NoMetricError(ExperimentError, AttributeError):
    """A metric that a record does not have; records have their metrics as attributes."""

    def __init__(self, what: str, where: str | Option = "", fix: str = "") -> None:
        super().__init__(what, where, fix)
        self.name = self.obj = None  # else Python appends a suggestion of its own to a traceback


class DamageWarning(UserWarning):
    """Some of a run's samples are damaged or missing; the message lists them, and the others are used."""


class TooFewError(ExperimentError):
    """Too few values for an answer."""


class SweepError(SlownetError):
    """A sweep that is described wrongly, or whose folder or workers cannot be used."""


class ComposeError(SlownetError):
    """A compose file that cannot be read, or that asks for what a lab does not do; it names file, line and column."""


class LabError(SlownetError):
    """The lab cannot be built or booted, or it died."""


class DamagedError(LabError):
    """A part of the lab, or a file beside it, is no longer what was built."""


class ImageError(SlownetError):
    """A container image that cannot be read, is not kept, or does not run in a lab."""


class TraceError(SlownetError):
    """A recording of a network that cannot be read; it names the file and the line."""


class NetworkError(SlownetError):
    """The emulated network cannot be built, or a link does not do what its condition states."""


class ServiceError(SlownetError):
    """A server that does not start or does not answer.

    Parameters
    ----------
    what, where, fix : str
        As in `SlownetError`.
    log : str
        The last lines of the server's log; ``str()`` shows them, indented, below the line.
    """

    def __init__(self, what: str, where: str | Option = "", fix: str = "", log: str = "") -> None:
        super().__init__(what, where, fix)
        self.log = visible(log.rstrip("\n"))

    def __str__(self) -> str:
        return "\n".join([self.line, *("    " + line for line in self.log.splitlines())])


class ToolError(SlownetError):
    """A client program is missing, failed, or printed something that its parser does not understand.

    Parameters
    ----------
    what, where, fix : str
        As in `SlownetError`.
    raw : str
        Everything that the program printed; ``str()`` leaves it out.
    """

    def __init__(self, what: str, where: str | Option = "", fix: str = "", raw: str = "") -> None:
        super().__init__(what, where, fix)
        self.raw = raw


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a suggestion for an unknown name.

    name: the unknown name.
    known: the known ones.
    returns: the nearest known name, or a list of the first 12 if none is near.
    """
    import difflib  # only an error needs it

    names = sorted(set(known))
    close = difflib.get_close_matches(name.lower(), [each.lower() for each in names], n=1)
    if close:
        alike = [each for each in names if each.lower() == close[0]]  # a class and a function, perhaps
        return f"did you mean '{difflib.get_close_matches(name, alike, n=1, cutoff=0)[0]}'?"
    if not names:
        return "there are none"
    return f"choose from {first_of(names)}"


def first_of(names: Sequence[str], most: int = MAX_LISTED, between: str = ", ") -> str:
    """Return the first names of a list, and how many more there are.

    >>> first_of(["web", "db", "client"], 2)
    'web, db and 1 more'
    >>> first_of(["rtt 0ms", "rtt 10ms"], between="; ")
    'rtt 0ms; rtt 10ms'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return between.join(names[:most]) + more


def numeric(where: str, **given: object) -> None:
    """Raise SlownetError if one of these arguments of a function, by name, is not a number."""
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, Real):
            raise SlownetError(f"{name} is {value!r}", f"in {where}", "give a number")


def above_zero(where: str, **given: float) -> None:
    """Raise SlownetError if one of these numbers of a function is not above 0.

    where: the function's name.
    **given: its arguments, by name.
    """
    numeric(where, **given)
    for name, value in given.items():
        if not value > 0:
            raise SlownetError(f"{name} is {value:g}", f"in {where}", "give more than 0")


def counts(where: str, **given: float) -> None:
    """Raise SlownetError if one of these arguments of a function, by name, is not a whole number above 0."""
    above_zero(where, **given)
    for name, value in given.items():
        if not isinstance(cast(object, value), Integral):
            raise SlownetError(f"{name} is {value:g}", f"in {where}", "give a whole number")
