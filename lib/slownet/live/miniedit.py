"""Reads the files of MiniEdit, Mininet's own editor: JSON with hosts, switches, links and controllers.

Source of the format: MiniEdit.saveTopology and loadTopology of Mininet's examples/miniedit.py, version 2 of the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from slownet.links.conditions import tclink
from slownet.live.scene import HOST, MOST_NODES, NAME, ROUTER, SWITCH, Node, Scene, Wire, check_address
from slownet.model.errors import ExperimentError, SlownetError

ENDING = ".mn"
FIX = "open a file that MiniEdit has saved"
ROUTERS = ("legacyRouter",)
SAME = {"bw": "rate", "delay": "delay", "jitter": "jitter", "loss": "loss", "max_queue_size": "queue"}
"""The parameters of a link there, and the fields of a condition."""


def read(text: str) -> tuple[Scene, list[str]]:
    """Return the network of a file, and a line for each thing that has no effect here. Raises ExperimentError."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ExperimentError("this is not a file of MiniEdit: it is not JSON", fix=FIX) from error
    if not isinstance(found, dict) or not isinstance(found.get("hosts"), list) or not isinstance(found.get("switches"), list):
        raise ExperimentError("this is not a file of MiniEdit: it has no hosts and switches", fix=FIX)
    nodes: dict[str, Node] = {}
    for kind in ("switches", "hosts"):
        for each in found[kind]:
            node = _node(each, kind)
            if node.name in nodes:
                raise ExperimentError(f"'{node.name}' appears twice", fix="rename one in MiniEdit")
            nodes[node.name] = node
    if len(nodes) > MOST_NODES:
        raise ExperimentError(f"{len(nodes)} nodes are too many", fix=f"at most {MOST_NODES}")
    wires: dict[str, Wire] = {}
    notes = []
    controllers = {str(_options(each).get("hostname", "")) for each in found.get("controllers") or []}
    for each in found.get("links") or []:
        if isinstance(each, dict) and not {each.get("src"), each.get("dest")} & controllers:
            wire = _wire(each, nodes, wires)
            wires[wire.key] = wire
    if controllers:
        notes.append(f"{', '.join(sorted(controllers))} is left out: switches learn by themselves")
    return Scene(tuple(nodes.values()), tuple(wires.values())), notes


def _options(value: Any) -> Mapping[str, Any]:
    options = value.get("opts") if isinstance(value, dict) else None
    return options if isinstance(options, dict) else {}


def _node(value: Any, among: str) -> Node:
    options = _options(value)
    name = str(options.get("hostname", ""))
    if not NAME.fullmatch(name):
        raise ExperimentError(
            f"'{name[:40]}' cannot be a node's name", fix="letters, digits, '-', '_', '.', up to 10, such as web1"
        )
    kind = HOST if among == "hosts" else ROUTER if options.get("switchType") in ROUTERS else SWITCH
    address = str(options.get("ip") or "") if kind != SWITCH else ""
    node = Node(name, kind, _number(value.get("x")), _number(value.get("y")), _address(address))
    check_address(node)
    return node


def _address(text: str) -> str:
    """Return an address with its prefix: MiniEdit's own is 8."""
    return text if not text or "/" in text else f"{text}/8"


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if abs(number) < 1e6 else None


def _wire(value: Mapping[str, Any], nodes: Mapping[str, Node], wires: Mapping[str, Wire]) -> Wire:
    first, second = (str(value.get(name, "")) for name in ("src", "dest"))
    for name in (first, second):
        if name not in nodes:
            raise ExperimentError(f"a link leads to '{name[:40]}', which is not there", fix=FIX)
    key = f"{first}-{second}"
    number = next(n for n in range(len(wires) + 1) if (f"{key}~{n}" if n else key) not in wires)
    key = f"{key}~{number}" if number else key
    try:
        wire = Wire(key, first, second, fields=_fields(_options(value)))
        wire.over(None)
    except SlownetError as error:
        raise ExperimentError(error.what, f"link {key}", error.fix) from error
    except (TypeError, ValueError) as error:
        raise ExperimentError("a parameter is not a number", f"link {key}", FIX) from error
    return wire


def _fields(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of a condition for the options of a link: a number of a delay is in us there, as in Mininet."""
    stated = {name: options[name] for name in SAME if options.get(name) not in (None, "", 0, "0")}
    condition = tclink.condition(**{name: _as_number(name, value) for name, value in stated.items()})
    fields = {}
    if condition.up:
        fields["delay"] = f"{_plain(condition.up * 1e6)}us"
    if condition.jitter_up:
        fields["jitter"] = f"{_plain(condition.jitter_up * 1e6)}us"
    if "loss" in stated:
        fields["loss"] = f"{_plain(float(stated['loss']))}%"
    if condition.rate_up:
        fields["rate"] = f"{_plain(condition.rate_up)}bit"
    if "max_queue_size" in stated:
        fields["queue"] = f"{int(stated['max_queue_size'])} packets"
    return fields


def _plain(number: float) -> str:
    """Return a number without an exponent."""
    return f"{number:.3f}".rstrip("0").rstrip(".")


def _as_number(name: str, value: Any) -> Any:
    if name in ("delay", "jitter") and not str(value).replace(".", "", 1).isdigit():
        return str(value)
    return float(value) if name != "max_queue_size" else int(value)
