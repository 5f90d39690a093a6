"""One tc and one ip per node, kept running: a process costs 14 ms in the lab, a line to one that is there 0.2 ms."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from slownet import owner
from slownet.errors import NetworkError
from slownet.jitter import Table

# In a batch they buffer what they print until the end, unless told otherwise. They end at the first line that fails.
COMMANDS = {
    "tc": ["stdbuf", "-oL", "tc", "-json", "-s", "-batch", "-"],
    "ip": ["stdbuf", "-oL", "ip", "-json", "-batch", "-"],
}
_lock = threading.Lock()  # question and answer belong together


def run(interface: Any, lines: Sequence[str]) -> list[dict[str, Any]]:
    """Gives tc lines such as "qdisc replace ...", in order, and returns the interface's qdiscs after them.

    interface: a Mininet Intf. The qdiscs are as `tc -json -s qdisc show` prints them. Raises NetworkError with tc's own words.
    """
    return _ask(interface, "tc", [*lines, f"qdisc show dev {interface.name}"])


def ip(interface: Any, lines: Sequence[str]) -> dict[str, Any]:
    """Gives ip lines such as "link set ...", and returns the interface as `ip -json link show` prints it."""
    return _ask(interface, "ip", [*lines, f"link show dev {interface.name}"])[0]


def provide(table: Table) -> None:
    """Puts a table of jitter where every tc finds it by its name."""
    path = _tables() / f"{table.name}.dist"
    if not path.exists():
        path.write_text("\n".join(map(str, table.values)) + "\n")


def close(node: Any) -> None:
    """Ends a node's tc and ip."""
    for program in list(_running(node)):
        _end(node, program)


def _running(node: Any) -> dict[str, subprocess.Popen[str]]:
    if not hasattr(node, "slownet_batches"):
        node.slownet_batches = {}
    running: dict[str, subprocess.Popen[str]] = node.slownet_batches
    return running


def _ask(interface: Any, program: str, lines: Sequence[str]) -> list[dict[str, Any]]:
    node = interface.node
    with _lock:
        running = _running(node)
        process = running.get(program) or running.setdefault(program, _start(node, program))
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write("\n".join([*lines, ""]))
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            errors = _end(node, program)
            raise NetworkError(
                f"{program}: {errors} in '{'; '.join(lines[:-1])}'", where=f"interface {interface.name} of {node.name}"
            )
    return list(json.loads(answer))


def _end(node: Any, program: str) -> str:
    """Ends a process and returns what it complained about, without its page of usage."""
    process = _running(node).pop(program)
    try:
        _, errors = process.communicate()
    except BrokenPipeError:  # it had ended before it read all
        errors = process.stderr.read() if process.stderr else ""
        process.wait()
    return errors.strip().partition("\n")[0]


def _start(node: Any, program: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "LC_ALL": "C", "TC_LIB_DIR": str(_tables())}
    pipe = subprocess.PIPE
    words = COMMANDS[program]
    process: subprocess.Popen[str] = node.popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment)
    return process


@cache
def table(distribution: str) -> tuple[int, ...]:
    """The table that netem draws a delay's deviation from, each value with the same chance; 8192 is one jitter."""
    lines = (_tables() / f"{distribution}.dist").read_text().splitlines()
    return tuple(int(word) for line in lines if not line.startswith("#") for word in line.split())


@cache
def _tables() -> Path:
    """A folder with the tables of the distributions, where tc looks for them.

    iproute2's, and a uniform one: netem keeps the table that it was given last, so only another one takes it back. (Its
    own uniform draw without a table is 32 bits of nanoseconds: it ends at 2 s.)
    """
    folder = owner.directory() / "tc"
    folder.mkdir()
    for pattern in ("tc/*.dist", "*/tc/*.dist"):
        for table in Path("/usr/lib").glob(pattern):
            if not (folder / table.name).exists():
                (folder / table.name).symlink_to(table)
    steps = range(-8192, 8193, 8)  # 8192 is one jitter
    (folder / "uniform.dist").write_text("\n".join(map(str, steps)) + "\n")
    return folder
