"""nftables' rules on a host for a while, with how many packets each one matched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from slownet.model.errors import ToolError
from slownet.net.process import Host
from slownet.net.tool import run

TABLE = "slownet"


@dataclass(frozen=True)
class Rule:
    """The verdict of a rule for some IPv4 packets.

    hook: where: "prerouting", "input", "forward", "output" or "postrouting".
    match: which packets, in nft's words: "icmp type destination-unreachable".
    action: what happens to them: "drop", or a change such as "tcp option maxseg size set 1360".
    """

    hook: str
    match: str
    action: str


@contextmanager
def filtering(host: Host, *rules: Rule) -> Iterator[Callable[[], tuple[int, ...]]]:
    """Apply rules on a host for a ``with`` block; all of them, or none if one is wrong.

    host: the host, whose own and forwarded packets are concerned.
    *rules: packets pass them in this order.
    yields: returns how many packets each rule has matched so far.
    Raises ToolError: nft is missing, a rule is wrong or not supported by the kernel, or rules of ours are still there.
    """
    lines = [f"create table ip {TABLE}"]
    for number, rule in enumerate(rules):
        lines += [
            f"add chain ip {TABLE} chain{number} {{ type filter hook {rule.hook} priority 0; }}",
            f"add counter ip {TABLE} {_counter(number)}",
            f"add rule ip {TABLE} chain{number} {rule.match} counter name {_counter(number)} {rule.action}",
        ]
    commands(host, lines)
    try:
        yield lambda: tuple(count(commands(host, [f"list counter ip {TABLE} {_counter(n)}"])) for n in range(len(rules)))
    finally:
        commands(host, [f"delete table ip {TABLE}"])


def count(text: str) -> int:
    """Parse the number of packets from what ``nft list counter`` printed. Raises ToolError."""
    words = text.split()
    try:
        return int(words[words.index("packets") + 1])
    except (ValueError, IndexError):
        raise ToolError(f"nft printed no number of packets: {text.strip()!r}", raw=text) from None


def _counter(number: int) -> str:
    return f"matched{number}"


def commands(host: Host, lines: Sequence[str]) -> str:
    """Run commands of nft as one transaction; return what it prints. Raises ToolError."""
    script = "; ".join(lines)
    done = run(host, ["nft", script], check=False)
    if done.status:
        # Its last lines repeat the command and underline a part of it.
        said = (done.stderr.strip().splitlines() or [f"status {done.status}"])[0].removeprefix("Error: ")
        raise ToolError(f"nft: {said}", f"host '{host.name}'", f"commands: {script}", raw=done.raw)
    return done.stdout
