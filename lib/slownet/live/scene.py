"""A network as it is drawn: nodes with their places on the page, links with their conditions. It is a value that can be shared.

What changes between two of them are the steps that turn one into the other: so every edit, undo, a shared link and a saved file
are one mechanism.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from slownet.links.conditions import profiles
from slownet.links.conditions.impairment import Chance
from slownet.links.conditions.link import Condition
from slownet.model import shapes
from slownet.model.errors import ExperimentError, nearest
from slownet.model.options import STP
from slownet.model.shapes import Json, ShapeError

HOST, SWITCH, ROUTER = "host", "switch", "router"
KINDS = (HOST, SWITCH, ROUTER)
MOST_NODES = 1000
MOST_LINKS = 2000
SHARED = "#state="
"""The text of a shared link before its network."""
SHARED_BYTES = 1 << 20
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,9}")
"""Of a node that is added: its interfaces are called NAME-eth0, and have 15 characters at most."""
FIELD_NAMES = (
    "rtt", "delay", "delay_up", "delay_down", "jitter", "loss", "loss_up", "loss_down", "rate", "rate_up", "rate_down", "queue",
)  # fmt: skip


@dataclass(frozen=True)
class Node:
    """A host, switch or router. x, y: its place on the page; None lets the page choose. address: of a host, 10.0.0.1/8."""

    name: str
    kind: str
    x: float | None = None
    y: float | None = None
    address: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return it as the page has it."""
        return {"name": self.name, "kind": self.kind, "x": self.x, "y": self.y, "address": self.address}


@dataclass(frozen=True)
class Wire:
    """A link between two nodes. key: its name, which no other one has.

    named: a named condition, or empty: what the topology states of it. fields: on top of that, as for `Condition.parse`.
    """

    key: str
    first: str
    second: str
    named: str = ""
    fields: Mapping[str, str] = field(default_factory=dict, hash=False)
    cut: bool = False

    def to_json(self) -> dict[str, Json]:
        """Return it as the page has it."""
        return {
            "key": self.key, "first": self.first, "second": self.second, "named": self.named, "fields": dict(self.fields),
            "cut": self.cut,
        }  # fmt: skip

    def over(self, stated: Condition | None) -> Condition:
        """Return the whole condition, given what the topology states. Raises ConditionError, UnitError."""
        base = profiles.find(self.named) if self.named else stated or Condition()
        fields: dict[str, str | None] = dict(self.fields)
        if self.cut:
            fields |= {"loss": "100%", "loss_up": None, "loss_down": None}
        elif {"loss_up", "loss_down"} & fields.keys() and base.loss:
            fields["loss"] = None
        elif "loss" in fields:
            fields |= {"loss_up": None, "loss_down": None}
        return base.but(**fields)


def shown(condition: Condition) -> dict[str, Json]:
    """Return what a page shows of a condition: its text, and for its sliders ms, percent and Mbit/s."""
    loss = condition.loses("up")
    rates = condition.rates
    return {
        "text": "cut" if condition.cut else str(condition),
        "rtt_ms": round(condition.rtt * 1000, 6),
        "loss": round(loss.probability * 100, 6) if isinstance(loss, Chance) and not condition.cut else 0.0,
        "rate": min(rates) / 1e6 if rates else None,
    }


@dataclass(frozen=True)
class Scene:
    """A whole network as it is drawn."""

    nodes: tuple[Node, ...] = ()
    wires: tuple[Wire, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return it as the page has it."""
        return {"nodes": [each.to_json() for each in self.nodes], "wires": [each.to_json() for each in self.wires]}

    def node(self, name: str) -> Node:
        """Return a node by its name. Raises ExperimentError."""
        for each in self.nodes:
            if each.name == name:
                return each
        raise ExperimentError(f"no node '{name}'", fix=nearest(name, [each.name for each in self.nodes]))

    def wire(self, key: str) -> Wire:
        """Return a link by its key. Raises ExperimentError."""
        for each in self.wires:
            if each.key == key:
                return each
        raise ExperimentError(f"no link '{key}'", fix=nearest(key, [each.key for each in self.wires]))

    def with_wire(self, wire: Wire) -> Scene:
        """Return it with this link in place of the one of its key. Raises ConditionError, UnitError, ExperimentError."""
        self.wire(wire.key)
        wire.over(None)
        return replace(self, wires=tuple(wire if each.key == wire.key else each for each in self.wires))

    def moved(self, name: str, x: float, y: float) -> Scene:
        """Return it with a node at another place of the page. Raises ExperimentError."""
        at = replace(self.node(name), x=x, y=y)
        return replace(self, nodes=tuple(at if each.name == name else each for each in self.nodes))

    def with_node(self, kind: str, name: str, x: float | None, y: float | None) -> Scene:
        """Return it with one more node; without a name, h1 or s1 and so on. Raises ExperimentError."""
        if len(self.nodes) >= MOST_NODES:
            raise ExperimentError(f"there are {MOST_NODES} nodes", fix="remove some first")
        taken = {each.name for each in self.nodes}
        letter = "s" if kind == SWITCH else "h"
        free = next(f"{letter}{number}" for number in range(1, MOST_NODES + 2) if f"{letter}{number}" not in taken)
        name = name or free
        if not NAME.fullmatch(name):
            raise ExperimentError(
                f"'{name}' cannot be a node's name", fix="letters, digits, '-', '_', '.', up to 10, such as web1"
            )
        if name in taken:
            raise ExperimentError(f"there is a '{name}' already", fix=f"choose another name, such as {free}")
        return replace(self, nodes=(*self.nodes, Node(name, kind, x, y)))

    def connected(self, first: str, second: str, loops: bool) -> Scene:
        """Return it with one more link. loops: whether switches may form one. Raises ExperimentError."""
        ends = self.node(first), self.node(second)
        if first == second:
            raise ExperimentError(f"'{first}' cannot be linked to itself", fix="choose two nodes")
        if len(self.wires) >= MOST_LINKS:
            raise ExperimentError(f"there are {MOST_LINKS} links", fix="remove some first")
        if not loops and all(each.kind == SWITCH for each in ends) and self._joined(first, second):
            what = f"a link {first}-{second} would make a loop of switches, and frames would run for ever"
            raise ExperimentError(what, fix=f"remove a link of the loop first, or start with {STP}")
        keys = {each.key for each in self.wires}
        key = f"{first}-{second}"
        number = next(n for n in range(MOST_LINKS + 2) if (f"{key}~{n}" if n else key) not in keys)
        return replace(self, wires=(*self.wires, Wire(f"{key}~{number}" if number else key, first, second)))

    def _joined(self, first: str, second: str) -> bool:
        """Return whether switches connect two switches."""
        switches = {each.name for each in self.nodes if each.kind == SWITCH}
        found, todo = {first}, [first]
        while todo:
            at = todo.pop()
            for each in self.wires:
                for near, far in ((each.first, each.second), (each.second, each.first)):
                    if near == at and far in switches - found:
                        found.add(far)
                        todo.append(far)
        return second in found

    def need_no_loop(self, loops: bool) -> None:
        """Raise ExperimentError if switches form a loop and may not. loops: whether they may."""
        kinds = {each.name: each.kind for each in self.nodes}
        seen = Scene(self.nodes)
        for each in self.wires:
            if kinds[each.first] == kinds[each.second] == SWITCH:
                seen = seen.connected(each.first, each.second, loops)

    def without_node(self, name: str) -> Scene:
        """Return it without a node and its links. Raises ExperimentError."""
        gone = self.node(name)
        hosts = [each for each in self.nodes if each.kind != SWITCH]
        if hosts == [gone]:
            raise ExperimentError(f"'{name}' is the last host", fix="add another one first")
        wires = tuple(each for each in self.wires if name not in (each.first, each.second))
        return Scene(tuple(each for each in self.nodes if each.name != name), wires)

    def without_wire(self, key: str) -> Scene:
        """Return it without a link. Raises ExperimentError."""
        self.wire(key)
        return replace(self, wires=tuple(each for each in self.wires if each.key != key))

    def packed(self) -> str:
        """Return it as text for the end of an address."""
        data = zlib.compress(json.dumps(self.to_json(), separators=(",", ":")).encode(), 9)
        return base64.urlsafe_b64encode(data).decode().rstrip("=")


def unpacked(text: str) -> Scene:
    """Return the network of a shared link. Raises ExperimentError."""
    text = text.rpartition(SHARED)[2].strip()
    fix = "copy the whole link"
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        opener = zlib.decompressobj()
        plain = opener.decompress(data, SHARED_BYTES)
        if opener.unconsumed_tail:
            raise ExperimentError("a shared network is too large", fix=f"at most {MOST_NODES} nodes")
        return read(json.loads(plain))
    except (ValueError, binascii.Error, zlib.error, RecursionError) as error:
        raise ExperimentError("this is not a shared network", fix=fix) from error


_TEXT = shapes.text(64)
_PLACE = shapes.optional(shapes.number(-1e6, 1e6))


def condition_fields(value: Any, where: str) -> None:
    """A shape: fields of a condition, as texts."""
    if not isinstance(value, dict) or len(value) > len(FIELD_NAMES):
        raise ShapeError(f"{where} is not an object of fields")
    for name, text in value.items():
        shapes.one_of(*FIELD_NAMES)(name, f"a field of {where}")
        _TEXT(text, f"{name} of {where}")


def record(value: Any, where: str, fields: Mapping[str, shapes.Shape]) -> None:
    """Raise ShapeError unless a value is an object with exactly these fields."""
    if not isinstance(value, dict) or value.keys() != fields.keys():
        raise ShapeError(f"{where} does not have the fields {', '.join(fields)}")
    for name, shape in fields.items():
        shape(value[name], f"{name} of {where}")


_NODE = {"name": _TEXT, "kind": shapes.one_of(*KINDS), "x": _PLACE, "y": _PLACE, "address": _TEXT}
_WIRE = {
    "key": shapes.text(150), "first": _TEXT, "second": _TEXT, "named": _TEXT, "fields": condition_fields, "cut": shapes.flag,
}  # fmt: skip


def read(value: Any) -> Scene:
    """Read a network from JSON. Raises ExperimentError, ConditionError, UnitError."""
    try:
        nodes = list(_records(value, "nodes", _NODE, MOST_NODES))
        wires = list(_records(value, "wires", _WIRE, MOST_LINKS))
    except ShapeError as error:
        raise ExperimentError(f"this is not a network: {error}", fix="open one that slownet live has made") from error
    scene = Scene(tuple(Node(**each) for each in nodes), tuple(Wire(**each) for each in wires))
    names = [each.name for each in scene.nodes]
    for whole, what in ((names, "node"), ([each.key for each in scene.wires], "link")):
        if twice := next((each for each in whole if whole.count(each) > 1), None):
            raise ExperimentError(f"the {what} '{twice}' appears twice", fix="give each a name of its own")
    for node in scene.nodes:
        check_address(node)
    for wire in scene.wires:
        if missing := next((each for each in (wire.first, wire.second) if each not in names), None):
            raise ExperimentError(
                f"the link '{wire.key}' leads to '{missing}', which is not there", fix=nearest(missing, names)
            )
        wire.over(None)
    return scene


def check_address(node: Node) -> None:
    """Raise ExperimentError unless a node's address is one with a prefix, or empty."""
    try:
        ipaddress.IPv4Interface(node.address or "10.0.0.1/8")
    except ValueError:
        what = f"'{node.address}' is not an address"
        raise ExperimentError(what, f"node {node.name}", "write one such as 10.0.0.1/8") from None


def _records(value: Any, name: str, fields: Mapping[str, shapes.Shape], most: int) -> Iterator[dict[str, Any]]:
    found = value.get(name) if isinstance(value, dict) else None
    if not isinstance(found, list) or len(found) > most:
        raise ShapeError(f"{name} is not a list of at most {most}")
    for each in found:
        record(each, f"an item of {name}", fields)
        yield each


Step = Mapping[str, Json]
"""A change in the lab: its name as "do", and its fields."""


def steps(before: Scene, after: Scene) -> list[Step]:
    """Return the steps that turn one network into another, without those that only move on the page."""
    nodes = ({each.name: replace(each, x=None, y=None) for each in scene.nodes} for scene in (before, after))
    wires = ({each.key: each for each in scene.wires} for scene in (before, after))
    (old_nodes, new_nodes), (old_wires, new_wires) = nodes, wires
    gone = {name for name, each in old_nodes.items() if new_nodes.get(name) != each}

    def ends(wire: Wire) -> tuple[str, str]:
        return wire.first, wire.second

    kept = {
        key
        for key, each in old_wires.items()
        if key in new_wires and ends(new_wires[key]) == ends(each) and not gone & set(ends(each))
    }
    found: list[Step] = [{"do": "disconnect", "key": key} for key in old_wires if key not in kept]
    found += [{"do": "remove", "name": name} for name in old_nodes if name in gone]
    found += [
        {"do": "add", "name": name, "kind": each.kind, "address": each.address}
        for name, each in new_nodes.items()
        if old_nodes.get(name) != each
    ]
    found += [
        {"do": "connect", "key": key, "first": each.first, "second": each.second}
        for key, each in new_wires.items()
        if key not in kept
    ]
    for key, each in new_wires.items():
        was = old_wires[key] if key in kept else Wire(key, each.first, each.second)
        if (was.named, was.fields, was.cut) != (each.named, each.fields, each.cut):
            found.append(set_step(each))
    return found


def set_step(wire: Wire) -> Step:
    """Return the step that gives a link its condition."""
    return {"do": "set", "key": wire.key, "named": wire.named, "fields": dict(wire.fields), "cut": wire.cut}


def buildable(scene: Scene) -> Scene:
    """Return the part of a network that can be built at once: nodes with links; a node alone is added when the rest runs."""
    first = next((each.name for each in scene.nodes if each.kind != SWITCH), None)
    if first is None:
        raise ExperimentError("the network has no host", fix="add one")
    parts = list(_parts(scene))
    hosts = {each.name for each in scene.nodes if each.kind != SWITCH}
    kept = {name for part in parts if first in part or len(part & hosts) > 1 for name in part}
    # The part of the first host comes first, because a single node that is not connected to the first one is refused.
    order: Sequence[Node] = sorted(scene.nodes, key=lambda each: not any(first in part and each.name in part for part in parts))
    nodes = tuple(each for each in order if each.name in kept)
    plain = tuple(replace(each, named="", fields={}, cut=False) for each in scene.wires if {each.first, each.second} <= kept)
    return Scene(nodes, plain)


def _parts(scene: Scene) -> Iterator[set[str]]:
    todo = [each.name for each in scene.nodes]
    near: dict[str, set[str]] = {name: set() for name in todo}
    for each in scene.wires:
        near[each.first].add(each.second)
        near[each.second].add(each.first)
    seen: set[str] = set()
    for name in todo:
        if name in seen:
            continue
        part, open_ = {name}, [name]
        while open_:
            new = near[open_.pop()] - part
            part |= new
            open_ += new
        seen |= part
        yield part
