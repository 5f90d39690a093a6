"""An account in words: the answer in its first line, then where the time went, in at most 40 lines of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from slownet.why.account import Account, Cause, Step
from slownet.why.blocks import Block, Share, alike, blocks, rest, shares

WIDTH, LINES = 80, 40
SAID = 40
"""Characters of a message in the table."""
LEAST = 0.01
"""The part of the time from which a cause is in the answer."""
SHORT_NS = 100_000
"""Steps up to this are listed together: what hosts compute."""


def answer(account: Account) -> str:
    """Return the account in one sentence."""
    whole = account.elapsed_ns
    said = [_on_the_way(each, account.client) for each in _between(account)]
    said += [f"{_ms(ns)} {cause} on {host}" for (host, cause), ns in _on_hosts(account) if ns >= LEAST * whole]
    for cause in (Cause.QUEUE, Cause.SERIALISATION):
        ns = sum(each.ns for each in account.of(cause))
        if ns >= LEAST * whole:
            said.append(f"{_ms(ns)} {cause}")
    if account.remainder_ns:
        said.append(f"{_ms(account.remainder_ns)} {Cause.REMAINDER}")
    return f"{_ms(whole)}: {', '.join(said) or 'on the hosts'}"


def text(account: Account, links: Mapping[tuple[str, str], Sequence[str]] | None = None) -> str:
    """Return the account as text.

    Parameters
    ----------
    account : Account
        What to show.
    links : mapping of (str, str) to sequence of str, optional
        The links between each two hosts, for what a nearer one saves.

    Returns
    -------
    str
        At most 40 lines.
    """
    head = [*_wrapped(answer(account)), "", f"{account.operation}, {len(account.steps)} steps on the deciding path"]
    tail = [
        *_slopes(account, links),
        *_alike(account),
        *_beside(account),
        *(line for note in account.notes for line in _wrapped(f"note: {note}")),
    ]
    room = max(8, LINES - len(head) - len(tail) - 4)
    rows = _rows(account, room)
    return "\n".join([*head, "", f"{'at ms':>10} {'ms':>10}  cause", *rows, *([""] if tail else []), *tail])


def largest(account: Account, count: int = 10) -> list[str]:
    """Return the largest parts, a line each."""
    found = sorted(blocks(account, SHORT_NS), key=lambda each: -each.ns)[:count]
    return [f"{each.ns / 1e6:10.3f} ms  {_says(each)}" for each in found]


def _ms(ns: float) -> str:
    ms = ns / 1e6
    return f"{ms:,.0f} ms" if ms >= 100 else f"{ms:.3g} ms" if ms else "0 ms"


def _ends(of: Step | Block) -> str:
    """Return the two hosts as text, or the only one."""
    return of.source if of.source == of.target else f"{of.source} -> {of.target}"


def _count(number: float) -> str:
    return f"{number:g}"


def _between(account: Account) -> list[Share]:
    """Return the shares of pairs of hosts, without queues and serialisation, those with a noticeable time."""
    found = shares(each for each in account.steps if each.trip)
    return [each for each in found if each.trips and each.ns >= LEAST * account.elapsed_ns]


def _on_hosts(account: Account) -> list[tuple[tuple[str, Cause], int]]:
    found: dict[tuple[str, Cause], int] = {}
    for each in account.steps:
        if each.source == each.target and each.cause not in (Cause.REMAINDER, Cause.SERIALISATION, Cause.QUEUE):
            found[each.source, each.cause] = found.get((each.source, each.cause), 0) + each.ns
    return sorted(found.items(), key=lambda each: -each[1])


def _on_the_way(share: Share, client: str) -> str:
    """Return what crossed between two hosts: "27 round trips between db and web (25 question and answer, 1 TCP handshake)"."""
    one, other = share.hosts
    where = f"to {other if one == client else one}" if client in share.hosts else f"between {one} and {other}"
    parts = [f"{_count(trips / 2)} {cause}" for cause, trips, _ in sorted(share.by_cause, key=lambda each: -each[1]) if trips]
    inside = f" ({', '.join(parts)})" if len(parts) > 1 else f" of {share.by_cause[0][0]}"
    return f"{_count(share.round_trips)} round trip{'s' * (share.round_trips != 1)} {where}{inside}"


def _says(block: Block) -> str:
    ends = _ends(block)
    trips = block.round_trips
    times = f"{_count(trips)} x " if trips > 1 else ""
    asked = next((each.asked for each in block.steps if each.asked), "") if len(block.steps) <= 2 else ""
    asked = asked if len(asked) <= SAID else asked[: SAID - 3] + "..."
    said = f"{times}{block.cause}{f': {block.detail}' if block.detail else ''}, {ends}"
    return f"{said}  {asked}" if asked else said


def _rows(account: Account, room: int) -> list[str]:
    """Return the blocks, a line each; where there are too many, the shortest are one line."""
    found = blocks(account, SHORT_NS)
    kept = {id(each) for each in sorted(found, key=lambda each: -each.ns)[: room - 2]}
    lines = [
        f"{(each.begin_ns - account.begin_ns) / 1e6:10.3f} {each.ns / 1e6:10.3f}  {_says(each)}"[:WIDTH].rstrip()
        for each in found
        if id(each) in kept
    ]
    left = [each for each in found if id(each) not in kept]
    if left:
        lines.append(f"{'':10} {sum(each.ns for each in left) / 1e6:10.3f}  {len(left)} shorter parts")
    if (short := rest(account, SHORT_NS)) or not lines:
        lines.append(f"{'':10} {short / 1e6:10.3f}  steps of at most 0.1 ms")
    return lines


def _slopes(account: Account, links: Mapping[tuple[str, str], Sequence[str]] | None) -> list[str]:
    """Return what a nearer link saves."""
    found = slopes(account, links)
    said = [f"{name} saves {_count(trips)} ms" for name, trips in sorted(found.items(), key=lambda each: -each[1]) if trips]
    return _wrapped(f"1 ms of round trip less: {', '.join(said)}") if said else []


def slopes(account: Account, links: Mapping[tuple[str, str], Sequence[str]] | None = None) -> dict[str, float]:
    """Return the round trips on the deciding path by link: the ms that 1 ms of round trip less saves there.

    links: the links between each two hosts; without it, the pairs of hosts count.
    """
    found: dict[str, float] = {}
    for each in shares(account.trips()):
        for name in (links or {}).get(each.hosts, ["-".join(each.hosts)]):
            found[name] = found.get(name, 0.0) + each.round_trips
    return found


def _alike(account: Account) -> list[str]:
    return [f"{count} times the same question with other values: {asked}"[:WIDTH] for asked, count in alike(account)[:3]]


def steps(account: Account) -> Iterator[str]:
    """Yield each step of more than 0.1 ms as a line, with all that its message says."""
    for each in account.steps:
        if each.ns > SHORT_NS:
            said = f"{each.cause}{f': {each.detail}' if each.detail else ''}, {_ends(each)}  {each.asked}".rstrip()
            yield f"{(each.begin_ns - account.begin_ns) / 1e6:10.3f} {each.ms:10.3f}  {said}"


def _beside(account: Account) -> list[str]:
    if not account.beside:
        return []
    slack = [each.slack_ns for each in account.beside]
    many = len(slack)
    spare = _ms(min(slack)) if min(slack) == max(slack) else f"{_ms(min(slack))} to {_ms(max(slack))}"
    return [f"beside it: {many} connection{'s' * (many != 1)}, with {spare} to spare"]


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, WIDTH, subsequent_indent="  ")


def folded(steps: Sequence[Step]) -> Iterator[str]:
    """Yield the stacks of a flame graph, as speedscope and flamegraph.pl read them: host or hosts, cause, detail, and us."""
    for each in steps:
        if each.ns:
            yield ";".join(filter(None, (_ends(each), str(each.cause), each.detail))) + f" {max(1, round(each.ns / 1000))}"
