"""``tcpdump``: what crosses an interface, in a file that Wireshark reads, from before the first packet to after the last."""

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

from slownet.errors import ExperimentError, ToolError
from slownet.tools.output import last_line
from slownet.tools.process import Host, environment
from slownet.tools.tool import missing, not_found

BUFFER_KB = 8192  # in which the kernel keeps what tcpdump has not yet read
DEADLINE_S = 30.0
POLL_S = 0.02
STILL_S = 3.0  # tcpdump's own buffers are handed over after one second
_COUNT = re.compile(r"(\d+) packets? (captured|received by filter|dropped by kernel)")


class Capture:
    """One interface's packets on their way to a file; `with` listens from its first line to its last.

    What a host sends is seen when it leaves the interface, after the queues and delays of its end of the link; what it
    receives, when it arrives. Times are in nanoseconds.
    """

    def __init__(
        self, host: Host, interface: str, path: Path, *,
        filter: str = "", snaplen: int | None = None,  # noqa: A002  # tcpdump's word
    ) -> None:  # fmt: skip
        """filter: as in pcap-filter(7), "tcp port 80"; snaplen: bytes of each packet that are kept, all unless given."""
        if snaplen is not None and snaplen < 1:
            raise ExperimentError(f"a snaplen of {snaplen} keeps nothing", fix="give 1 or more bytes, or leave it out")
        self.interface = interface
        self.path = path
        self.packets = 0  # in the file, known when it has ended
        self.dropped = 0  # that the kernel had no room for
        self._host = host
        self._options = ["-s", f"{snaplen or 0}", *(["--", filter] if filter else [])]
        self._process: subprocess.Popen[bytes] | None = None
        self._said = ""

    @property
    def device(self) -> str:
        """The interface by the name that the machine knows it by."""
        return self.interface

    def start(self) -> Self:
        """Returns when every packet from now on will be in the file. Raises ToolError."""
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
            self._await(lambda: "listening on" in self._said, "tcpdump does not listen")
        except BaseException:
            self._kill()
            raise
        return self

    def stop(self) -> None:
        """Returns when every packet up to now is in the file, and counts them. Raises ToolError. Fine to call twice."""
        if self._process is None:
            return
        try:
            if self._process.poll() is None:
                self._drain()
                self._process.send_signal(signal.SIGINT)
            self._said = ""
            self._await(lambda: "dropped by kernel" in self._said, "tcpdump does not end")
            self._process.wait(DEADLINE_S)
            counts = _counts(self._said)
            self.packets, self.dropped = counts["captured"], counts["dropped by kernel"]
        finally:
            self._kill()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def _drain(self) -> None:
        """Waits until tcpdump has read all that the kernel holds for it: its own count against the kernel's."""
        assert self._process
        deadline = time.monotonic() + DEADLINE_S
        before, since = None, time.monotonic()
        while time.monotonic() < deadline:
            self._said = ""
            self._process.send_signal(signal.SIGUSR1)
            self._await(lambda: "dropped by kernel" in self._said, "tcpdump does not answer")
            counts = _counts(self._said)
            if counts["captured"] + counts["dropped by kernel"] >= counts["received by filter"]:
                return
            if counts != before:  # before its filter was set, the kernel may have counted others
                before, since = counts, time.monotonic()
            elif time.monotonic() - since > STILL_S:
                return
            time.sleep(POLL_S)

    def _await(self, condition: Callable[[], bool], complaint: str) -> None:
        """Reads what tcpdump says until the condition holds. Raises ToolError, with its words if it has ended."""
        assert self._process
        assert self._process.stderr
        deadline = time.monotonic() + DEADLINE_S
        while not condition():
            if not select.select([self._process.stderr], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise ToolError(complaint, self._where, raw=self._said)
            data = self._process.stderr.read1(1 << 16)  # type: ignore[attr-defined]
            self._said += data.decode(errors="replace")
            if not data:
                if not_found("tcpdump", self._said):
                    raise missing("tcpdump", self._where, self._said)
                said = last_line(self._said, complaint).removeprefix("tcpdump: ")
                raise ToolError(f"tcpdump: {said}", self._where, raw=self._said)

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process:
            with suppress(ProcessLookupError):
                process.kill()
            process.communicate()

    @property
    def _where(self) -> str:
        return f"capture on {self.interface}"


def _counts(said: str) -> dict[str, int]:
    found = {what: int(number) for number, what in _COUNT.findall(said)}
    return {what: found.get(what, 0) for what in ("captured", "received by filter", "dropped by kernel")}
