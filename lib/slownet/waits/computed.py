"""Names the programs that computed, on a clock that charges for CPU, and the waits that cannot have been computing.

A host's kernel counts the CPU time of each program. A step on a host that is longer than all of them together has computed
during the capture was a wait, but for that part. Of the host that began the operation, this is not known: a client has often
ended before its time is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from slownet.model.errors import first_of
from slownet.waits.account import OR_A_TIMER, Cause, Step
from slownet.waits.trace import Trace

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
