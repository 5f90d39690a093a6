"""Invariants of a history under any fault: each is a function of the history that returns a violation, or None.

A function of your own is a check, too: it gets a `History` and returns what is wrong as text, or None.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slownet.judge.histories.history import History, HistoryError, Operation, short
from slownet.judge.records.statement import Phrase, Statement
from slownet.model.errors import ExperimentError, SlownetError, first_of
from slownet.model.importing import described
from slownet.model.shapes import Json
from slownet.model.units import duration, show_duration


@dataclass(frozen=True)
class Violation:
    """A violation that a history shows.

    Attributes
    ----------
    check : str
        What must hold, as text.
    what : str
        What was seen instead.
    time : int or None
        Nanoseconds since the history's begin at which it shows; None if at no time.
    finding : Statement or None
        What was seen, as a code and numbers; None of a function of one's own.
    """

    check: str
    what: str
    time: int | None = None
    finding: Statement | None = field(default=None, compare=False)

    @classmethod
    def of(cls, check: str, finding: Statement, time: int | None = None) -> Violation:
        """Make one of what was seen, as data."""
        return cls(check, str(finding), time, finding)

    def __str__(self) -> str:
        return f"{self.what} ({self.check})"


@dataclass(frozen=True)
class Check:
    """A check: its words, and a function (history) -> `Violation` or None."""

    words: str
    judge: Callable[[History], Violation | None]

    def __call__(self, history: History) -> Violation | None:
        """Return what is wrong, or None. Raises HistoryError if it cannot judge this history."""
        return self.judge(history)

    def __str__(self) -> str:
        return self.words


def no_lost_writes(write: str = "write", read: str = "read") -> Check:
    """Every acknowledged write is in the last acknowledged read, whose result is the list of all values that exist.

    Parameters
    ----------
    write, read : str
        The operations' names. A write's value is one value; no two writes have the same.

    Returns
    -------
    Check
    """
    words = f"no acknowledged {write} is lost"

    def judge(history: History) -> Violation | None:
        reads = [each for each in history.of(read) if each.is_acknowledged]
        if not reads:
            return Violation.of(words, NO_READ(read=read))
        last = max(reads, key=lambda each: each.begin)
        there = {_key(value) for value in _listed(last)}
        before = [each for each in history.of(write) if each.is_acknowledged and (each.end or 0) <= last.begin]
        lost = [each for each in before if _key(each.value) not in there]
        if lost:
            values = [{"value": short(each.value), "acknowledged_ns": each.end or 0} for each in lost]
            return Violation.of(words, WRITES_LOST(write=write, of=len(before), lost=values), lost[0].end)
        return None

    return Check(words, judge)


def nothing_invented(write: str = "write", read: str = "read") -> Check:
    """No read has a value that was never written.

    Parameters
    ----------
    write, read : str
        The operations' names; a read's result is one value or a list of them.

    Returns
    -------
    Check
    """
    words = f"no {read} has what was never written"

    def judge(history: History) -> Violation | None:
        asked: dict[str, int] = {}
        for each in history.of(write):
            asked.setdefault(_key(each.value), each.begin)
        for each in (each for each in history.of(read) if each.is_acknowledged):
            values = each.result if isinstance(each.result, list) else [each.result]
            for value in values:
                if value is not None and asked.get(_key(value), _NEVER) > (each.end or 0):
                    return Violation.of(words, INVENTED(read=str(each), value=short(value)), each.end)
        return None

    return Check(words, judge)


def reads_never_go_back(read: str = "read") -> Check:
    """A read that begins after another one has ended does not show an older state.

    Parameters
    ----------
    read : str
        The operation's name. Its result is a number that grows, such as a version, or a list to which values are only added.

    Returns
    -------
    Check
    """
    words = f"{read}s never go back"

    def judge(history: History) -> Violation | None:
        done = sorted((each for each in history.of(read) if each.is_acknowledged), key=lambda each: each.end or 0)
        for each in sorted(done, key=lambda each: each.begin):
            for before in done:
                if before.end is None or before.end > each.begin:
                    break
                if _is_older(each, before):
                    older, newer = short(each.result), short(before.result)
                    seen = GONE_BACK(read=str(each), older=older, newer=newer, begin_ns=before.begin)
                    return Violation.of(words, seen, each.end)
        return None

    return Check(words, judge)


def recovers_within(time: str) -> Check:
    """After the last fault is repaired, each client has an acknowledged operation within this time.

    Parameters
    ----------
    time : str
        Such as "2s". What was measured is the metric ``recovery_ms``.

    Returns
    -------
    Check
    """
    most = duration(time) * 1e9
    words = f"clients are served within {show_duration(most / 1e9)} after the faults"

    def judge(history: History) -> Violation | None:
        since, took = history.repaired, history.recovery_ns
        if since is None:
            return None
        if not any(each.is_acknowledged and (each.end or 0) <= since for each in history.operations):
            return None
        if took is None:
            return Violation.of(words, NOT_SERVED_AGAIN(since_ns=since), since)
        if took > most:
            return Violation.of(words, SERVED_LATE(took_ns=took), since + int(most))
        return None

    return Check(words, judge)


def violations(history: History, checks: Sequence[Any]) -> list[Violation]:
    """Return the violations of these checks or functions in a history.

    Raises SlownetError: a check raises, cannot judge this history, or returns something else: one line with its name.
    """
    return [found for each in checks if (found := _judged(history, each)) is not None]


def words_of(check: Any) -> str:
    """Return a check or function as text."""
    return check.words if isinstance(check, Check) else str(getattr(check, "__name__", check)).replace("_", " ")


def _judged(history: History, check: Any) -> Violation | None:
    name = words_of(check)
    try:
        found = check(history)
    except SlownetError as error:
        raise type(error)(error.what, error.where or f"the check '{name}'", error.fix) from error
    except Exception as error:
        what = f"the check '{name}' raises {described(error)}"
        raise ExperimentError(what, fix="return a text that describes the failure, or None") from error
    if found is None or isinstance(found, Violation):
        return found
    if isinstance(found, str) and found:
        return Violation(name, found)
    raise ExperimentError(
        f"the check '{name}' returns {short(str(found))}", fix="return a text that describes the failure, or None"
    )


_NEVER = 1 << 63


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _listed(read: Operation) -> list[Any]:
    if not isinstance(read.result, list):
        raise HistoryError(f"{read} has {short(read.result)}, not a list", fix="let the last read return all values as a list")
    return read.result


def _is_older(each: Operation, before: Operation) -> bool:
    new, old = each.result, before.result
    if isinstance(new, list) and isinstance(old, list):
        return not {_key(value) for value in old} <= {_key(value) for value in new}
    try:
        return bool(new is not None and old is not None and new < old) or (new is None and old is not None)
    except TypeError as error:
        fix = "let reads return numbers, or lists"
        raise HistoryError(f"{each} has {short(new)}, which has no order beside {short(old)}", fix=fix) from error


def _writes_lost(write: str, of: int, lost: Sequence[Mapping[str, Json]]) -> str:
    named = [f"{each['value']} (acknowledged at {_seconds(each['acknowledged_ns'])})" for each in lost]
    return f"{len(lost)} of {of} acknowledged {write}s lost: {first_of(named, _LISTED)}"


_LISTED = 3
"""Lost writes that are named."""


def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e9:.3f} s"


NO_READ = Phrase("no read acknowledged", lambda read: f"no {read} was acknowledged, so nobody knows what is there")
WRITES_LOST = Phrase("writes lost", _writes_lost)
INVENTED = Phrase("invented", lambda read, value: f"{read} has {value}")
GONE_BACK = Phrase(
    "gone back", lambda read, older, newer, begin_ns: f"{read} has {older} after {newer} at {_seconds(begin_ns)}"
)
NOT_SERVED_AGAIN = Phrase("not served again", lambda since_ns: f"a client was not served again after {_seconds(since_ns)}")
SERVED_LATE = Phrase("served late", lambda took_ns: f"a client was served only {_seconds(took_ns)} after the end of the faults")
