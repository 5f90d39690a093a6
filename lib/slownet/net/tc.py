"""Keeps a tc and an ip running per network namespace: in the lab a new process takes 10 ms, a line to a running one 0.3 ms.

Switches share those of the machine's namespace, started with the network. A program that does not answer is ended.
"""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakSet

from slownet.lab.host import owner
from slownet.links.conditions.jitter import Table
from slownet.model.errors import NetworkError
from slownet.model.shapes import Json
from slownet.net.namespace import inside
from slownet.net.plan import Qdisc

# They exit at the first line that fails.
COMMANDS = {"tc": ["tc", "-json", "-s", "-batch", "-"], "ip": ["ip", "-json", "-batch", "-"]}
DEADLINE_S = 30.0
"""The timeout of an answer, which normally takes a millisecond."""
ENDING_S = 2.0


class _Batch:
    """A program that reads lines and answers each with a line of JSON."""

    def __init__(self, node: Any, words: Sequence[str]) -> None:
        # Output to a pipe would be buffered until the end; output to a terminal is not.
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
        self._ready = select.poll()  # select() is limited to the first 1024 descriptors
        self._ready.register(self._answers, select.POLLIN)

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, lines: Sequence[str], deadline_s: float) -> str:
        """Return the answer to the last line; "" if the program has ended. Raises TimeoutError after `deadline_s`."""
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
        except OSError:  # the program has closed its pipe or its terminal
            return ""
        return answer.decode()

    def kill(self) -> None:
        """Kill the program."""
        self._process.kill()
        self.end()

    def end(self) -> str:
        """End the program and return the first line of its errors, without its usage text."""
        try:
            _, errors = self._process.communicate(timeout=ENDING_S)
        except BrokenPipeError:  # it ended before it had read all input
            errors = self._process.stderr.read() if self._process.stderr else ""
            self._process.wait()
        except subprocess.TimeoutExpired:
            self._process.kill()
            _, errors = self._process.communicate()
        os.close(self._answers)
        return errors.strip().partition("\n")[0]


_lock = threading.Lock()  # keeps each question with its answer
_machine: dict[tuple[Any, str], _Batch] = {}  # those in this process's own namespace, shared by all networks
_asking: WeakSet[Programs] = WeakSet()  # the networks that use them


class Programs:
    """The tc and the ip of each namespace of a network, started on first use and kept running.

    Those of the machine's own namespace are shared by all networks of a process, and end with the last one that used them.
    """

    def __init__(self) -> None:
        self._running: dict[tuple[Any, str], _Batch] = {}

    def run(self, interface: Any, lines: Sequence[str]) -> list[Qdisc]:
        """Send lines such as "qdisc replace ..." to tc in order, and return the interface's qdiscs afterwards.

        interface: a Mininet Intf. The qdiscs are as `tc -json -s qdisc show` prints them. Raises NetworkError with tc's
        message, or when tc does not answer.
        """
        return list(self._ask(interface, "tc", [*lines, f"qdisc show dev {interface.name}"]))

    def ip(self, interface: Any, lines: Sequence[str]) -> Mapping[str, Json]:
        """Send lines such as "link set ..." to ip, and return the interface as `ip -json link show` prints it."""
        shown: Mapping[str, Json] = self._ask(interface, "ip", [*lines, f"link show dev {interface.name}"])[0]
        return shown

    def warm(self, node: Any) -> None:
        """Start a node's tc in advance and wait until it answers. Raises NetworkError."""
        self._answer(node, "tc", ["qdisc show dev lo"], f"node {node.name}")

    def close(self) -> None:
        """End all of them; the next use starts new ones."""
        with _lock:
            _asking.discard(self)
            for running in (self._running, *([] if _asking else [_machine])):
                while running:
                    running.popitem()[1].end()

    @property
    def pids(self) -> set[int]:
        """The numbers of the running processes."""
        return {each.pid for running in (self._running, _machine if self in _asking else {}) for each in running.values()}

    def _ask(self, interface: Any, program: str, lines: Sequence[str]) -> Any:
        where = f"interface {interface.name} of {interface.node.name}"
        return json.loads(self._answer(interface.node, program, lines, where))

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
    """Return the error for a program that does not answer."""
    return NetworkError(f"{program} has not answered for {DEADLINE_S:g} s", where, "look at the kernel's messages: dmesg")


def provide(table: Table) -> None:
    """Write a table of jitter to a file that tc finds by the table's name."""
    path = _tables() / f"{table.name}.dist"
    if not path.exists():
        path.write_text("\n".join(map(str, table.values)) + "\n")


@cache
def table(distribution: str) -> tuple[int, ...]:
    """Return the table from which netem draws deviations of the delay, all equally likely; 8192 is one jitter."""
    lines = (_tables() / f"{distribution}.dist").read_text().splitlines()
    return tuple(int(word) for line in lines if not line.startswith("#") for word in line.split())


@cache
def _tables() -> Path:
    """Make the folder where tc looks for the tables of distributions, with iproute2's and a uniform one.

    netem keeps its last table until it is given another one, so uniform jitter needs a table, too. (netem's own uniform draw
    without a table is in 32 bits of nanoseconds and ends at 2 s.)
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
