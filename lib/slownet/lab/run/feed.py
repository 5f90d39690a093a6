"""Sends a lab its job and then its command's standard input, as fast as the lab accepts it."""

from __future__ import annotations

import os
import selectors

from slownet.lab.run import channel as frames
from slownet.lab.run.channel import Channel, ProtocolError

PIECE = 1024


class Feed:
    """Flow-controlled sender. `fd`: descriptor to read the command's input from; None without input, or after its end."""

    def __init__(self, job: bytes, fd: int | None, channel: Channel) -> None:
        self.fd = fd
        self.job_is_sent = False
        self._job = job
        self._channel = channel
        self._room = 0
        self._at_once = False  # a plain file, which epoll cannot poll
        self._watched = False
        self._ended = False

    def start(self) -> None:
        """Start sending; called when the lab is ready for its job."""
        self._add_room(frames.WINDOW_BYTES)

    def taken(self, count: int) -> None:
        """Add `count` bytes of room; called when the lab has consumed them. Raises ProtocolError if it was not sent as many."""
        if self._room + count > frames.WINDOW_BYTES:
            raise ProtocolError.of(f"it took {count} bytes, and {frames.WINDOW_BYTES - self._room} were on their way")
        self._add_room(count)

    def _add_room(self, count: int) -> None:
        self._room += count
        while self._most > 0 and not self.job_is_sent:
            piece = self._job[: self._most]
            self._job = self._job[len(piece) :]
            self.job_is_sent = not piece  # an empty frame ends the job
            self._send(frames.JOB, piece)

    def follow(self, selector: selectors.BaseSelector) -> None:
        """Watch the descriptor while there is room and more input. Call only after the job was sent."""
        if self.fd is None:
            self._end()
            return
        wanted = self._most > 0 and not self._at_once
        if self._watched and not wanted:
            selector.unregister(self.fd)
        elif wanted and not self._watched:
            try:
                selector.register(self.fd, selectors.EVENT_READ)
            except OSError:
                self._at_once, wanted = True, False
        self._watched = wanted
        while self._at_once and self._most > 0 and not self._ended:
            self._pass_on(self.fd)

    def ready(self, selector: selectors.BaseSelector) -> None:
        """Read and pass on input; called when the descriptor is readable."""
        assert self.fd is not None
        fd = self.fd
        self._pass_on(fd)
        if self._ended:
            selector.unregister(fd)
            self._watched = False

    @property
    def _most(self) -> int:
        """Largest payload of the next frame, in bytes."""
        return min(PIECE, self._room - frames.HEAD_BYTES)

    def _pass_on(self, fd: int) -> None:
        try:
            data = os.read(fd, self._most)
        except BlockingIOError:
            return
        except OSError:  # a folder, or a closed terminal
            data = b""
        if data:
            self._send(frames.INPUT, data)
        else:
            self._end()

    def _send(self, kind: bytes, data: bytes) -> None:
        self._room -= frames.HEAD_BYTES + len(data)
        self._channel.send(kind, data)

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self.fd = None
            self._channel.send(frames.END_OF_INPUT)
