"""Names the timers of programs, and the reason of a request's wait on a host, by the sleeping calls of programs there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from slownet.net.sleeping_calls import ARMED, LOCKS, SLEEP, SleepingCall
from slownet.waits.account import Account, Cause, Step
from slownet.waits.trace import AT_ONCE_NS

LEAST = 0.01
"""Waits with a smaller part of the time together are not worth another measurement."""
ALIKE_NS, ALIKE = 2_000_000, 0.02
"""The largest difference of two measurements of one wait, as ns and as a part: strace reads the clock, and ticks move."""
LATER_NS = 1_000_000
"""The longest time from a call to the packet that it caused, also by way of other processes: strace delays their calls."""
FOR_ANOTHER = ": it worked for a request that had come before"
"""The end of a wait's detail, after the process."""
MOST_NAMES = 3
KERNELS = "as long as TCP_CORK"
"""A timer that no program's call is."""


def unnamed(account: Account) -> int:
    """Return the ns of an account's waits that a program's call may name."""
    return sum(each.ns for each in account.steps if _is_open(each))


def nameless(account: Account) -> int:
    """Return the ns of an account's waits that have no name of a program's call."""
    return sum(each.ns for each in account.steps if _is_open(each) and ": " not in each.detail)


def named(account: Account, calls: Sequence[SleepingCall]) -> Account:
    """Return an account whose waits on hosts have their process and call, as far as the calls of the same time show them."""
    by_host: dict[str, list[SleepingCall]] = defaultdict(list)
    for each in calls:
        by_host[each.host].append(each)
    steps = [one for each in account.steps for one in _named(each, by_host[each.source])]
    return replace(account, steps=tuple(steps))


def named_alike(account: Account, other: Account) -> Account:
    """Return an account with the names of waits of another measurement of the same, whose programs were traced.

    Waits belong together if they have one host, one cause and one duration, in this order.
    """
    waiting: dict[tuple[str, Cause], list[tuple[Step, ...]]] = defaultdict(list)
    before: Step | None = None
    for each in other.steps:
        if each.cause in _OPEN and each.ns > AT_ONCE_NS:
            if before is not None and before.detail.endswith(FOR_ANOTHER):
                waiting[before.source, before.cause].pop()
                waiting[each.source, each.cause].append((before, each))
            else:
                waiting[each.source, each.cause].append((each,))
        before = each
    return replace(account, steps=tuple(_carried(account.steps, waiting)))


def _carried(steps: Sequence[Step], waiting: Mapping[tuple[str, Cause], list[tuple[Step, ...]]]) -> Iterator[Step]:
    for each in steps:
        same = waiting.get((each.source, each.cause), []) if _is_open(each) else []
        place = next((number for number, one in enumerate(same) if _takes_as_long(each, one)), None)
        if place is None:
            yield each
        else:
            *first, last = same[place]
            begin = each.begin_ns + sum(one.ns for one in first)
            if first:
                yield first[0]._replace(begin_ns=each.begin_ns, end_ns=begin)
            yield each._replace(begin_ns=begin, detail=last.detail)
            del same[: place + 1]


def _takes_as_long(one: Step, other: Sequence[Step]) -> bool:
    return abs(one.ns - sum(each.ns for each in other)) <= max(ALIKE_NS, ALIKE * one.ns)


_OPEN = (Cause.TIMER, Cause.WAITING)


def _is_open(step: Step) -> bool:
    """Return whether a step is a wait whose call may be found."""
    return step.cause in _OPEN and step.ns > AT_ONCE_NS and not step.detail.startswith(KERNELS)


def _named(step: Step, calls: Sequence[SleepingCall]) -> Iterator[Step]:
    """Yield a wait with its process and call, if any ended with it; in two parts if the process had worked for another request.

    A process that sleeps does nothing else meanwhile: if its host answered others as one of its calls ended, then what it slept
    until then was not for this request.
    """
    if not _is_open(step):
        yield step
        return
    last = _last(step, calls)
    if last is None or step.cause is not Cause.TIMER or (turn := _turn(step, last, calls)) is None:
        yield step._replace(detail=_name(step, last, calls) or step.detail)
        return
    first, second = step._replace(end_ns=turn), step._replace(begin_ns=turn)
    yield first._replace(cause=Cause.WAITING, detail=f"{last.program}{FOR_ANOTHER}", turns=())
    yield second._replace(detail=_of_process(last, second, calls))


def _turn(step: Step, last: SleepingCall, calls: Sequence[SleepingCall]) -> int | None:
    """Return when the process of a step's last call turned to its request, if it had worked for another one until then."""
    own = [each for each in calls if each.process == last.process and each.end_ns > step.begin_ns and each.call == SLEEP]
    for before, after in zip(own[-2::-1], own[:0:-1], strict=True):
        if after.end_ns <= last.end_ns and last.call == SLEEP:
            turns = [
                each
                for each in step.turns
                if before.end_ns - AT_ONCE_NS <= each <= min(after.begin_ns, before.end_ns + LATER_NS)
            ]
            others = {each.process for each in calls if abs(each.end_ns - before.end_ns) <= AT_ONCE_NS} - {last.process}
            if len(turns) > len(others):
                return turns[-1]
    return None


def _last(step: Step, calls: Sequence[SleepingCall]) -> SleepingCall | None:
    """Return the call whose limit ended a step, or that had a lock then."""
    found = [each for each in _ended(step, calls) if each.ended == "limit" or each.call in LOCKS]
    return min(found, key=lambda each: _rank(each, step), default=None)


def _ended(step: Step, calls: Sequence[SleepingCall]) -> list[SleepingCall]:
    return [each for each in calls if -AT_ONCE_NS <= step.end_ns - each.end_ns <= LATER_NS]


def _name(step: Step, last: SleepingCall | None, calls: Sequence[SleepingCall]) -> str:
    """Return process and call of a wait; empty if no call ended with it."""
    if last is not None:
        return _of_process(last, step, calls)
    return _of_waiting(step, _ended(step, calls), calls) if step.cause is Cause.WAITING else ""


def _rank(call: SleepingCall, step: Step) -> tuple[bool, bool, int]:
    """Return the order of the calls that may have ended a step: what began in it, what ended at once with it, the longest."""
    is_older, is_earlier = call.begin_ns < step.begin_ns - AT_ONCE_NS, step.end_ns - call.end_ns > AT_ONCE_NS
    return is_older, is_earlier, call.begin_ns - call.end_ns


def _of_process(last: SleepingCall, step: Step, calls: Sequence[SleepingCall]) -> str:
    """Return the sleeping calls of a process during a step that ended with its last one, as text."""
    begin, end = step.begin_ns - AT_ONCE_NS, step.end_ns + AT_ONCE_NS
    own = [each for each in calls if each.process == last.process and begin <= each.begin_ns and each.end_ns <= end]
    return f"{last.program}: {_counted(own if last in own else [*own, last])}"


def _of_waiting(step: Step, ended: Sequence[SleepingCall], calls: Sequence[SleepingCall]) -> str:
    """Return why a request waited: a process slept for another one, or had a lock or queue of threads."""
    slept = [each for each in calls if each.ended == "limit" and step.begin_ns < each.end_ns < step.end_ns]
    if slept:
        program = slept[-1].program
        return f"for another request, {program}: {_counted([each for each in slept if each.program == program])}"
    futexes = [each for each in ended if each.call == "futex"]
    return f"{futexes[0].program}: futex, a lock or queue of its threads" if futexes else ""


def _counted(calls: Sequence[SleepingCall]) -> str:
    """Return calls as text, each kind once: "3 x sleep of 10 ms, poll with limit 100 ms"."""
    counts = Counter(_words(each) for each in calls)
    texts = [f"{count} x {text}" if count > 1 else text for text, count in counts.items()]
    return ", ".join([*texts[:MOST_NAMES], *(["..."] if len(texts) > MOST_NAMES else [])])


def _words(call: SleepingCall) -> str:
    if call.ended != "limit":
        lock = "lock " if call.call in LOCKS else ""
        return f"{lock}{call.call} for {_ms((call.end_ns - call.begin_ns) / 1e6)}"
    limit = _ms(call.limit_ms or 0.0)
    if call.call in ARMED:
        return f"{call.call} after {limit}"
    return f"sleep of {limit}" if call.call == SLEEP else f"{call.call} with limit {limit}"


def _ms(ms: float) -> str:
    return f"{round(ms, 1):,g} ms"
