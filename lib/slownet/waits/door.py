"""The door of `slownet why`: an account from captures."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from slownet.model.errors import ToolError
from slownet.model.options import CAPTURE
from slownet.waits import client_operation, flows, trace
from slownet.waits.account import Account
from slownet.waits.causes import Asked, Causes
from slownet.waits.trace import HostCapture
from slownet.waits.walk import Walk


def account(
    captures: Sequence[HostCapture], client: str | None = None, *, whole: bool = False, free: bool = True,
    asked: Asked = lambda packet: "",
) -> Account:  # fmt: skip
    """Account for the time of an operation.

    Parameters
    ----------
    captures : sequence of HostCapture
        Of all hosts.
    client : str, optional
        The host that began it; by default the first one that sent something.
    whole : bool
        Whether connections to one server that follow each other are one operation; otherwise it is the last of them.
    free : bool
        Whether computing took no time on the clock of the captures.
    asked : callable
        Returns what a packet's message says.

    Returns
    -------
    Account

    Raises
    ------
    SlownetError
        A capture cannot be read, or shows no operation.
    """
    with _uncollected():
        seen = trace.read(captures)
        flows.follow(seen)
        found = _operation(seen, client, whole, min((each.between[1] for each in captures), default=sys.maxsize))
        parts = Walk(seen, found.client, found.begin).back(found.last, arrived=True)
        steps = Causes(seen, parts, asked, free, (found.begin, found.last.arrived)).steps()
    return Account(found.words, found.client, tuple(steps), found.beside, seen.notes, free)


def _operation(seen: trace.Trace, client: str | None, whole: bool, until: int) -> client_operation.Operation:
    """Return the operation; where none is found, the error states which capture was cut off, if one was."""
    try:
        return client_operation.find(seen, client, whole, until)
    except ToolError as error:
        cut = next((each for each in seen.notes if trace.CUT_OFF in each), "")
        if not cut:
            raise
        raise ToolError(f"{error.what} ({cut})", fix=f"measure it again with {CAPTURE}") from error


@contextmanager
def _uncollected() -> Iterator[None]:
    """Search for no garbage meanwhile: that takes a third of the time, and packets form no circles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
