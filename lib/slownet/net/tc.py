"""One tc and one ip per network namespace, kept running: a process costs 10 ms in the lab, a line to one that is there 0.3 ms.

Switches share the machine's namespace, and so theirs, which is started when a network is. One that does not answer is ended.
"""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import threading
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakSet

from slownet import owner
from slownet.conditions.jitter import Table
from slownet.errors import NetworkError
from slownet.net.nodes import inside

# They end at the first line that fails.
COMMANDS = {"tc": ["tc", "-json", "-s", "-batch", "-"], "ip": ["ip", "-json", "-batch", "-"]}
DEADLINE_S = 30.0
"""After which one counts as hanging; a question takes a millisecond."""
ENDING_S = 2.0


class _Batch:
    """A program that reads lines and answers each with a line of JSON."""

    def __init__(self, node: Any, words: Sequence[str]) -> None:
        # A pipe's lines would be held back until the end; a terminal's are not.
        self._answers, terminal = pty.openpty()
        environment = {**os.environ, "LC_ALL": "C", "TC_LIB_DIR": str(_tables())}
        pipe = subprocess.PIPE
        try:
            with inside(node):
                self._process = subprocess.Popen(
                    words, stdin=pipe, stdout=terminal, stderr=pipe, text=True, env=environment, start_new_session=True
                )
        except BaseException:
            os.close(self._answers)
            raise
        finally:
            os.close(terminal)
        self._ready = select.poll()  # select's own call knows the first 1024 files only
        self._ready.register(self._answers, select.POLLIN)

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, lines: Sequence[str], deadline_s: float) -> str:
        """The answer to the last line; nothing when the program has ended. Raises TimeoutError after so many seconds."""
        assert self._process.stdin is not None
        deadline = time.monotonic() + deadline_s
        answer = b""
        try:
            self._process.stdin.write("\n".join([*lines, ""]))
            self._process.stdin.flush()
            while not answer.endswith(b"\n"):
                if not self._ready.poll(1000 * max(0.0, deadline - time.monotonic())):
                    raise TimeoutError
                if not (more := os.read(self._answers, 1 << 16)):
                    return ""
                answer += more
        except TimeoutError:
            raise
        except OSError:  # a pipe that nobody reads, a terminal that nobody writes to
            return ""
        return answer.decode()

    def kill(self) -> None:
        """Ends the program whatever it does."""
        self._process.kill()
        self.end()

    def end(self) -> str:
        """Ends the program and returns what it complained about, without its page of usage."""
        try:
            _, errors = self._process.communicate(timeout=ENDING_S)
        except BrokenPipeError:  # it had ended before it read all
            errors = self._process.stderr.read() if self._process.stderr else ""
            self._process.wait()
        except subprocess.TimeoutExpired:
            self._process.kill()
            _, errors = self._process.communicate()
        os.close(self._answers)
        return errors.strip().partition("\n")[0]


_lock = threading.Lock()  # question and answer belong together
_machine: dict[tuple[Any, str], _Batch] = {}  # of the namespace that this process is in, whichever network asks
_asking: WeakSet[Programs] = WeakSet()  # the networks that have asked them


class Programs:
    """The tc and the ip of each namespace of a network, started when they are first asked and kept running.

    Those of the machine's own namespace are one for all networks of a process, and end with the last that asked them.
    """

    def __init__(self) -> None:
        self._running: dict[tuple[Any, str], _Batch] = {}

    def run(self, interface: Any, lines: Sequence[str]) -> list[dict[str, Any]]:
        """Gives tc lines such as "qdisc replace ...", in order, and returns the interface's qdiscs after them.

        interface: a Mininet Intf. The qdiscs are as `tc -json -s qdisc show` prints them. Raises NetworkError with tc's own
        words, or when tc does not answer.
        """
        return self._ask(interface, "tc", [*lines, f"qdisc show dev {interface.name}"])

    def ip(self, interface: Any, lines: Sequence[str]) -> dict[str, Any]:
        """Gives ip lines such as "link set ...", and returns the interface as `ip -json link show` prints it."""
        return self._ask(interface, "ip", [*lines, f"link show dev {interface.name}"])[0]

    def warm(self, node: Any) -> None:
        """Starts a node's tc and waits until it answers, so that the first question need not. Raises NetworkError."""
        self._answer(node, "tc", ["qdisc show dev lo"], f"node {node.name}")

    def close(self) -> None:
        """Ends all of them; the next question starts another."""
        with _lock:
            _asking.discard(self)
            for running in (self._running, *([] if _asking else [_machine])):
                while running:
                    running.popitem()[1].end()

    @property
    def pids(self) -> set[int]:
        """The processes that run now."""
        return {each.pid for running in (self._running, _machine if self in _asking else {}) for each in running.values()}

    def _ask(self, interface: Any, program: str, lines: Sequence[str]) -> list[dict[str, Any]]:
        where = f"interface {interface.name} of {interface.node.name}"
        return list(json.loads(self._answer(interface.node, program, lines, where)))

    def _answer(self, node: Any, program: str, lines: Sequence[str], where: str) -> str:
        asked = "; ".join(lines[:-1] or lines)
        with _lock:
            key, running = ((node, program), self._running) if node.inNamespace else ((None, program), _machine)
            if running is _machine:
                _asking.add(self)
            if key not in running:
                running[key] = _Batch(node, COMMANDS[program])
            try:
                answer = running[key].ask(lines, DEADLINE_S)
            except TimeoutError:
                running.pop(key).kill()
                raise silent(f"{program}, asked '{asked}',", where) from None
            if not answer:
                errors = running.pop(key).end()
                raise NetworkError(f"{program}: {errors} in '{asked}'", where=where)
        return answer


def silent(program: str, where: str) -> NetworkError:
    """The error of a program that does not answer."""
    return NetworkError(f"{program} has not answered for {DEADLINE_S:g} s", where, "look at what the kernel says: dmesg")


def provide(table: Table) -> None:
    """Puts a table of jitter where every tc finds it by its name."""
    path = _tables() / f"{table.name}.dist"
    if not path.exists():
        path.write_text("\n".join(map(str, table.values)) + "\n")


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
