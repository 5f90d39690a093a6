"""`--slownet-why`: where the time of a failed test's last operation went, from captures of all hosts during the test."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from slownet.model.errors import SlownetError
from slownet.pytest_plugin import records

if TYPE_CHECKING:
    from slownet.waits.account import Account
    from slownet.waits.live import Captured

SECTION = "slownet why"
SNAPLEN = 256
"""Bytes that are kept of each packet. A lab has its captures in memory, and the causes are in the headers."""
LINES = pytest.StashKey[list[str]]()
TRIED = 3
"""The number of programs, the last first, that are tried until one has used the network."""
ENDS = (pytest.skip.Exception, pytest.xfail.Exception, pytest.exit.Exception, KeyboardInterrupt, SystemExit)
"""Exceptions that end a test without a failure of its own."""


class TimeParts:
    """Captures the packets of each test with a network, and makes the account of one that fails."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        net = item.stash.get(records.NETWORK, None)
        item.stash[LINES] = []
        if net is None:
            return (yield)
        from slownet.net.tool import noted
        from slownet.waits.live import Captured

        captured, programs = Captured(net, whole=False, snaplen=SNAPLEN), list[tuple[int, int]]()
        try:
            captured.__enter__()
        except SlownetError as error:
            item.stash[LINES] = [f"no packet was captured: {error.line}"]
            return (yield)
        try:
            with noted(programs):
                return (yield)
        except ENDS:
            raise
        except BaseException:
            item.stash[LINES] = _lines(captured, programs)
            raise
        finally:
            with suppress(SlownetError):  # no test fails because of its captures
                captured.__exit__(None, None, None)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.failed and report.when == "call" and (lines := item.stash.get(LINES, [])):
            report.sections.append((SECTION, "\n".join(lines)))
        return report


def _lines(captured: Captured, programs: list[tuple[int, int]]) -> list[str]:
    """Return the largest parts of the time of the last operation, a line each, or one line about the problem."""
    from slownet.waits.account_text import answer, largest

    try:
        captured.stop()
        made = _last(captured, programs)
    except SlownetError as error:
        return [f"the time has no account: {error.line}"]
    except Exception as error:  # the test has failed for a reason of its own, which is reported in any case
        return [f"the time has no account: {type(error).__name__}: {error}"]
    notes = (f"note: {each}" for each in made.notes)
    return [answer(made), f"{made.operation}; its largest parts:", *largest(made), *notes]


def _last(captured: Captured, programs: list[tuple[int, int]]) -> Account:
    """Return the account of what the test did by itself after the last program; else of the last program that used the network.

    A program is one that a tool runs. Raises SlownetError if nothing used the network.
    """
    from slownet.waits.account import Cause
    from slownet.waits.live import ALWAYS

    after = (programs[-1][1], ALWAYS[1]) if programs else ALWAYS
    for between in (after, *programs[: -TRIED - 1 : -1]):
        with suppress(SlownetError):
            made = captured.made(between)
            if between != after or any(each.size or each.cause is Cause.HANDSHAKE for each in made.trips()):
                return made
    return captured.made()
