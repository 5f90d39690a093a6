"""Writes a network as it is shown into a file that repeats it: a test, an experiment, or a plain Mininet program."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from slownet.links.conditions.impairment import Chance
from slownet.links.conditions.link import Condition
from slownet.live.scene import ROUTER, SWITCH, Node, Scene, Wire
from slownet.model.errors import ExperimentError
from slownet.theory import slow_start

TRACES = ("Starlink", "LTE on the move", "5G on the move", "a flapping cable")
"""Traces that a page offers to play; `slownet.live.inside` has the traces themselves."""
PAGE_BYTES = 50_000
HEADER_BYTES = 239
NEAR_MS = "0ms"
DELAYS = ("rtt", "delay", "delay_up", "delay_down")
USUAL = ("0ms", "10ms", "40ms")


@dataclass(frozen=True)
class Source:
    """The origin of a network, if a file can name it: a class in slownet.topologies, with its arguments."""

    class_name: str = ""
    arguments: str = ""


@dataclass(frozen=True)
class Selected:
    """The choices on the page: a link, and the two hosts between which buttons measure."""

    key: str
    client: str
    server: str


NAMES = {"test": "test_drawn.py", "experiment": "drawn.py", "mininet": "drawn_mininet.py"}
"""The file of each kind; its template has the kind's name."""


def file(kind: str, scene: Scene, built: Scene, source: Source, selected: Selected) -> tuple[str, str]:
    """Return the name and the text of a file: of kind "test", "experiment" or "mininet". Raises ExperimentError."""
    own = _own_source(scene, built, source)
    values: dict[str, Any] = {
        "base": own.class_name,
        "arguments": own.arguments,
        "has_routers": not own.class_name and any(each.kind == ROUTER for each in scene.nodes),
        "nodes": [{"kind": each.kind, "words": _node_words(each)} for each in scene.nodes],
        "links": [_link(each, with_parameters=kind == "mininet") for each in scene.wires],
    }
    if kind != "mininet":
        client, server = _need_hosts(scene, selected)
        values |= {"client": _quoted(client), "server": _quoted(server)}
        values |= _of_test(scene, client, server) if kind == "test" else _of_experiment(scene, client, server, selected.key)
    return NAMES[kind], _templates().get_template(f"{kind}.j2").render(values)


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "saved"), trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, undefined=jinja2.StrictUndefined,
    )  # fmt: skip


def _own_source(scene: Scene, built: Scene, source: Source) -> Source:
    """Return what the network was made from if its nodes and links are the same; else none. Raises ExperimentError."""
    same = {(each.name, each.kind) for each in scene.nodes} == {(each.name, each.kind) for each in built.nodes}
    if source.class_name and same and {each.key for each in scene.wires} == {each.key for each in built.wires}:
        return source
    linked = {name for each in scene.wires for name in (each.first, each.second)}
    if alone := next((each.name for each in scene.nodes if each.name not in linked), None):
        raise ExperimentError(f"'{alone}' has no link", fix="connect it, or remove it, before the network is saved")
    return Source()


def _node_words(node: Node) -> str:
    if node.kind == SWITCH:
        return f'{_quoted(node.name)}, failMode="standalone"'
    words = [_quoted(node.name), *(["cls=Router"] if node.kind == ROUTER else [])]
    return ", ".join([*words, *([f"ip={_quoted(node.address)}"] if node.address else [])])


def _link(wire: Wire, with_parameters: bool) -> dict[str, Any]:
    return {
        "key": wire.key, "cut": wire.cut, "ends": f"{_quoted(wire.first)}, {_quoted(wire.second)}",
        "words": condition_words(wire), "shown": _quoted(str(wire.over(None))),
        "parameters": tclink_words(replace(wire, cut=False)) if with_parameters else "",
    }  # fmt: skip


def condition_words(wire: Wire, **instead: str) -> str:
    """Return the arguments of `Link.set` for a link's condition; empty if the topology's own holds."""
    fields: dict[str, str | None] = {**wire.fields, **instead}
    if wire.cut:
        fields = {**fields, "loss": "100%"}
        fields = {name: value for name, value in fields.items() if name not in ("loss_up", "loss_down")}
    words = [_quoted(wire.named)] if wire.named else []
    return ", ".join([*words, *(f"{name}={_quoted(value)}" for name, value in fields.items())])


def _quoted(value: object) -> str:
    """Return a value as Python has it, texts in double quotes."""
    return json.dumps(value) if isinstance(value, str) else repr(value)


def tclink_words(wire: Wire) -> str:
    """Return the parameters of Mininet's TCLink for a link's condition. Raises ExperimentError for what it has not."""
    condition = wire.over(None)
    ways = [_tclink(condition, way, wire.key) for way in ("up", "down")]
    if ways[0] == ways[1]:
        return _keywords(ways[0])
    both = (f"params{number}=dict({_keywords(each)})" for number, each in enumerate(ways, start=1))
    return ", ".join(both)


def _keywords(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={_quoted(value)}" for name, value in values.items())


def _tclink(condition: Condition, way: str, key: str) -> dict[str, object]:
    delay, jitter, rate = (
        getattr(condition, f"{name}_{way}") if name else getattr(condition, way) for name in ("", "jitter", "rate")
    )
    found: dict[str, object] = {}
    if rate is not None:
        found["bw"] = round(rate / 1e6, 6)
    if delay:
        found["delay"] = f"{round(delay * 1e6)}us"
    if jitter:
        found["jitter"] = f"{round(jitter * 1e6)}us"
    loss = condition.loses(way)
    if isinstance(loss, Chance) and not loss.correlation:
        found["loss"] = round(loss.probability * 100, 6)
    elif loss:
        raise ExperimentError(f"Mininet's TCLink loses no packets in bursts, as {key} does", fix="save a test or an experiment")
    if condition.queue and condition.queue.unit == "packets":
        found["max_queue_size"] = int(condition.queue.amount)
    return found


def _path(scene: Scene, first: str, second: str) -> list[Wire] | None:
    """Return the links of the shortest way between two nodes; None without one."""
    ways: dict[str, list[Wire]] = {first: []}
    todo = [first]
    while todo:
        at = todo.pop(0)
        for each in scene.wires:
            for near, far in ((each.first, each.second), (each.second, each.first)):
                if near == at and far not in ways:
                    ways[far] = [*ways[at], each]
                    todo.append(far)
    return ways.get(second)


def _need_hosts(scene: Scene, selected: Selected) -> tuple[str, str]:
    """Return the two hosts to measure between. Raises ExperimentError."""
    hosts = [each.name for each in scene.nodes if each.kind != SWITCH]
    if selected.client not in hosts or selected.server not in hosts or selected.client == selected.server:
        raise ExperimentError("a file measures between two hosts", fix="choose two different ones on the page")
    return selected.client, selected.server


def _is_plain(condition: Condition) -> bool:
    """Return whether only its delay makes it take time."""
    return not (condition.lossy or condition.chancy or condition.rates or condition.cut)


def _of_test(scene: Scene, client: str, server: str) -> dict[str, Any]:
    """Return what a test asserts: the law, where nothing but delays is on the way; else that the links do what was drawn."""
    way = _path(scene, client, server)
    conditions = [each.over(None) for each in way or ()]
    rtt = sum(each.rtt for each in conditions)
    return {
        "rtt": _quoted(_ms(rtt)),
        "lawful": bool(rtt) and all(map(_is_plain, conditions)),
        "answers": way is not None and not any(each.cut for each in conditions),
    }


def _of_experiment(scene: Scene, client: str, server: str, key: str) -> dict[str, Any]:
    """Return what an experiment varies, and whether it claims the law. Raises ExperimentError."""
    wire = next((each for each in scene.wires if each.key == key), None)
    if wire is None:
        raise ExperimentError("an experiment varies one link", fix="choose a link on the page")
    plain = replace(wire, cut=False)
    shown = plain.over(None)
    kept = {name: value for name, value in wire.fields.items() if name not in DELAYS}
    conditions = [each.over(None) for each in scene.wires if each.key != key]
    claims = wire in (_path(scene, client, server) or []) and all(map(_is_plain, [shown, *conditions]))
    return {
        "varied": {**_link(plain, with_parameters=False), "plain": re.sub(r"[^\w.~-]", "", key)},
        "varied_words": ", ".join(filter(None, [condition_words(replace(plain, fields=kept)), "rtt=rtt"])),
        "values": json.dumps([NEAR_MS, _ms(shown.rtt)] if shown.rtt else USUAL),
        "claims": claims,
        "page_bytes": PAGE_BYTES,
        "round_trips": slow_start.round_trips(PAGE_BYTES, until=slow_start.LAST_BYTE, header_bytes=HEADER_BYTES),
    }


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.6f}".rstrip("0").rstrip(".") + "ms"
