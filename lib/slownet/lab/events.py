"""Progress events of a program in a place, written to its standard output: one JSON object per line, after a marker.

Anything that an experiment prints shares this output. The marker begins with the record separator of JSON text sequences (RFC
7464), so that printed text is not taken for an event, and an event is found even after an unfinished line.
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
    """Return an event as `tell` writes it."""
    return MARK + json.dumps({"event": event, **values}).encode() + b"\n"


def tell(event: str, **values: Any) -> None:
    """Write an event after everything printed before it."""
    sys.stdout.flush()
    data = line(event, **values)
    while data:
        data = data[os.write(1, data) :]


def reader(handle: Callable[[dict[str, Any]], None]) -> Callable[[bytes], None]:
    """Return a sink for that output, in pieces of any size: events go to ``handle``, the rest unchanged to standard error."""
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
