"""Chromium's DevTools protocol over a pair of pipes: JSON messages that end with a NUL byte.

A message with an ``id`` answers a command; every other one is an event. Both may belong to a session, which is one page.
https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Callable, Mapping
from typing import Any

from slownet.model.errors import ToolError
from slownet.model.shapes import Json

Event = dict[str, Json]
"""``{"method": "Page.loadEventFired", "params": {...}, "sessionId": ...}``."""
Answer = Mapping[str, Json]
"""The result of a command."""
_BLOCK = 1 << 16
_END = b"\0"


class DevTools:
    """One browser's end of the protocol.

    commands, answers: file descriptors to write commands to, and to read answers and events from.
    ended: returns the error to raise when the browser has closed its end.
    patience: seconds that a command's answer may take.
    """

    def __init__(self, commands: int, answers: int, ended: Callable[[], ToolError], patience: float = 120.0) -> None:
        self._commands, self._answers = commands, answers
        self._ended = ended
        self._patience = patience
        self._number = 0
        self._unread = b""
        self._awaited: dict[int, Answer | None] = {}
        self._listeners: dict[str, Callable[[Event], None]] = {}

    def listen(self, session: str, to: Callable[[Event], None] | None) -> None:
        """Call ``to`` with each event of a session ("" is the browser itself) from now on; None ends that."""
        if to is None:
            self._listeners.pop(session, None)
        else:
            self._listeners[session] = to

    def send(self, method: str, session: str = "", /, **parameters: Any) -> int:
        """Send a command without waiting; return its number. Raises ToolError if the browser has ended."""
        self._number += 1
        message: Event = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._write(json.dumps(message).encode() + _END)
        return self._number

    def call(self, method: str, session: str = "", /, **parameters: Any) -> Answer:
        """Send a command and return its result. Raises ToolError if it fails, or the browser ends or does not answer."""
        number = self.ask(method, session, **parameters)
        if not self.wait(lambda: self.answered(number), self._patience):
            raise ToolError(f"the browser did not answer {method} within {self._patience:g} s")
        return self.result(number, method)

    def ask(self, method: str, session: str = "", /, **parameters: Any) -> int:
        """Send a command whose result will be wanted; return its number. Raises ToolError if the browser has ended."""
        number = self.send(method, session, **parameters)
        self._awaited[number] = None
        return number

    def answered(self, number: int) -> bool:
        """Return whether the result of a command has come."""
        return self._awaited.get(number) is not None

    def result(self, number: int, method: str) -> Answer:
        """Return the result of a command that was answered. Raises ToolError if the browser refused it."""
        answer = self._awaited.pop(number) or {}
        if "error" in answer:
            raise ToolError(f"the browser refused {method}: {answer['error'].get('message', 'no message')}")
        result: Answer = answer.get("result", {})
        return result

    def wait(self, until: Callable[[], bool], seconds: float) -> bool:
        """Receive messages until a condition holds; return whether it did in time. Raises ToolError if the browser ends."""
        deadline = time.monotonic() + seconds
        while not until():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._receive(left)
        return True

    def _write(self, message: bytes) -> None:
        try:
            while message:
                message = message[os.write(self._commands, message) :]
        except BrokenPipeError:
            raise self._ended() from None

    def _receive(self, seconds: float) -> None:
        """Read what there is, for some time at most, and deliver each whole message."""
        ready = select.poll()
        ready.register(self._answers, select.POLLIN)
        if not ready.poll(max(1.0, 1000 * seconds)):
            return
        received = os.read(self._answers, _BLOCK)
        if not received:
            raise self._ended()
        *whole, self._unread = (self._unread + received).split(_END)
        for each in whole:
            self._deliver(json.loads(each))

    def _deliver(self, message: Event) -> None:
        if "id" in message:
            if message["id"] in self._awaited:
                self._awaited[message["id"]] = message
        elif listener := self._listeners.get(message.get("sessionId", "")):
            listener(message)
