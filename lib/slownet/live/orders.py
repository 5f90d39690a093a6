"""The orders of a page: each is an object with the fields of its kind and no others, which is checked first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from slownet.live.scene import KINDS, condition_fields
from slownet.model import shapes
from slownet.model.errors import ExperimentError
from slownet.model.shapes import Shape, ShapeError

BYTES = 2 << 20
"""Of one order: a file of MiniEdit is the largest."""


@dataclass(frozen=True)
class Order:
    """An order of a page; what its kind does not have is empty. id: how the answer names it."""

    do: str
    id: str = ""
    key: str = ""
    name: str = ""
    named: str = ""
    fields: Mapping[str, str] = field(default_factory=dict, hash=False)
    cut: bool = False
    gesture: str = ""
    kind: str = ""
    x: float = 0.0
    y: float = 0.0
    first: str = ""
    second: str = ""
    text: str = ""
    what: str = ""
    client: str = ""
    server: str = ""
    operation: str = ""
    trace: str = ""
    rows: int = 24
    columns: int = 80
    count: int = 0
    inside: bool = False


PAGE, TLS, LARGE, KEPT, CONNECTION, PING = "page", "tls", "large", "kept", "connection", "ping"
OPERATIONS: Mapping[str, str] = {
    PAGE: "page",
    TLS: "page over TLS 1.3",
    LARGE: "page of 200 kB",
    KEPT: "request on a kept connection",
    CONNECTION: "TCP connection",
    PING: "ping",
}
"""Operations that are measured beside their laws, with their names on the page: `slownet.live.actions` has the laws."""
FREE = ("share",)
"""Orders of a page that only watches: they change nothing."""

_NAME, _KEY, _PLACE, _SIZE = shapes.text(64), shapes.text(150), shapes.number(-1e6, 1e6), shapes.whole(2, 500)
KNOWN: Mapping[str, Mapping[str, Shape]] = {
    "set": {
        "key": _KEY, "named": _NAME, "fields": condition_fields, "cut": shapes.flag, "gesture": shapes.text(40),
    },
    "move": {"name": _NAME, "x": _PLACE, "y": _PLACE},
    "add": {"kind": shapes.one_of(*KINDS), "name": _NAME, "x": _PLACE, "y": _PLACE},
    "connect": {"first": _NAME, "second": _NAME},
    "remove": {"name": _NAME},
    "disconnect": {"key": _KEY},
    "undo": {},
    "load": {"text": shapes.text(BYTES)},
    "share": {},
    "save": {"what": shapes.one_of("test", "experiment", "mininet"), "key": _KEY, "client": _NAME, "server": _NAME},
    "run": {
        "what": shapes.one_of("page", "iperf3", "ping", "cost"), "client": _NAME, "server": _NAME, "key": _KEY,
        "operation": shapes.one_of(*OPERATIONS, ""),
    },
    "play": {"key": _KEY, "trace": _NAME},
    "trace": {"name": _NAME, "text": shapes.text(BYTES)},
    "shell": {"name": _NAME, "rows": _SIZE, "columns": _SIZE, "inside": shapes.flag},
    "type": {"name": _NAME, "text": shapes.text(8000)},
    "took": {"name": _NAME, "count": shapes.whole(0, 1 << 20)},
    "resize": {"name": _NAME, "rows": _SIZE, "columns": _SIZE},
    "close": {"name": _NAME},
    "pause": {}, "resume": {}, "step": {}, "restart": {},
}  # fmt: skip
"""The fields of each order, beside its name and its id."""


def read(text: str) -> Order:
    """Return an order of a page. Raises ExperimentError."""
    try:
        found = json.loads(text)
        do = found.get("do") if isinstance(found, dict) else None
        if not isinstance(do, str) or do not in KNOWN:
            raise ShapeError("its name is unknown")
        wanted = {"id": shapes.text(30), **KNOWN[do]}
        if found.keys() - {"do"} != wanted.keys():
            raise ShapeError(f"'{do}' has the fields {', '.join(wanted)}")
        for name, shape in wanted.items():
            shape(found[name], f"{name} of '{do}'")
    except (ValueError, RecursionError) as error:
        raise ExperimentError(f"this is not an order of the page: {error}", fix="load the page again") from error
    return Order(**found)
