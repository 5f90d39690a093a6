"""An account: the steps of an operation's deciding path, which add up to its elapsed time, each with its cause.

The JSON is one object: ``operation`` (words), ``client`` (host), ``elapsed_ms``, ``remainder_ms`` (what has no cause),
``clock_is_free``, ``notes`` (list of words), ``steps``, in order, and ``beside``. A step has ``begin_ms`` (since the operation
began), ``ms``, ``cause`` (of `Cause`), ``detail`` (words), ``from`` and ``to`` (hosts; the same for what happens on one),
``asked`` (words of the message), ``bytes``, ``connection``, ``trip`` (whether a message crosses the network), and ``hops``
(pairs of hosts, if routers forward it). What ran beside the deciding path has ``connection``, ``from``, ``to``, ``begin_ms``,
``end_ms`` and ``slack_ms``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

OR_A_TIMER = "or a timer"
"""The beginning of the detail of computing where the clock charges for CPU, so that a wait looks the same."""

CLOCK_IS_READ = "the clock is read"
"""The detail of computing where the CPU is free: no program can be faster."""


class Cause(StrEnum):
    """Why a step takes time. The list is closed: what fits none is a remainder, which is shown like the others."""

    NAME = "name lookup"
    NEIGHBOUR = "neighbour lookup"
    HANDSHAKE = "TCP handshake"
    TLS = "TLS flight"
    EXCHANGE = "question and answer"
    WINDOW = "window"
    NAGLE = "Nagle with delayed ACK"
    DELAYED_ACK = "delayed ACK"
    RETRANSMISSION = "retransmission"
    QUEUE = "queue"
    SERIALISATION = "serialisation"
    TIMER = "timer of the program"
    WAITING = "waiting for another request"
    COMPUTING = "computing"
    REMAINDER = "not explained"


class Step(NamedTuple):
    """A part of the elapsed time. There may be 100,000 of them: a frozen dataclass takes three times as long to make.

    Attributes
    ----------
    begin_ns, end_ns : int
        On the clock of the captures, since 1970.
    cause : Cause
        Why it took that long.
    source, target : str
        The host that sent and the one that received; the same host for a step on one.
    detail : str
        Which of the cause's kinds: "slow start, 10 segments in flight", "SYN", "ClientHello".
    asked : str
        The message, as far as it is known.
    size : int
        Bytes of the message's payload; 0 for a step on a host.
    connection : str
        Its two ends: "10.0.0.1:54036 > 10.0.0.2:80"; empty for a step on a host that belongs to none.
    trip : bool
        Whether a message crosses the network in it: what a nearer link shortens. Its queue and serialisation are steps of their
        own.
    hops : tuple of (str, str)
        The hosts between which it goes, a pair a hop, if routers forward it; otherwise empty.
    turns : tuple of int
        For a timer: when its host answered others meanwhile, in ns; it may have turned to this one then.
    """

    begin_ns: int
    end_ns: int
    cause: Cause
    source: str
    target: str
    detail: str = ""
    asked: str = ""
    size: int = 0
    connection: str = ""
    trip: bool = False
    hops: tuple[tuple[str, str], ...] = ()
    turns: tuple[int, ...] = ()

    @property
    def ns(self) -> int:
        """Its duration."""
        return self.end_ns - self.begin_ns

    @property
    def ms(self) -> float:
        """Its duration in ms."""
        return self.ns / 1e6


@dataclass(frozen=True)
class Beside:
    """Something that ran beside the deciding path: a connection, and how much later it could have ended without any effect.

    Attributes
    ----------
    connection, source, target : str
        Its two ends, the host that opened it and the other one.
    slack_ns : int
        From its end to that of the operation.
    begin_ns, end_ns : int
        On the clock of the captures, as those of steps.
    """

    connection: str
    source: str
    target: str
    slack_ns: int
    begin_ns: int
    end_ns: int


@dataclass(frozen=True)
class Account:
    """An account of an operation's time.

    Attributes
    ----------
    operation : str
        What is accounted for: "the last of 10 connections from client to web".
    client : str
        The host that began it.
    steps : tuple of Step
        In order; each begins where the one before it ends.
    beside : tuple of Beside
        Connections that did not decide.
    notes : tuple of str
        What could not be known, a line each.
    clock_is_free : bool
        Whether computing took no time, so that a wait on a host is a timer's.
    """

    operation: str
    client: str
    steps: tuple[Step, ...]
    beside: tuple[Beside, ...] = ()
    notes: tuple[str, ...] = ()
    clock_is_free: bool = True

    @property
    def begin_ns(self) -> int:
        """When the operation began."""
        return self.steps[0].begin_ns

    @property
    def elapsed_ns(self) -> int:
        """The time from its first step's begin to its last one's end."""
        return self.steps[-1].end_ns - self.begin_ns

    @property
    def remainder_ns(self) -> int:
        """The time that has no cause."""
        return sum(each.ns for each in self.of(Cause.REMAINDER))

    def of(self, cause: Cause) -> Iterator[Step]:
        """Yield the steps of a cause."""
        return (each for each in self.steps if each.cause == cause)

    def trips(self) -> Iterator[Step]:
        """Yield the steps in which a message crosses the network."""
        return (each for each in self.steps if each.trip)

    def to_json(self) -> dict[str, object]:
        """Return the account in the form that the module describes."""
        return {
            "operation": self.operation, "client": self.client, "elapsed_ms": self.elapsed_ns / 1e6,
            "clock_is_free": self.clock_is_free, "remainder_ms": self.remainder_ns / 1e6, "notes": list(self.notes),
            "steps": [self._step(each) for each in self.steps],
            "beside": [self._beside(each) for each in self.beside],
        }  # fmt: skip

    def _beside(self, each: Beside) -> dict[str, object]:
        return {
            "connection": each.connection, "from": each.source, "to": each.target, "slack_ms": each.slack_ns / 1e6,
            "begin_ms": (each.begin_ns - self.begin_ns) / 1e6, "end_ms": (each.end_ns - self.begin_ns) / 1e6,
        }  # fmt: skip

    def _step(self, each: Step) -> dict[str, object]:
        return {
            "begin_ms": (each.begin_ns - self.begin_ns) / 1e6, "ms": each.ms, "cause": str(each.cause), "detail": each.detail,
            "from": each.source, "to": each.target, "asked": each.asked, "bytes": each.size, "connection": each.connection,
            "trip": each.trip, "hops": [list(hop) for hop in each.hops],
        }  # fmt: skip
