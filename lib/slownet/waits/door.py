"""The door of `slownet why`: an account from captures."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from slownet.model.errors import ToolError, first_of
from slownet.model.options import CAPTURE
from slownet.waits import behind, client_operation, flows, trace
from slownet.waits.account import OR_A_TIMER, Account, Cause, Step
from slownet.waits.causes import Asked, Causes
from slownet.waits.packets import Packet
from slownet.waits.trace import HostCapture, Trace
from slownet.waits.walk import Walk

# Names the programs that computed, on a clock that charges for CPU, and the waits that cannot have been computing.
#
# A host's kernel counts the CPU time of each program. A step on a host that is longer than all of them together has computed
# during the capture was a wait, but for that part. Of the host that began the operation, this is not known: a client has often
# ended before its time is asked for.

SHOWN = 3
TICKS_NS = 10_000_000
"""CPU time that the kernel's counts may lack, as they are in ticks."""
LEAST = 0.05
"""The least part of a host's CPU time of a program that is named."""


def named(steps: Iterable[Step], trace: Trace, client: str) -> list[Step]:
    """Return steps with the programs of their hosts, where the kernels know them."""
    return [_named(each, trace.hosts[each.source].kernel.cpu_us, each.source == client) for each in steps]


def _named(step: Step, cpu_us: Mapping[str, int], is_clients: bool) -> Step:
    if step.cause is not Cause.COMPUTING or not step.detail.startswith(OR_A_TIMER) or not cpu_us:
        return step
    most_ns = 1000 * sum(cpu_us.values()) + TICKS_NS
    programs = _shares(cpu_us)
    if step.ns > most_ns and not is_clients:
        return step._replace(cause=Cause.TIMER, detail=f"at most {most_ns / 1e6:,.3g} ms of it computing, {programs}")
    return step._replace(detail=f"{OR_A_TIMER}: {programs}" if is_clients else programs)


def _shares(cpu_us: Mapping[str, int]) -> str:
    """Return programs with their shares of the time as text, the largest first: "php-fpm 71 %, nginx 20 %"."""
    whole = sum(cpu_us.values()) or 1
    by_time = sorted(cpu_us.items(), key=lambda each: -each[1])
    found = [(name, us / whole) for name, us in by_time if us >= LEAST * whole][:SHOWN]
    if len(cpu_us) == 1 or not found:
        return first_of(list(cpu_us), SHOWN)
    return ", ".join(f"{name} {100 * share:.0f} %" for name, share in found)


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
        Returns a packet's message.
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
        steps = steps if free else named(steps, seen, found.client)
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
