"""Cures of an account, by the kinds of its steps: how much time they take away, what would remain, and what switches them on.

A promise is the time of the steps that a cure takes away, and nothing else: those steps are its origin. What a cure changes
besides, such as a window that a loss has halved or that a kept connection has opened already, only a measurement shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from slownet.model.host_settings import KEEP_ALIVE
from slownet.waits.account import CLOCK_IS_READ, OR_A_TIMER, Account, Cause, Step
from slownet.waits.blocks import alike, without_values
from slownet.waits.flows import AFTER_TIMEOUT, AVOIDANCE, RECOVERY, SEND_BUFFER, SLOW_START
from slownet.waits.pacing import PACING

LEAST = 0.01
"""Cures that save a smaller part of the time are left out."""
WINDOW = "100"
"""Segments of a larger first window: 144,800 bytes."""
OLDER_FLIGHTS = 4
"""Messages of a whole handshake of TLS 1.2 (RFC 5246, 7.3); that of TLS 1.3 has two before the question (RFC 8446, 2)."""
BUFFERS = {"net.ipv4.tcp_rmem": "4096 4194304 16777216", "net.ipv4.tcp_wmem": "4096 4194304 16777216", "initrwnd": "1000"}
OF_THE_PROGRAM = "a setting of the program"


@dataclass(frozen=True)
class Cure:
    """Something that takes steps away.

    Attributes
    ----------
    name : str
        What to do, and where.
    saves_ns : int
        The time of the steps that it takes away.
    because : str
        Which steps these are.
    settings : mapping of str to str
        Settings of hosts that switch it on (`slownet.net.host_settings`).
    conditions : mapping of str to str
        Other values of the cell that switch it on.
    not_switched : str
        Why slownet cannot switch it on; empty if it can.
    """

    name: str
    saves_ns: int
    because: str
    settings: Mapping[str, str] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)
    not_switched: str = ""

    def remains_ns(self, account: Account) -> int:
        """Return what remains of the time."""
        return account.elapsed_ns - self.saves_ns


@dataclass(frozen=True)
class Outcome:
    """A cure with what came of it.

    Attributes
    ----------
    cure : Cure
    before_ms, after_ms : float or None
        The time of an operation without and with it; None if it was not measured.
    metric : str
        Which time that is.
    run : str
        The directory of the run that measured it.
    error : str
        Why it was not measured, though it could be.
    """

    cure: Cure
    before_ms: float | None = None
    after_ms: float | None = None
    metric: str = ""
    run: str = ""
    error: str = ""

    @property
    def saved_ms(self) -> float | None:
        """The time that it saves, as measured."""
        return None if self.before_ms is None or self.after_ms is None else self.before_ms - self.after_ms


def cures(account: Account, cell: Mapping[str, str] | None = None, tool: str = "") -> list[Cure]:
    """Return the cures of an account, the one that saves most first.

    Parameters
    ----------
    account : Account
        What to shorten.
    cell : mapping of str to str, optional
        The conditions under which it was measured, if they are known: a loss or a rate among them can be switched.
    tool : str
        The client that was measured, if it is known.
    """
    found = [each for make in _KINDS for each in make(account, cell, tool)]
    least = LEAST * account.elapsed_ns
    return sorted((each for each in found if each.saves_ns >= least), key=lambda each: -each.saves_ns)


def _connections(account: Account, cell: Mapping[str, str] | None, tool: str) -> Iterator[Cure]:
    """Yield a kept connection for each two hosts, and fewer flights of TLS."""
    by = _by_hosts(each for each in account.steps if each.cause in (Cause.HANDSHAKE, Cause.TLS) and each.detail != "refused")
    for hosts, steps in by.items():
        where = _where(hosts, account.client)
        keeps = tool == "ab" and account.client in hosts
        yield Cure(
            f"a kept connection {where}", _ns(steps), _counted(steps), {KEEP_ALIVE: "1"} if keeps else {},
            not_switched="" if keeps else OF_THE_PROGRAM,
        )  # fmt: skip
        tls = [each for each in steps if each.cause is Cause.TLS]
        flights = sum(each.trip for each in tls)
        if flights >= OLDER_FLIGHTS:
            yield Cure(f"TLS 1.3 {where}", _ns(tls) // 2, f"half of {_counted(tls)}", not_switched=OF_THE_PROGRAM)
        if tls:
            yield Cure(f"TLS with 0-RTT {where}", _ns(tls), _counted(tls), not_switched=OF_THE_PROGRAM)


def _windows(account: Account, cell: Mapping[str, str] | None, tool: str) -> Iterator[Cure]:
    """Yield a larger first window for slow start, larger buffers, and what only a program can open."""
    steps = list(account.of(Cause.WINDOW))
    slow = [each for each in steps if each.detail.startswith(f"{SLOW_START},")]
    if slow:
        larger = {"initcwnd": WINDOW, "initrwnd": WINDOW}
        yield Cure(f"a first window of {WINDOW} segments", _ns(slow), _counted(slow), larger)
    opened = {_ends(each) for each in account.of(Cause.HANDSHAKE)}
    kept = [each for each in slow if _ends(each) not in opened]  # the others have not rested
    if kept:
        yield Cure("no slow start after a rest", _ns(kept), _counted(kept), {"net.ipv4.tcp_slow_start_after_idle": "0"})
    buffered = [each for each in steps if each.detail.startswith(("receive window", SEND_BUFFER))]
    if buffered:
        yield Cure("larger buffers", _ns(buffered), _counted(buffered), BUFFERS)
    lost = [each for each in steps if each.detail.startswith((RECOVERY, AVOIDANCE, AFTER_TIMEOUT))]
    if lost:
        why = "another congestion control, such as BBR"
        yield Cure("a window that a loss does not close", _ns(lost), _counted(lost), not_switched=why)
    paced = [each for each in steps if each.detail.startswith(PACING)]
    if paced:
        why = "the congestion control's, or the program's SO_MAX_PACING_RATE"
        yield Cure("a higher pacing rate", _ns(paced), _counted(paced), not_switched=why)
    named = {id(each) for each in (*slow, *buffered, *lost, *paced)}
    other = [each for each in steps if id(each) not in named]
    if other:
        yield Cure("a larger window of the protocol", _ns(other), _counted(other), not_switched=OF_THE_PROGRAM)


def _acknowledgements(account: Account, cell: Mapping[str, str] | None, tool: str) -> Iterator[Cure]:
    nagle, late = list(account.of(Cause.NAGLE)), list(account.of(Cause.DELAYED_ACK))
    waits = [each for each in (*nagle, *late) if not each.trip]
    if waits:
        yield Cure("every ACK at once", _ns(waits), _counted(waits), {"quickack": "1"})
    if nagle:
        yield Cure("TCP_NODELAY, or one write", _ns(nagle), _counted(nagle), not_switched=OF_THE_PROGRAM)


def _losses(account: Account, cell: Mapping[str, str] | None, tool: str) -> Iterator[Cure]:
    steps = list(account.of(Cause.RETRANSMISSION))
    if not steps:
        return
    without = {name: "0%" for name, loss in _named(cell, "loss") if loss.strip("0.% ")}
    why = "" if without or cell is None else "the network's"
    yield Cure("no loss", _ns(steps), _counted(steps), conditions=without, not_switched=why)
    timeouts = [each for each in steps if each.detail == "timeout"]
    if timeouts:
        yield Cure("a least timeout of 10 ms", _ns(timeouts), _counted(timeouts), {"rto_min": "10ms"})


def _rates(account: Account, cell: Mapping[str, str] | None, tool: str) -> Iterator[Cure]:
    own, queued = list(account.of(Cause.SERIALISATION)), list(account.of(Cause.QUEUE))
    twice = {name: doubled for name, rate in _named(cell, "rate") if (doubled := _doubled(rate))}
    if own:
        because = f"half of {_counted(own)}"
        why = "" if twice or cell is None else "the network's"
        yield Cure("twice the rate", _ns(own) // 2, because, conditions=twice, not_switched=why)
    if queued:
        yield Cure(
            "queues that stay empty", _ns(queued), _counted(queued), not_switched="AQM on the way, or less other traffic"
        )


def _questions(account: Account, cell: Mapping[str, str] | None, tool: str) -> Iterator[Cure]:
    """Yield one question for many that differ by their values only, and all questions between two hosts at once."""
    for hosts, steps in _by_hosts(account.of(Cause.EXCHANGE)).items():
        trips = sum(each.trip for each in steps) / 2
        if trips >= 2:
            saves = round(_ns(steps) * (trips - 1) / trips)
            yield Cure(
                f"a pipeline {_where(hosts, account.client)}", saves, f"all but one of {_counted(steps)}",
                not_switched="the program's code, where no question needs an answer before it",
            )  # fmt: skip
    for text, count in alike(account):
        steps = [each for each in account.of(Cause.EXCHANGE) if without_values(each.asked) == text]
        pairs = _round_trips(account, steps)
        yield Cure(
            f"one question for {count}: {text}", _ns(pairs) * (count - 1) // count, f"{count - 1} of {count} round trips",
            not_switched="the program's code",
        )  # fmt: skip


def _on_hosts(account: Account, cell: Mapping[str, str] | None, tool: str) -> Iterator[Cure]:
    what = {
        Cause.NAME: ("a cache of names", "the resolver's"),
        Cause.TIMER: ("removing the wait of the program", "the program's code"),
        Cause.WAITING: ("a larger pool", OF_THE_PROGRAM), Cause.NEIGHBOUR: ("neighbours that are known", "the network's"),
    }  # fmt: skip
    for cause, (name, why) in what.items():
        for hosts, steps in _by_hosts(account.of(cause)).items():
            yield Cure(f"{name} on {' and '.join(hosts)}", _ns(steps), _counted(steps), not_switched=why)
    for hosts, steps in _by_hosts(account.of(Cause.COMPUTING)).items():
        where = " and ".join(hosts)
        either = [each for each in steps if each.detail.startswith(OR_A_TIMER)]
        computed = [each for each in steps if not each.detail.startswith((OR_A_TIMER, CLOCK_IS_READ))]
        if computed:
            yield Cure(f"a faster program on {where}", _ns(computed), _counted(computed), not_switched="the program's code")
        if either:
            name, because = f"a program that waits or computes less on {where}", f"{_counted(either)} or of a timer"
            yield Cure(name, _ns(either), because, not_switched="the program's code")


_KINDS: Sequence[Callable[[Account, Mapping[str, str] | None, str], Iterator[Cure]]] = (
    _connections, _windows, _acknowledgements, _losses, _rates, _questions, _on_hosts,
)  # fmt: skip


def _named(cell: Mapping[str, str] | None, name: str) -> list[tuple[str, str]]:
    """Return the conditions of a cell with a name, for both directions or for one."""
    return [(each, value) for each, value in (cell or {}).items() if each.partition("_")[0] == name]


def _ns(steps: Iterable[Step]) -> int:
    return sum(each.ns for each in steps)


def _by_hosts(steps: Iterable[Step]) -> dict[tuple[str, ...], list[Step]]:
    found: dict[tuple[str, ...], list[Step]] = {}
    for each in steps:
        found.setdefault(tuple(sorted({each.source, each.target})), []).append(each)
    return found


def _where(hosts: Sequence[str], client: str) -> str:
    return (
        f"to {next(each for each in (*hosts, client) if each != client)}"
        if client in hosts
        else f"between {' and '.join(hosts)}"
    )


def _counted(steps: Sequence[Step]) -> str:
    """Return what steps are: "2 round trips of window", "3 steps of timer of the program"."""
    causes = " and ".join(dict.fromkeys(str(each.cause) for each in steps))
    trips = sum(each.trip for each in steps) / 2
    many, word = (trips, "round trip") if trips else (len(steps), "step")
    return f"{many:g} {word}{'s' * (many != 1)} of {causes}"


def _ends(step: Step) -> frozenset[str]:
    return frozenset(step.connection.split(" > "))


def _round_trips(account: Account, questions: Sequence[Step]) -> list[Step]:
    """Return questions with the messages that come back after them."""
    wanted, found, last = {id(each) for each in questions}, [], None
    for each in account.of(Cause.EXCHANGE):
        if id(each) in wanted or (last is not None and (each.source, each.target) == (last.target, last.source)):
            found.append(each)
        last = each if id(each) in wanted else None
    return found


def _doubled(rate: str) -> str:
    """Return twice a rate such as 10Mbit; empty if it is not understood."""
    digits = rate.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/ ")
    try:
        return f"{2 * float(digits):g}{rate[len(digits) :]}"
    except ValueError:
        return ""
