"""Sends load at a constant rate: ``python -m slownet.tools.programs.loader JOB``, on a host; prints one JSON object.

JOB is JSON: {"address", "port", "path", "rate", "seconds", "connections", "patience"}. Each connection is kept alive and
sends its next request when it is due, or, if later, when the previous answer is complete; no request is left out. One thread,
one selector.
"""

from __future__ import annotations

import heapq
import json
import re
import selectors
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress

from slownet.model.shapes import Json
from slownet.tools.programs.load import Recording, Schedule

_LENGTH = re.compile(rb"^content-length: *(\d+)\r$", re.IGNORECASE | re.MULTILINE)
_HEAD_ENDS = b"\r\n\r\n"


class Connection:
    """One kept-alive connection with at most one request in progress."""

    def __init__(self, where: tuple[str, int], request: bytes, due: Iterator[float]) -> None:
        self._where, self._request, self._due = where, request, due
        self._socket: socket.socket | None = None
        self._got = bytearray()
        self.why = ""
        """Why its last request failed."""
        self.planned = next(due, None)
        self.sent = 0.0

    def connect(self) -> socket.socket:
        """Connect, unless connected already."""
        if self._socket is None:
            self._socket = socket.create_connection(self._where)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._socket

    def send(self, now: float) -> socket.socket:
        """Send the request that is due; reconnect first if the server closed the connection."""
        self.sent = now
        self._got.clear()
        self.why = ""
        connected = self.connect()
        connected.sendall(self._request)
        return connected

    def receive(self) -> tuple[bool, bool]:
        """Read available data; return whether the answer is complete, and whether it is a good one (2xx, complete)."""
        assert self._socket
        try:
            data = self._socket.recv(1 << 18)
        except OSError as error:
            data, self.why = b"", _reason(error)
        self._got += data
        if not data:
            self.why = self.why or "the connection ended without a whole answer"
            return True, False
        end = self._got.find(_HEAD_ENDS)
        if end < 0:
            return False, False
        length = _LENGTH.search(self._got, 0, end + 2)
        whole = len(self._got) >= end + 4 + (int(length[1]) if length else 0)
        self.why = bytes(self._got).partition(b"\r\n")[0].decode(errors="replace")
        return whole, whole and self._got[9:10] == b"2"

    def answered(self, good: bool) -> None:
        """Move on to the next request."""
        if not good or b"\r\nconnection: close" in self._got[:1000].lower():
            self.close()
        self.planned = next(self._due, None)

    def close(self) -> None:
        """Close the connection, if it is open."""
        if self._socket:
            self._socket.close()
        self._socket = None


def run(job: Mapping[str, Json]) -> dict[str, object]:
    """Send the load and return its result.

    {"planned", "answered", "failed", "unanswered", "seconds", "corrected", "uncorrected"}, "batches": rates of its parts, and
    "why": why the first request failed that did.
    """
    plan = Schedule(job["rate"], job["seconds"], job["connections"])
    request = f"GET {job['path']} HTTP/1.1\r\nHost: {job['address']}\r\n\r\n".encode()
    where = (job["address"], job["port"])
    connections = [Connection(where, request, plan.of(number)) for number in range(plan.connections)]
    recording, failed, why = Recording(), 0, ""
    with selectors.SelectSelector() as selector:  # epoll only waits for whole milliseconds, which would delay requests
        waiting = [(each.planned, number) for number, each in enumerate(connections) if each.planned is not None]
        heapq.heapify(waiting)
        for each in connections:
            with suppress(OSError):  # its first request will fail again
                each.connect()
        start = time.monotonic()
        deadline = start + plan.seconds + job["patience"]
        busy = 0
        while (waiting or busy) and time.monotonic() < deadline:
            now = time.monotonic() - start
            while waiting and waiting[0][0] <= now:
                number = heapq.heappop(waiting)[1]
                try:
                    selector.register(connections[number].send(now), selectors.EVENT_READ, number)
                    busy += 1
                except OSError as error:
                    failed, why = failed + 1, why or _reason(error)
                    _next(connections[number], number, waiting, good=False)
                now = time.monotonic() - start
            if not (waiting or busy):  # the last one failed
                break
            until = min(waiting[0][0] - now if waiting else deadline - start - now, deadline - start - now)
            for key, _ in selector.select(max(0.0, until)):
                one = connections[key.data]
                whole, good = one.receive()
                if not whole:
                    continue
                selector.unregister(key.fileobj)
                busy -= 1
                if good and one.planned is not None:
                    recording.answered(one.planned, one.sent, time.monotonic() - start)
                else:
                    failed, why = failed + 1, why or one.why
                _next(one, key.data, waiting, good)
        took = time.monotonic() - start
    for each in connections:
        each.close()
    answered = recording.corrected.get_total_count()
    counts = {"planned": plan.count, "answered": answered, "failed": failed, "unanswered": plan.count - answered - failed}
    return {**counts, "why": why, "seconds": took, "batches": recording.batches(took), **recording.to_json()}


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _next(one: Connection, number: int, waiting: list[tuple[float, int]], good: bool) -> None:
    one.answered(good)
    if one.planned is not None:
        heapq.heappush(waiting, (one.planned, number))


if __name__ == "__main__":
    print(json.dumps(run(json.loads(sys.argv[1]))))
