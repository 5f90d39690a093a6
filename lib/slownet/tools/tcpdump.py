"""``tcpdump``: the packets of an interface, kept in a file while something else is measured."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slownet.errors import ToolError
from slownet.tools.process import POLL_S, Host, end, environment, wait_until
from slownet.tools.tool import ENDING, missing, not_found

_CAPTURED = re.compile(r"^(\d+) packets? captured$", re.MULTILINE)
_DROPPED = re.compile(r"^(\d+) packets? dropped by kernel$", re.MULTILINE)
SNAP = 96
"""Bytes kept of each packet: all headers."""
QUIET = 10
"""How many looks at the file must find it unchanged before the capture counts as whole."""


class Dump:
    """A running capture; ``stop`` ends it, with its counts in ``captured`` and ``dropped``."""

    def __init__(self, host: Host, process: subprocess.Popen[bytes], path: Path) -> None:
        self._host, self._process, self.path = host, process, path
        self._said = b""
        self.captured = self.dropped = 0

    def wait(self) -> None:
        """Returns when it listens. Raises ToolError with what it said instead."""
        assert self._process.stderr
        for line in self._process.stderr:
            self._said += line
            if b"listening on" in line:
                return
        self._process.wait()
        said = self._said.decode(errors="replace").strip()
        if not_found("tcpdump", said):
            raise missing("tcpdump", f"host '{self._host.name}'", said)
        raise ToolError(f"tcpdump does not listen: {(said.splitlines() or ['it said nothing'])[-1]}", self._where, raw=said)

    def stop(self) -> None:
        """Ends the capture once the file has stopped growing. Raises ToolError when packets were dropped."""
        sizes: list[int] = []

        def still() -> bool:
            sizes.append(self.path.stat().st_size if self.path.exists() else -1)
            return len(sizes) > QUIET and len(set(sizes[-QUIET:])) == 1

        wait_until(still, 1000 * POLL_S)
        if self._process.poll() is not None:
            raise ToolError(f"tcpdump ended with status {self._process.returncode} before it was stopped", self._where)
        end(self._process, ((signal.SIGINT, 10.0), *ENDING))
        _, rest = self._process.communicate()
        said = (self._said + rest).decode(errors="replace")
        counts = _CAPTURED.search(said), _DROPPED.search(said)
        if counts[0] is None or counts[1] is None:
            last = (said.strip().splitlines() or ["nothing"])[-1]
            raise ToolError(f"tcpdump printed no counts; its last line: {last!r}", self._where, raw=said)
        self.captured, self.dropped = int(counts[0][1]), int(counts[1][1])
        if self.dropped:
            raise ToolError(f"tcpdump lost {self.dropped} packets", self._where, raw=said)

    def abandon(self) -> None:
        """Ends the capture, whatever has become of it."""
        end(self._process, ENDING)
        if self._process.stderr:
            self._process.stderr.close()

    @property
    def _where(self) -> str:
        return f"host '{self._host.name}'"


@contextmanager
def capture(host: Host, interface: str, words: str, path: Path) -> Iterator[Dump]:
    """Packets of an interface that match a filter (``"tcp port 5000"``), from now until ``stop`` or the block's end.

    The file is a pcap with nanoseconds, counted as :mod:`slownet.tools.strace` counts. Raises ToolError.
    """
    options = ["-i", interface, "-n", "-Z", "root", "-s", str(SNAP), "--nano", "--immediate-mode", "-U", "-w", str(path)]
    try:
        process = host.popen(
            ["tcpdump", *options, *words.split()],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(),
        )  # fmt: skip
    except FileNotFoundError as error:
        raise missing("tcpdump", f"host '{host.name}'") from error
    dump = Dump(host, process, path)
    try:
        dump.wait()
        yield dump
    finally:
        dump.abandon()
