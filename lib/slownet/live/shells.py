"""Shells on hosts for terminals of a page: each has a pseudo-terminal, and sends no more than its page has taken."""

from __future__ import annotations

import base64
import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from slownet.model.errors import ExperimentError, SlownetError

COMMAND = ("setsid", "--ctty", "--wait")
IN_CONTAINER = ("/bin/sh", "-c", "command -v bash > /dev/null && exec bash || exec sh")
PIECE = 4096
ROOM = 1 << 16
"""Bytes of one shell that its page has not taken yet: `yes` waits for the page as for a slow terminal."""
MOST = 20


@dataclass
class Shell:
    """One shell. room: how many bytes it may send now; silent: whether it has sent none yet."""

    name: str
    terminal: int
    process: subprocess.Popen[bytes]
    container: Any = None
    room: int = ROOM
    silent: bool = True


class Shells:
    """The shells of a network. post: a function that sends a message to the host."""

    def __init__(self, post: Callable[..., None]) -> None:
        self._post = post
        self._open: dict[str, Shell] = {}

    def open(self, name: str, host: Any, rows: int, columns: int, container: Any = None) -> None:
        """Open a shell on a host, or in a container that runs on it. Raises SlownetError."""
        if len(self._open) >= MOST:
            raise ExperimentError(f"{MOST} shells are open", fix="close one first")
        if name in self._open:
            raise ExperimentError("there is a shell of this name", fix="choose another name")
        terminal, its_end = pty.openpty()
        _resize(terminal, rows, columns)
        environment = {
            **os.environ, "TERM": "xterm-256color", "PS1": rf"{host.name}:\w\$ ", "HISTFILE": "", "HOME": "/root",
        }  # fmt: skip
        ends = {"stdin": its_end, "stdout": its_end, "stderr": its_end, "env": environment}
        try:
            if container is None:
                process = host.popen([*COMMAND, "bash", "--norc", "--noprofile", "-i"], **ends)
            else:
                words = container.in_terminal(IN_CONTAINER, {"TERM": environment["TERM"]})
                process = host.popen([*COMMAND, *words], mounts=lambda: None, **ends)
        except SlownetError:
            os.close(terminal)
            raise
        except OSError as error:
            os.close(terminal)
            raise ExperimentError(
                f"no shell on {host.name} ({error.strerror})", fix="close other programs of the lab"
            ) from error
        finally:
            os.close(its_end)
        os.set_blocking(terminal, False)
        self._open[name] = Shell(name, terminal, process, container)

    @property
    def readable(self) -> list[int]:
        """The descriptors of shells that may send."""
        return [each.terminal for each in self._open.values() if each.room > 0]

    def read(self, terminal: int) -> None:
        """Pass on what a shell has printed, or that it has ended."""
        shell = next((each for each in self._open.values() if each.terminal == terminal), None)
        if shell is None:
            return
        try:
            data = os.read(terminal, min(PIECE, shell.room))
        except BlockingIOError:
            return
        except OSError:  # what a terminal answers when its last program has ended
            data = b""
        if not data:
            if shell.silent and shell.container is not None and (why := shell.container.complaint()):
                self._post(kind="failed", id=shell.name, line=f"no shell in the container: {why}"[:3900])
            self.close(shell.name)
            return
        shell.silent = False
        shell.room -= len(data)
        self._post(kind="shell", id=shell.name, data=base64.b64encode(data).decode())

    def write(self, name: str, data: bytes) -> None:
        """Type something."""
        if shell := self._open.get(name):
            try:
                os.write(shell.terminal, data)
            except BlockingIOError:
                pass  # what no program reads is lost, as on a line without flow control
            except OSError:
                self.close(name)

    def taken(self, name: str, count: int) -> None:
        """Note that the page has taken so many bytes."""
        if shell := self._open.get(name):
            shell.room = min(ROOM, shell.room + count)

    def resize(self, name: str, rows: int, columns: int) -> None:
        """Give a shell another size."""
        if shell := self._open.get(name):
            _resize(shell.terminal, rows, columns)

    def close(self, name: str) -> None:
        """End a shell; its terminal hangs up."""
        if shell := self._open.pop(name, None):
            os.close(shell.terminal)
            shell.process.terminate()
            try:
                shell.process.wait(1)
            except subprocess.TimeoutExpired:
                shell.process.kill()
                shell.process.wait()
            self._post(kind="closed", id=name)

    def close_of(self, owner: str) -> None:
        """End the shells whose names begin with this."""
        for name in [name for name in self._open if name.startswith(owner)]:
            self.close(name)

    def close_all(self) -> None:
        """End all shells."""
        for name in list(self._open):
            self.close(name)


def _resize(terminal: int, rows: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
