"""The host's end of a running network: starts the lab in a thread, sends orders, and passes on its messages."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slownet.lab.run.lab import Share
from slownet.lab.run.place import Place
from slownet.live import messages
from slownet.live.messages import Lines, Message
from slownet.model.control_characters import visible
from slownet.model.errors import LabError, SlownetError
from slownet.model.shapes import Json

KEPT_BYTES = 8000
"""Of the lab's standard error: its last lines explain why it ended."""
END_S = 15.0


@dataclass(frozen=True)
class Start:
    """The start of a network: the job of `slownet.live.inside`, and the folders that it needs."""

    job: Mapping[str, Json]
    shares: Sequence[Share] = ()


class Line:
    """One lab that runs a network. heard: called with each message, from another thread; gone: with why it ended.

    On the virtual clock the lab stands still unless `advance` lets it go on: its processes are stopped meanwhile.
    """

    def __init__(self, place: Place, start: Start, heard: Callable[[Message], None], gone: Callable[[str], None]) -> None:
        self._place, self._start = place, start
        self._heard, self._gone = heard, gone
        self._lines = Lines()
        self._errors = b""
        self._input, self._output = os.pipe()
        os.set_blocking(self._output, False)
        self._unsent = bytearray()
        self._lock = threading.Lock()
        self._unanswered = 0
        self._stopped = contextlib.ExitStack()
        self._thread = threading.Thread(target=self._attend, name="slownet live lab", daemon=True)
        self.is_held = False
        """True while it waits to be advanced."""

    def begin(self) -> None:
        """Boot the lab."""
        self._thread.start()

    @property
    def virtual(self) -> bool:
        """True on the virtual clock."""
        return self._place.clock.kind == "virtual"

    def send(self, **order: Json) -> None:
        """Send an order. Raises LabError if the lab takes no more."""
        data = messages.line(**order)
        with self._lock:
            self._go_on()
            if "id" in order:
                self._unanswered += 1
            self._unsent += data
            self._flush()
            if len(self._unsent) > messages.LINE_BYTES * 4:
                raise LabError("the lab's queue of orders is full", fix="wait until it has finished")

    def _flush(self) -> None:
        """Write what the pipe takes. Its reader is a lab that may be busy, so nothing here waits."""
        with contextlib.suppress(BlockingIOError):
            while self._unsent:
                try:
                    del self._unsent[: os.write(self._output, self._unsent)]
                except BrokenPipeError:
                    self._unsent.clear()

    def advance(self) -> None:
        """Let a quarter of a second pass, on the virtual clock, if it waits for that."""
        if self.is_held:
            self.is_held = False
            self.send(do="go")

    def end(self) -> None:
        """End the network and wait until the lab is gone."""
        import signal

        with self._lock:
            self._go_on()
        self._place.signal(signal.SIGTERM)
        self._thread.join(END_S)
        if self._thread.is_alive():
            self._place.signal(signal.SIGKILL)
            self._thread.join(END_S)

    def _go_on(self) -> None:
        self._stopped.close()

    def _attend(self) -> None:
        line = ""
        words = [self._place.python, "-m", "slownet.live.inside", json.dumps(self._start.job)]
        try:
            status = self._place.run(
                words, shares=self._start.shares, stdin=self._input, stdout=self._take, stderr=self._complain
            )
            if status:
                line = self._said() or f"the lab ended with status {status}"
        except SlownetError as error:
            line = error.line
        except Exception as error:  # in a thread nothing else would report it
            line = f"{type(error).__name__}: {error}"
        finally:
            with self._lock:
                self._go_on()
                for descriptor in (self._input, self._output):
                    os.close(descriptor)
                self._output = -1
        self._gone(line)

    def _take(self, data: bytes) -> None:
        for text in self._lines.feed(data):
            message = messages.read(text)
            if message["kind"] in ("taken", "failed") and message["id"] != "tick":
                self._unanswered = max(0, self._unanswered - 1)
            if message["kind"] == "taken" and message["id"] == "tick":
                self.is_held = True
            self._heard(message)
        with self._lock:
            self._flush()
            if self.is_held and not self._unanswered and not self._unsent:
                self._stopped.enter_context(self._place.stopped())

    def _complain(self, data: bytes) -> None:
        self._errors = (self._errors + data)[-KEPT_BYTES:]

    def _said(self) -> str:
        lines = visible(self._errors.decode(errors="replace")).strip().splitlines()
        return lines[-1].removeprefix("slownet: ") if lines else ""


def own_place(clock: Any, megabytes: int, kernel: str | None) -> Place:
    """Return a lab for a page: never this machine itself, because a page has shells. Raises LabError."""
    from slownet.lab.run.place import choose

    return choose("lab", clock, megabytes, kernel=kernel)
