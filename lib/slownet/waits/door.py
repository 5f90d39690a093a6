"""The door of `slownet why`: an account from captures."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from slownet.model.errors import ToolError
from slownet.model.options import CAPTURE
from slownet.waits import behind, client_operation, computed, flows, trace
from slownet.waits.account import Account
from slownet.waits.causes import Asked, Causes
from slownet.waits.packets import Packet
from slownet.waits.trace import HostCapture
from slownet.waits.walk import Walk


def account(
    captures: Sequence[HostCapture], client: str | None = None, *, whole: bool = False, free: bool = True,
    asked: Asked = lambda packet: "", is_of_request: Callable[[Packet], bool] = lambda packet: False,
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
    is_of_request : callable
        Returns whether a packet of QUIC is known to carry a part of a request or answer: the last such one ends an operation.

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
        between = captures[0].between if captures else HostCapture.between
        found = _operation(seen, client, whole, between, is_of_request)
        parts = Walk(seen, found.client, found.begin, free).back(found.last, arrived=True)
        steps = Causes(seen, parts, asked, free, (found.begin, found.last.arrived)).steps()
        steps = steps if free else computed.named(steps, seen, found.client)
    return Account(found.words, found.client, tuple(steps), found.beside, (*seen.notes, *behind.notes(seen)), free)


def _operation(
    seen: trace.Trace, client: str | None, whole: bool, between: tuple[int, int], is_of_request: Callable[[Packet], bool]
) -> client_operation.Operation:
    """Return the operation; where none is found, the error states which capture was cut off, if one was."""
    try:
        return client_operation.find(seen, client, whole, between, is_of_request)
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
