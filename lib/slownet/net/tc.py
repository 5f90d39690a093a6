"""One tc and one ip per network namespace, kept running: a process costs 10 ms in the lab, a line to one that is there 0.3 ms.

Switches share a namespace, and so theirs; that one is started when a network is.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from slownet import owner
from slownet.conditions.jitter import Table
from slownet.errors import NetworkError
from slownet.net.nodes import inside

# They end at the first line that fails.
COMMANDS = {"tc": ["tc", "-json", "-s", "-batch", "-"], "ip": ["ip", "-json", "-batch", "-"]}
_lock = threading.Lock()  # question and answer belong together


class _Batch:
    """A program that reads lines and answers each with a line of JSON."""

    def __init__(self, node: Any, words: Sequence[str]) -> None:
        # A pipe's lines would be held back until the end; a terminal's are not.
        reader, terminal = pty.openpty()
        environment = {**os.environ, "LC_ALL": "C", "TC_LIB_DIR": str(_tables())}
        pipe = subprocess.PIPE
        try:
            with inside(node):
                self._process = subprocess.Popen(
                    words, stdin=pipe, stdout=terminal, stderr=pipe, text=True, env=environment, start_new_session=True
                )
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(terminal)
        self._answers = open(reader)

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, lines: Sequence[str]) -> str:
        """The answer to the last line; nothing when the program has ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("\n".join([*lines, ""]))
            self._process.stdin.flush()
            return self._answers.readline()
        except OSError:  # a pipe that nobody reads, a terminal that nobody writes to
            return ""

    def end(self) -> str:
        """Ends the program and returns what it complained about, without its page of usage."""
        try:
            _, errors = self._process.communicate()
        except BrokenPipeError:  # it had ended before it read all
            errors = self._process.stderr.read() if self._process.stderr else ""
            self._process.wait()
        self._answers.close()
        return errors.strip().partition("\n")[0]


_shared: dict[str, _Batch] = {}  # of the namespace that this process is in


def run(interface: Any, lines: Sequence[str]) -> list[dict[str, Any]]:
    """Gives tc lines such as "qdisc replace ...", in order, and returns the interface's qdiscs after them.

    interface: a Mininet Intf. The qdiscs are as `tc -json -s qdisc show` prints them. Raises NetworkError with tc's own words.
    """
    return _ask(interface, "tc", [*lines, f"qdisc show dev {interface.name}"])


def ip(interface: Any, lines: Sequence[str]) -> dict[str, Any]:
    """Gives ip lines such as "link set ...", and returns the interface as `ip -json link show` prints it."""
    return _ask(interface, "ip", [*lines, f"link show dev {interface.name}"])[0]


def warm(node: Any) -> None:
    """Starts a node's tc and waits until it answers, so that the first question need not."""
    with _lock:
        _batch(node, "tc").ask(["qdisc show dev lo"])


def provide(table: Table) -> None:
    """Puts a table of jitter where every tc finds it by its name."""
    path = _tables() / f"{table.name}.dist"
    if not path.exists():
        path.write_text("\n".join(map(str, table.values)) + "\n")


def close(node: Any) -> None:
    """Ends a node's tc and ip."""
    with _lock:
        running = _running(node)
        while running:
            running.popitem()[1].end()


def _running(node: Any) -> dict[str, _Batch]:
    if not node.inNamespace:
        return _shared
    if not hasattr(node, "slownet_batches"):
        node.slownet_batches = {}
    running: dict[str, _Batch] = node.slownet_batches
    return running


def _batch(node: Any, program: str) -> _Batch:
    running = _running(node)
    if program not in running:
        running[program] = _Batch(node, COMMANDS[program])
    return running[program]


def _ask(interface: Any, program: str, lines: Sequence[str]) -> list[dict[str, Any]]:
    node = interface.node
    with _lock:
        answer = _batch(node, program).ask(lines)
        if not answer:
            errors = _running(node).pop(program).end()
            raise NetworkError(
                f"{program}: {errors} in '{'; '.join(lines[:-1])}'", where=f"interface {interface.name} of {node.name}"
            )
    return list(json.loads(answer))


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
