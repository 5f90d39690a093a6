"""Leaves slownet's own frames out of the traceback of an error that it raised: the caller's line is what to look at.

A mark in each function, pytest's ``__tracebackhide__``, would hide them of any error, and of slownet's own faults too. Only an
error that reports by itself what, where and how to fix it is shown so; ``--full-trace`` shows all of it.
"""

from __future__ import annotations

import sysconfig
from pathlib import Path
from types import TracebackType

import pytest

from slownet.lab.run.place import PACKAGE
from slownet.model.errors import SlownetError
from slownet.model.importing import PACKAGE_FOLDERS

_LIBRARIES = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def hide(config: pytest.Config, excinfo: pytest.ExceptionInfo[BaseException] | None) -> None:
    """Leave out the frames behind the caller's last one, and causes that the caller has no part in."""
    if excinfo is None or not isinstance(excinfo.value, SlownetError) or config.getoption("fulltrace", False):
        return
    _relink(excinfo.tb)
    excinfo.traceback = type(excinfo.traceback)(excinfo.tb)
    error: BaseException = excinfo.value
    while (cause := error.__cause__ or (None if error.__suppress_context__ else error.__context__)) is not None:
        if not _has_callers(cause.__traceback__):
            error.__cause__, error.__suppress_context__ = None, True
            return
        error = cause


def _relink(first: TracebackType) -> None:
    """Take slownet's frames, and what is behind the caller's last one, out of a chain. pytest follows the chain itself."""
    links = []
    link: TracebackType | None = first
    while link:
        links.append(link)
        link = link.tb_next
    of_caller = [number for number, each in enumerate(links) if is_callers(_file(each))]
    if of_caller:
        kept = [first, *(each for each in links[1 : of_caller[-1] + 1] if not _file(each).is_relative_to(PACKAGE))]
        for each, following in zip(kept, [*kept[1:], None], strict=False):
            each.tb_next = following


def _file(link: TracebackType) -> Path:
    return Path(link.tb_frame.f_code.co_filename)


def is_callers(path: Path) -> bool:
    """Return whether a file is neither slownet's nor a library's."""
    return path.is_absolute() and not (
        any(path.is_relative_to(each) for each in (PACKAGE, *_LIBRARIES)) or set(PACKAGE_FOLDERS) & set(path.parts)
    )


def _has_callers(traceback: TracebackType | None) -> bool:
    while traceback:
        if is_callers(_file(traceback)):
            return True
        traceback = traceback.tb_next
    return False
