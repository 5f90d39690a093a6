"""Runs one command natively, with the same interface as a lab (see lab.Lab)."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from slownet.lab.run.lab import SAME_S, Sink

CHUNK = 1 << 16


class InPlace:
    """A native command. `run` may be called once; `signal` ends its command from another thread."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._on_terminal = False
        self._asked_to_end, self._asked_at = 0, 0.0

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path | None,
        stdin: int | None,
        stdout: Sink,
        stderr: Sink,
        on_terminal: bool,
    ) -> int:
        """Run the command to its end; return its exit status, -N if signal N ended it.

        Processes that it left running are killed. With on_terminal it uses this process's terminal and the sinks are unused.
        """
        self._on_terminal = on_terminal
        output = None if on_terminal else subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL if stdin is None else stdin, stdout=output, stderr=output,
                env={**os.environ, **env}, cwd=cwd, process_group=None if on_terminal else 0,
            )  # fmt: skip
        except OSError as error:
            sys.stderr.write(f"slownet: {argv[0]}: {error.strerror}\n")
            return 127 if isinstance(error, FileNotFoundError) else 126
        if self._asked_to_end:
            self._send(self._asked_to_end)
        process = self._process
        try:
            if on_terminal:
                return process.wait()
            with process:
                try:
                    self._serve(process, stdout, stderr)
                finally:
                    self._send(signal.SIGKILL)
            return process.returncode
        finally:
            self._process = None

    def signal(self, number: int) -> None:
        """Pass a signal to the command; a second signal kills it."""
        now = time.monotonic()
        if not self._asked_to_end:
            self._asked_to_end, self._asked_at = number, now
            self._send(number)
        elif now - self._asked_at > SAME_S:
            self._send(signal.SIGKILL)

    def resize(self, rows: int, columns: int) -> None:
        """Do nothing: the command uses this process's terminal."""

    def _send(self, number: int) -> None:
        if not self._process:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if not self._on_terminal:
                os.killpg(self._process.pid, number)
            elif number != signal.SIGINT:  # the terminal itself sends SIGINT
                os.kill(self._process.pid, number)

    def _serve(self, process: subprocess.Popen[bytes], stdout: Sink, stderr: Sink) -> None:
        assert process.stdout
        assert process.stderr
        sinks = {process.stdout.fileno(): stdout, process.stderr.fileno(): stderr}
        with selectors.DefaultSelector() as selector:
            for fd in sinks:
                os.set_blocking(fd, False)
                selector.register(fd, selectors.EVENT_READ)
            ended = os.pidfd_open(process.pid)
            try:
                selector.register(ended, selectors.EVENT_READ)
                while selector.get_map():
                    for key, _ in selector.select():
                        if key.fd == ended:
                            for fd, sink in sinks.items():
                                _pump(fd, sink)
                            return
                        if not _pump(key.fd, sinks[key.fd]):
                            selector.unregister(key.fd)
            finally:
                os.close(ended)


def _pump(fd: int, sink: Sink) -> bool:
    """Pass on available output; return whether there may be more."""
    with contextlib.suppress(BlockingIOError):
        data = os.read(fd, CHUNK)
        if data:
            sink(data)
        return bool(data)
    return True
