"""``tcpdump``: records the packets that cross an interface in a file for Wireshark, without missing the first or the last."""

from __future__ import annotations

import re
import select
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from slownet.model.errors import ExperimentError, ToolError
from slownet.net.output import last_line
from slownet.net.process import Host, environment
from slownet.net.tool import missing, not_found

BUFFER_KB = 8192  # the kernel's buffer for packets that tcpdump has not read yet
DEADLINE_S = 30.0
POLL_S, LONGEST_POLL_S = 0.04, 0.32  # from the one to the other: each asks tcpdump for its counts, and it has a second's time
STILL_S = 3.0  # the kernel hands partly filled buffers to tcpdump after one second
_COUNT = re.compile(r"(\d+) packets? (captured|received by filter|dropped by kernel)")


class Capture:
    """A capture of one interface's packets to a file; a ``with`` statement captures for the length of its block.

    A packet that the host sends is captured when it leaves the interface, after the queues and delays of that end of the
    link; one that it receives, when it arrives. Timestamps are in nanoseconds.

    host: the host that ``tcpdump`` runs on.
    interface: the interface, such as "client-eth0".
    path: the file to write; its folder is created.
    filter: a filter as in pcap-filter(7), such as "tcp port 80".
    snaplen: bytes to keep of each packet; by default all.
    packets: packets in the file; known when the capture has ended.
    dropped: packets that the kernel's buffer had no room for; known when the capture has ended.
    Raises ExperimentError: ``snaplen`` is less than 1.
    """

    def __init__(
        self, host: Host, interface: str, path: Path, *,
        filter: str = "", snaplen: int | None = None,  # noqa: A002  # tcpdump's word
    ) -> None:  # fmt: skip
        if snaplen is not None and snaplen < 1:
            raise ExperimentError(f"a snaplen of {snaplen} keeps nothing", fix="give 1 or more bytes, or leave it out")
        self.interface = interface
        self.path = path
        self.packets = 0
        self.dropped = 0
        self._host = host
        self._options = ["-s", f"{snaplen or 0}", *(["--", filter] if filter else [])]
        self._process: subprocess.Popen[bytes] | None = None
        self._output = ""

    @property
    def device(self) -> str:
        """The interface's name on the machine."""
        return self.interface

    def start(self) -> Self:
        """Start the capture; every packet after the return is in the file. Raises ToolError."""
        words = ["tcpdump", "-n", "-i", self.device, "-B", f"{BUFFER_KB}", "--time-stamp-precision=nano", "-w", "-"]
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = self.path.open("wb")
        except OSError as error:
            raise ToolError(f"cannot capture to {self.path}: {error.strerror}", self._where) from error
        with file:
            try:
                self._process = self._host.popen(
                    [*words, *self._options], stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE, env=environment()
                )
            except FileNotFoundError as error:
                raise missing("tcpdump", self._where) from error
        try:
            self._await(lambda: "listening on" in self._output, "tcpdump does not listen")
        except BaseException:
            self._kill()
            raise
        return self

    def stop(self) -> None:
        """End the capture; every packet until the call is in the file and counted. Fine to call twice. Raises ToolError."""
        if self._process is None:
            return
        try:
            if self._process.poll() is None:
                self._drain()
                self._process.send_signal(signal.SIGINT)
            self._output = ""
            self._await(lambda: "dropped by kernel" in self._output, "tcpdump does not end")
            self._process.wait(DEADLINE_S)
            counts = _counts(self._output)
            self.packets, self.dropped = counts["captured"], counts["dropped by kernel"]
        finally:
            self._kill()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def _drain(self) -> None:
        """Wait until tcpdump has read every packet that the kernel has for it, by comparing its count with the kernel's."""
        assert self._process
        deadline = time.monotonic() + DEADLINE_S
        before, since, pause = None, time.monotonic(), POLL_S
        while time.monotonic() < deadline:
            self._output = ""
            self._process.send_signal(signal.SIGUSR1)
            self._await(lambda: "dropped by kernel" in self._output, "tcpdump does not answer")
            counts = _counts(self._output)
            if counts["captured"] + counts["dropped by kernel"] >= counts["received by filter"]:
                return
            # The kernel may have counted other packets before the filter was set, so also stop when the counts stand still.
            if counts != before:
                before, since = counts, time.monotonic()
            elif time.monotonic() - since > STILL_S:
                return
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_POLL_S)

    def _await(self, condition: Callable[[], bool], complaint: str) -> None:
        """Read tcpdump's standard error until the condition holds. Raises ToolError, with its message if it has ended."""
        assert self._process
        assert self._process.stderr
        deadline = time.monotonic() + DEADLINE_S
        while not condition():
            if not select.select([self._process.stderr], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise ToolError(complaint, self._where, raw=self._output)
            data = self._process.stderr.read1(1 << 16)  # type: ignore[attr-defined]
            self._output += data.decode(errors="replace")
            if not data:
                if not_found("tcpdump", self._output):
                    raise missing("tcpdump", self._where, self._output)
                message = last_line(self._output, complaint).removeprefix("tcpdump: ")
                raise ToolError(f"tcpdump: {message}", self._where, raw=self._output)

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process:
            with suppress(ProcessLookupError):
                process.kill()
            process.communicate()

    @property
    def _where(self) -> str:
        return f"capture on {self.interface}"


def _counts(output: str) -> dict[str, int]:
    found = {what: int(number) for number, what in _COUNT.findall(output)}
    return {what: found.get(what, 0) for what in ("captured", "received by filter", "dropped by kernel")}
