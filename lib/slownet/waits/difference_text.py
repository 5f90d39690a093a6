"""The difference of two accounts as text: the answer in its first line, then each change, in at most 40 lines of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slownet.waits.account import Account, Cause
from slownet.waits.account_text import LEAST, LINES, PARTS, SAID, WIDTH, limited, milliseconds, wrapped
from slownet.waits.difference import Change, Difference

NOTE, NOTES = 3, 8
"""Lines of a note, and of all notes, at most."""
ALIKE = 4
"""Kinds of messages between two hosts that are one row if they only take longer: at least so many."""
HEAD = ("ms more", "before", "after", "what")


@dataclass(frozen=True)
class Effect:
    """Several changes together. ns: the additional time."""

    ns: int
    text: str


def difference_answer(found: Difference) -> str:
    """Return the difference in one sentence: "+80 ms: 2 more round trips to db (SELECT ...), 1 fewer to web"."""
    one, two = (milliseconds(each.elapsed_ns) for each in (found.before, found.after))
    shown, left = _largest(effects(found))
    said = [each.text for each in shown]
    if left:
        said.append(f"{signed(left)} in other places")
    if not said:
        return f"no difference: {one} and {two}, of the same parts"
    return f"{signed(found.ns)} ({one}, then {two}): {', '.join(said)}"


def signed(ns: float) -> str:
    """Return a time with its sign: +80 ms."""
    return f"{'-' if ns < 0 else '+'}{milliseconds(abs(ns))}"


def effects(found: Difference) -> list[Effect]:
    """Return what the changes do, put together by hosts, the largest first; all together they are the difference."""
    client = found.after.client
    by: dict[tuple[object, ...], list[Change]] = {}
    made: list[Effect] = []
    for each in found.changes:
        if each.counted_ns and each.kind.trip:
            by.setdefault((each.kind.hosts, each.more > 0), []).append(each)
    for (hosts, _), changes in by.items():
        ns = sum(each.counted_ns for each in changes)
        made.append(Effect(ns, _counted(changes, _where(hosts, client))))
    made += _grown(found, client)
    made += [Effect(each.difference_ns, _on_host(each)) for each in found.changes if not each.kind.trip]
    return sorted(made, key=lambda each: -abs(each.ns))


def _largest(found: Sequence[Effect]) -> tuple[list[Effect], int]:
    """Return the effects that the answer names, and the ns of the others."""
    least = LEAST * sum(abs(each.ns) for each in found)
    shown = [each for each in found if abs(each.ns) >= least][:PARTS]
    left = sum(each.ns for each in found) - sum(each.ns for each in shown)
    return shown, left if abs(left) >= least else 0


def _where(hosts: object, client: str) -> str:
    assert isinstance(hosts, tuple)
    if client in hosts and len(hosts) == 2:
        return f"to {hosts[0] if hosts[1] == client else hosts[1]}"
    return f"between {' and '.join(hosts)}" if len(hosts) == 2 else f"of {hosts[0]} to itself"


def _counted(changes: Sequence[Change], where: str) -> str:
    """Return how many round trips came or went, and their kinds, those with the most messages first."""
    trips = sum(each.more for each in changes) / 2
    kinds = [_short(each) for each in sorted(changes, key=lambda each: -abs(each.more))]
    inside = ", ".join(dict.fromkeys(kinds[:2])) + (f", {len(kinds) - 2} others" if len(kinds) > 2 else "")
    return f"{abs(trips):g} {'more' if trips > 0 else 'fewer'} round trip{'s' * (abs(trips) != 1)} {where} ({inside})"


def _grown(found: Difference, client: str) -> Iterator[Effect]:
    """Yield by how much the messages between two hosts take longer that there are before and after."""
    by: dict[tuple[str, ...], list[Change]] = {}
    for each in found.changes:
        if each.grown_ns and each.kind.trip:
            by.setdefault(each.kind.hosts, []).append(each)
    for hosts, changes in by.items():
        ns, trips = sum(each.grown_ns for each in changes), sum(min(each.steps) for each in changes) / 2
        longer = "longer" if ns > 0 else "shorter"
        each_one = f", {milliseconds(abs(ns) / trips)} each" if trips > 1 else ""
        text = f"{trips:g} round trip{'s' * (trips != 1)} {_where(hosts, client)} {milliseconds(abs(ns))} {longer}{each_one}"
        yield Effect(ns, text)


def _on_host(change: Change) -> str:
    what = f" ({change.kind.what})" if change.kind.what else ""
    place = f"on {change.kind.hosts[0]}" if len(change.kind.hosts) == 1 else f"between {' and '.join(change.kind.hosts)}"
    return f"{signed(change.difference_ns)} {change.kind.cause}{what} {place}"


def _short(change: Change) -> str:
    """Return what was asked, or the cause."""
    text = change.kind.what if change.kind.cause is Cause.EXCHANGE and change.kind.what else str(change.kind.cause)
    return text if len(text) <= SAID else text[: SAID - 3] + "..."


def what(change: Change) -> str:
    """Return a change's kind as text: cause, hosts, and what was asked."""
    said = f"{change.kind.cause}, {' - '.join(change.kind.hosts)}"
    return f"{said}: {change.kind.what}" if change.kind.what else said


def many(change: Change, number: int) -> str:
    """Return how many there are before (0) or after (1): round trips of messages, steps of anything else."""
    steps = change.steps[number]
    return f"{steps / 2:g}" if change.kind.trip else f"{steps:d}"


def difference_text(found: Difference, names: tuple[str, str]) -> str:
    """Return the difference as text. names: what the two accounts are of, such as runs' names."""
    head = [*limited(wrapped(difference_answer(found)), PARTS), ""]
    for word, name, account in zip(("before", "after"), names, (found.before, found.after), strict=True):
        head += limited(wrapped(f"{word}: {name}, {_size(account)}"), 2)
    notes = [line for note in difference_notes(found) for line in limited(wrapped(f"note: {note}"), NOTE)]
    notes = limited(notes, NOTES)
    room = LINES - len(head) - len(notes) - 4
    rows = [
        f"{each.ns / 1e6:+10.3f} {each.before:>7} {each.after:>7}  {each.what}"[:WIDTH].rstrip() for each in table(found, room)
    ]
    titles = f"{HEAD[0]:>10} {HEAD[1]:>7} {HEAD[2]:>7}  {HEAD[3]} (round trips, or steps on a host)"
    return "\n".join([*head, *(["", titles, *rows] if rows else []), *(["", *notes] if notes else [])])


def difference_notes(found: Difference) -> list[str]:
    """Return what could not be known of the two accounts: what is true of both once, the others with their place."""
    both = [each for each in found.before.notes if each in found.after.notes]
    places = (("before", found.before), ("after", found.after))
    return [*both, *(f"{word}: {each}" for word, of in places for each in of.notes if each not in both)]


def _size(account: Account) -> str:
    return f"{milliseconds(account.elapsed_ns)}, {len(account.steps):,} steps"


@dataclass(frozen=True)
class Row:
    """A row of the table of changes."""

    ns: int
    before: str
    after: str
    what: str


def table(found: Difference, most: int) -> list[Row]:
    """Return the changes as rows, the largest first; together they are the difference.

    Many questions between two hosts that only take longer are one row, and so are changes that are too small or too many.
    """
    longer: dict[tuple[str, ...], list[Change]] = {}
    for each in found.changes:
        if each.kind.trip and not each.more:
            longer.setdefault(each.kind.hosts, []).append(each)
    alike = {hosts: changes for hosts, changes in longer.items() if len(changes) >= ALIKE}
    rows = [_sum(changes, f"{len(changes)} kinds of messages, {' - '.join(hosts)}") for hosts, changes in alike.items()]
    single = [each for each in found.changes if each.more or not each.kind.trip or each.kind.hosts not in alike]
    rows += [Row(each.difference_ns, many(each, 0), many(each, 1), what(each)) for each in single]
    rows.sort(key=lambda each: -abs(each.ns))
    least = LEAST / 10 * max((abs(each.ns) for each in rows), default=0)
    shown = [each for each in rows if abs(each.ns) >= least]
    shown = rows if len(shown) == len(rows) <= most else shown[: most - 1]
    left = rows[len(shown) :]
    return [*shown, Row(sum(each.ns for each in left), "", "", f"{len(left)} smaller changes")] if left else shown


def _sum(changes: Sequence[Change], text: str) -> Row:
    steps = [sum(each.steps[number] for each in changes) for number in (0, 1)]
    return Row(sum(each.difference_ns for each in changes), f"{steps[0] / 2:g}", f"{steps[1] / 2:g}", text)
