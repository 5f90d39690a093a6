"""Progress and results of a program in a place, on its standard output: one JSON object a line, behind a mark.

Whatever an experiment prints goes the same way. The mark begins with the record separator of JSON text sequences (RFC 7464),
so nothing that is printed is taken for an event, and an event is found behind a line that was left unfinished.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

MARK = b"\x1eslownet "


def line(event: str, **values: Any) -> bytes:
    """An event as `tell` writes it."""
    return MARK + json.dumps({"event": event, **values}).encode() + b"\n"


def tell(event: str, **values: Any) -> None:
    """Writes an event, behind what was printed before it."""
    sys.stdout.flush()
    data = line(event, **values)
    while data:
        data = data[os.write(1, data) :]


def reader(handle: Callable[[dict[str, Any]], None]) -> Callable[[bytes], None]:
    """A sink for that output, in pieces of any size: events go to ``handle``, all else to standard error as it is."""
    pending = bytearray()
    lock = threading.Lock()

    def take(data: bytes) -> None:
        with lock:
            pending.extend(data)
            *lines, rest = bytes(pending).split(b"\n")
            pending[:] = rest
        for each in lines:
            printed, mark, text = each.partition(MARK)
            if printed or not mark:
                print(printed.decode(errors="replace"), file=sys.stderr)
            if mark:
                handle(json.loads(text))

    return take
