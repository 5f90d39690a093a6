"""Explains failures in pytest: measured and expected values, conditions and the clock; slownet's own frames are left out."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from types import TracebackType

import pytest

from slownet.lab.run.clock import FREE
from slownet.model.errors import SlownetError
from slownet.model.importing import PACKAGE, PACKAGE_FOLDERS
from slownet.pytest_plugin import records

# A mark in each function, pytest's ``__tracebackhide__``, would hide them of any error, and of slownet's own faults too. Only
# an error that reports by itself what, where and how to fix it is shown so; ``--full-trace`` shows all of it.

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


SECTION = "slownet"


def comparison(op: str, left: object, right: object) -> list[str] | None:
    """Return the lines of a failed comparison of a measured number with an expectation; None for other comparisons."""
    expecting = sys.modules.get("slownet.judge.claim.expect")  # if it was not imported, there is no expectation
    for side, other in ((right, left), (left, right)):
        if expecting and isinstance(side, expecting.Expectation) and side.judgement is not None:
            return [f"{other!r} {op} expected", *str(side).split("; ")]
    return None


def with_the_network(item: pytest.Item, report: pytest.TestReport) -> pytest.TestReport:
    """Add a section about the network to a failed test's report."""
    net = item.stash.get(records.NETWORK, None)
    item.stash[records.FAILED] = report.failed or item.stash.get(records.FAILED, False)
    if report.failed and net is not None and report.when != "teardown":
        lines = [records.place()]
        if records.facts().get("cpu") == FREE:
            lines.append("the CPU is free: what programs compute takes no time (--slownet-tdf auto charges it)")
        lines += [f"link set: {each}" for each in net.settings] or ["no link was set"]
        record = item.stash.get(records.RECORD, None)
        lines += [f"measured: {each}" for each in record.lines] if record else []
        lines += [f"claimed: {each['verdict']}: {each['text']}" for each in record.judged] if record else []
        report.sections.append((SECTION, "\n".join(lines)))
    return report
