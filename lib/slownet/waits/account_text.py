"""An account as text: the answer in its first line, then where the time went, in at most 40 lines of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from slownet.waits.account import Account, Cause, Step
from slownet.waits.blocks import Block, Share, alike, blocks, rest, shares
from slownet.waits.cures import cures
from slownet.waits.folds import Fold, folds
from slownet.waits.pacing import PACING

WIDTH, LINES = 80, 40
SAID = 40
"""Characters of a message in the table."""
LEAST = 0.01
"""Causes with a smaller part of the time are not in the answer."""
SHORT_NS = 100_000
"""Steps up to this are listed together: what hosts compute."""
PARTS = 6
"""Parts of the answer, and lines of it; further ones are counted."""
CAUSES = 4
"""Causes of round trips that the answer names."""
MOST_TAIL = 22
TAIL = {"slopes": 4, "cures": 3, "questions": 2, "notes": 4}
"""Lines below the table, at most."""


def answer(account: Account) -> str:
    """Return the account in one sentence."""
    whole = account.elapsed_ns
    said = [(each.ns, _on_the_way(each, account.client)) for each in _between(account)]
    for (host, cause), ns in _on_hosts(account):
        if ns and ns >= LEAST * whole:
            said.append((ns, f"{milliseconds(ns)} {cause} on {host}{_calls(account, host, cause)}"))
    for cause in (Cause.QUEUE, Cause.SERIALISATION):
        ns = sum(each.ns for each in account.of(cause))
        if ns and ns >= LEAST * whole:
            said.append((ns, f"{milliseconds(ns)} {cause}"))
    if account.remainder_ns:
        said.append((account.remainder_ns, f"{milliseconds(account.remainder_ns)} {Cause.REMAINDER}"))
    return f"{milliseconds(whole)}: {', '.join(_largest_said(said)) or 'on the hosts'}"


def _largest_said(said: Sequence[tuple[int, str]]) -> list[str]:
    """Return the texts of the largest parts, in order; the others are one text."""
    if len(said) <= PARTS:
        return [text for _, text in said]
    least = sorted((ns for ns, _ in said), reverse=True)[PARTS - 2]
    kept = [each for each in said if each[0] >= least][: PARTS - 1]
    left = sum(ns for ns, _ in said) - sum(ns for ns, _ in kept)
    return [*(text for _, text in kept), f"{milliseconds(left)} in {len(said) - len(kept)} other places"]


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
        At most 40 lines of 80 columns; the first one begins the answer.
    """
    many = f"{len(account.steps)} step{'s' * (len(account.steps) != 1)}"
    head = [*limited(wrapped(answer(account)), PARTS), ""]
    head += limited(wrapped(f"{account.operation}, {many} on the deciding path"), 2)
    tail = [
        *(line for each in (*gains(account, links), *_promises(account)) for line in limited(wrapped(each), TAIL["slopes"])),
        *_beside(account),
        *limited([line for note in account.notes for line in wrapped(f"note: {note}")], TAIL["notes"]),
    ]
    tail = limited(tail, MOST_TAIL)
    rows = _rows(account, LINES - len(head) - len(tail) - 3)
    return "\n".join([*head, "", f"{'at ms':>10} {'ms':>10}  cause", *rows, *([""] if tail else []), *tail])


def limited(lines: Sequence[str], most: int) -> list[str]:
    """Return the first lines, and that there are more."""
    return [*lines] if len(lines) <= most else [*lines[: most - 1], "  ..."]


def largest(account: Account, count: int = 10) -> list[str]:
    """Return the largest parts, a line each."""
    found = sorted(blocks(account, SHORT_NS), key=lambda each: -each.ns)[:count]
    return [f"{each.ns / 1e6:10.3f} ms  {says(each)}" for each in found]


def milliseconds(ns: float) -> str:
    """Return a time in three digits: 430 ms, 0.154 ms."""
    ms = ns / 1e6
    return f"{ms:,.0f} ms" if ms >= 100 else f"{ms:.3g} ms" if ms else "0 ms"


def between(of: Step | Block) -> str:
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


def _calls(account: Account, host: str, cause: Cause) -> str:
    """Return in parentheses the process and its calls that all waits of a cause on a host are; its programs; or pacing."""
    found = {each.detail for each in account.of(cause) if each.source == each.target == host and each.ns > SHORT_NS}
    if found and all(each.startswith(PACING) for each in found):
        return f" ({PACING})"
    detail = found.pop() if len(found) == 1 else ""
    return f" ({detail})" if detail and (cause is Cause.COMPUTING or ": " in detail) else ""


def _on_the_way(share: Share, client: str) -> str:
    """Return what crossed between two hosts: "27 round trips between db and web (25 question and answer, 1 TCP handshake)"."""
    one, other = share.hosts
    where = f"to {other if one == client else one}" if client in share.hosts else f"between {one} and {other}"
    parts = [f"{_count(trips / 2)} {cause}" for cause, trips, _ in sorted(share.by_cause, key=lambda each: -each[1]) if trips]
    parts = parts if len(parts) <= CAUSES else [*parts[: CAUSES - 1], "others"]
    inside = f" ({', '.join(parts)})" if len(parts) > 1 else f" of {share.by_cause[0][0]}"
    return f"{_count(share.round_trips)} round trip{'s' * (share.round_trips != 1)} {where}{inside}"


def says(block: Block) -> str:
    """Return a block as text: its round trips, cause and hosts, and what was asked if it is one question."""
    trips = block.round_trips
    times = f"{_count(trips)} x " if trips > 1 else ""
    asked = next((each.asked for each in block.steps if each.asked), "") if len(block.steps) <= 2 else ""
    asked = asked if len(asked) <= SAID else asked[: SAID - 3] + "..."
    said = f"{times}{kind(block)}"
    return f"{said}  {asked}" if asked else said


def kind(block: Block) -> str:
    """Return the cause of a block, and between which hosts."""
    return _kind(block)


def _kind(of: Step | Block) -> str:
    """Return a cause with its detail, which comes last where it may be long: on a host, where it names processes and calls."""
    if of.source == of.target and ": " in of.detail:
        return f"{of.cause}, {of.source}: {of.detail}"
    return f"{of.cause}{f': {of.detail}' if of.detail else ''}, {between(of)}"


def says_of(fold: Fold) -> str:
    """Return a fold as text: its block, or how often a pattern of them comes."""
    if not fold.pattern:
        return f"{len(fold.blocks)} shorter parts"
    if fold.times == 1:
        return says(fold.blocks[0])
    causes = " and ".join(dict.fromkeys(str(each.cause) for each in fold.kinds))
    return f"{fold.times} x {between(fold.blocks[0])}: {causes}"


def _rows(account: Account, room: int) -> list[str]:
    """Return the folded blocks, a line each; where there are too many, the shortest that follow each other are one line."""
    found = folds(blocks(account, SHORT_NS), room - 1)
    lines = [
        _cut(f"{(each.begin_ns - account.begin_ns) / 1e6:10.3f} {each.ns / 1e6:10.3f}  {says_of(each)}".rstrip())
        for each in found
    ]
    if (short := rest(account, SHORT_NS)) or not lines:
        lines.append(f"{'':10} {short / 1e6:10.3f}  steps of at most 0.1 ms")
    return lines


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 3].rstrip()}..."


def gains(account: Account, links: Mapping[tuple[str, str], Sequence[str]] | None = None) -> list[str]:
    """Return what would give time back: a nearer link, and one question for many."""
    nearer = nearer_links(account, links)
    asked = [
        f"{count} times the same question with other values: {text if len(text) <= SAID else text[: SAID - 3] + '...'}"
        for text, count in alike(account)[: TAIL["questions"]]
    ]
    return [*([nearer] if nearer else []), *asked]


def nearer_links(account: Account, links: Mapping[tuple[str, str], Sequence[str]] | None = None) -> str:
    """Return what 1 ms of round trip less saves, by link; empty without round trips."""
    found = slopes(account, links)
    said = [f"{name} saves {_count(trips)} ms" for name, trips in sorted(found.items(), key=lambda each: -each[1]) if trips]
    return f"1 ms of round trip less: {', '.join(said)}" if said else ""


def _promises(account: Account) -> list[str]:
    """Return what the cures save that save most, the largest first."""
    return [f"{each.name} saves {milliseconds(each.saves_ns)} ({each.because})" for each in cures(account)[: TAIL["cures"]]]


def slopes(account: Account, links: Mapping[tuple[str, str], Sequence[str]] | None = None) -> dict[str, float]:
    """Return the round trips on the deciding path by link: the ms that 1 ms of round trip less saves there.

    links: the links between each two hosts; without it, the pairs of hosts count.
    """
    found: dict[str, float] = {}
    for each in account.trips():
        for hop in each.hops or ((each.source, each.target),):
            one, other = sorted(hop)
            for name in (links or {}).get((one, other), [f"{one}-{other}"]):
                found[name] = found.get(name, 0.0) + 0.5
    return found


def steps(account: Account) -> Iterator[str]:
    """Yield each step of more than 0.1 ms as a line, with the whole of its message."""
    for each in account.steps:
        if each.ns > SHORT_NS:
            line = f"{(each.begin_ns - account.begin_ns) / 1e6:10.3f} {each.ms:10.3f}  {_kind(each)}  {each.asked}"
            yield line.rstrip()


def _beside(account: Account) -> list[str]:
    if not account.beside:
        return []
    slack = [each.slack_ns for each in account.beside]
    many = len(slack)
    spare = " to ".join(dict.fromkeys((milliseconds(min(slack)), milliseconds(max(slack)))))
    return [f"beside it: {many} connection{'s' * (many != 1)}, with {spare} to spare"]


def wrapped(line: str) -> list[str]:
    """Return a text as lines of 80 columns."""
    return textwrap.wrap(line, WIDTH, subsequent_indent="  ")


def stack(step: Step) -> tuple[str, ...]:
    """Return where a step's time belongs in a flame graph: host or hosts, cause, and detail if there is one.

    All rates of pacing are one: BBR has another in each round trip.
    """
    return tuple(filter(None, (between(step), str(step.cause), PACING if step.detail.startswith(PACING) else step.detail)))


def folded(steps: Sequence[Step]) -> Iterator[str]:
    """Yield the stacks of a flame graph, as speedscope and flamegraph.pl read them: host or hosts, cause, detail, and us."""
    for each in steps:
        if each.ns:
            yield f"{';'.join(word.replace(';', ',') for word in stack(each))} {max(1, round(each.ns / 1000))}"
