"""A terminal with a program on it, for tests of interactive use."""

import contextlib
import fcntl
import os
import pty
import select
import struct
import termios
import time

from conftest import PATIENCE_S


class Terminal:
    """A terminal with a program on it."""

    def __init__(self, words, rows=31, columns=97, cwd=None):
        pid, self.fd = pty.fork()
        if not pid:
            if cwd:
                os.chdir(cwd)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execvp(words[0], words)
        self.pid = pid
        self.text = b""

    def until(self, wanted):
        deadline = time.monotonic() + PATIENCE_S
        while wanted not in self.text:
            assert time.monotonic() < deadline, self.text
            if select.select([self.fd], [], [], 1)[0]:
                try:
                    data = os.read(self.fd, 4096)
                except OSError:
                    data = b""
                assert data, self.text
                self.text += data
        found, _, self.text = self.text.partition(wanted)
        return found

    def write(self, data):
        os.write(self.fd, data)

    def end(self):
        """Return the exit status and the rest of the output."""
        with contextlib.suppress(OSError):
            while data := os.read(self.fd, 4096):
                self.text += data
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]), self.text

    def settings(self):
        return termios.tcgetattr(self.fd)
