"""Writes a network as it is shown into a file that repeats it: a test, an experiment, or a plain Mininet program."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jinja2

from slownet.links.conditions.impairment import Chance
from slownet.links.conditions.link import Condition
from slownet.live.scene import ROUTER, SWITCH, Node, Scene, Wire
from slownet.model.errors import ExperimentError
from slownet.theory import slow_start

TRACES = ("Starlink", "LTE on the move", "5G on the move", "a flapping cable")
"""Traces that a page offers to play; `slownet.live.inside` has the traces themselves."""
TOPOLOGIES = "slownet.topologies"
PAGE_BYTES = 50_000
HEADER_BYTES = 239
NEAR_MS = "0ms"
DELAYS = ("rtt", "delay", "delay_up", "delay_down")
USUAL = ("0ms", "10ms", "40ms")


@dataclass(frozen=True)
class Source:
    """The origin of a network, if a file can name it.

    class_name: a class in a module, with its arguments; module: one of slownet's, or of a Python file beside which the saved
    one has to lie. compose: the name of a compose file, likewise. special: a node that another network would lose, as text.
    """

    class_name: str = ""
    arguments: str = ""
    module: str = TOPOLOGIES
    compose: str = ""
    special: str = ""

    @property
    def beside(self) -> str:
        """The name of the file that the saved one has to lie beside; empty without one."""
        return self.compose or ("" if self.module == TOPOLOGIES else f"{self.module}.py")


@dataclass(frozen=True)
class Now:
    """The network as it was built, the conditions that the lab reports of its links, and pages, its web servers' URLs."""

    built: Scene
    shown: Mapping[str, str] = field(default_factory=dict)
    pages: Sequence[str] = ()

    def knows(self, wire: Wire) -> bool:
        """Return whether a link has only what the page has set, and nothing that the topology states."""
        text = self.shown.get(wire.key)
        return text is None or wire.cut or text == str(wire.over(None))


@dataclass(frozen=True)
class Selected:
    """The choices on the page: a link, and the two hosts between which buttons measure."""

    key: str
    client: str
    server: str


NAMES = {"test": "test_drawn.py", "experiment": "drawn.py", "mininet": "drawn_mininet.py"}
"""The file of each kind; its template has the kind's name."""


def file(kind: str, scene: Scene, now: Now, source: Source, selected: Selected) -> tuple[str, str]:
    """Return the name and the text of a file: of kind "test", "experiment" or "mininet". Raises ExperimentError."""
    if source.compose:
        _need_project(kind, scene, now.built)
    has_base = bool(source.class_name or source.compose)
    if source.special:
        raise ExperimentError(source.special, fix="let topos name a class, which the saved file can take over")
    removed, added = _differences(scene, now.built) if has_base else (Scene(), scene)
    _need_links(added, scene)
    links = [_link(each, scene, now, with_parameters=kind == "mininet") for each in scene.wires]
    new = {each.key for each in added.wires}
    values: dict[str, Any] = {
        "base": source.class_name,
        "arguments": source.arguments,
        "module": source.module,
        "compose": _quoted(source.compose) if source.compose else "",
        "beside": f". It has to lie beside {source.beside}." if source.beside else "",
        "has_routers": any(each.kind == ROUTER for each in added.nodes),
        "nodes": [{"kind": each.kind, "words": _node_words(each)} for each in added.nodes],
        "links": links,
        "added_links": [each for each in links if each["key"] in new],
        "changed_links": [each for each in links if each["key"] not in new],
        "kept_hosts": _kept_hosts(scene, removed, added) if has_base else [],
        "removed_nodes": [_quoted(each.name) for each in removed.nodes],
        "removed_links": [
            {"first": _quoted(each.first), "second": _quoted(each.second), "number": _number(each, now.built)}
            for each in reversed(removed.wires)
        ],
    }
    if kind != "mininet":
        client, server = _need_hosts(scene, selected)
        values |= {"client": _quoted(client), "server": _quoted(server)}
        between = _of_test if kind == "test" else _of_experiment
        values |= between(scene, now, source, Selected(selected.key, client, server))
    return NAMES[kind], _templates().get_template(f"{kind}.j2").render(values)


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "saved"), trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, undefined=jinja2.StrictUndefined,
    )  # fmt: skip


def _differences(scene: Scene, built: Scene) -> tuple[Scene, Scene]:
    """Return what was removed from a network, and what was added to it. A node of another kind is another node."""
    before, after = ({(each.name, each.kind) for each in of.nodes} for of in (built, scene))
    keys = {each.key for each in built.wires}, {each.key for each in scene.wires}
    removed = Scene(
        tuple(each for each in built.nodes if (each.name, each.kind) not in after),
        tuple(each for each in built.wires if each.key not in keys[1]),
    )
    added = Scene(
        tuple(each for each in scene.nodes if (each.name, each.kind) not in before),
        tuple(each for each in scene.wires if each.key not in keys[0]),
    )
    return removed, added


def _kept_hosts(scene: Scene, removed: Scene, added: Scene) -> list[dict[str, str]]:
    """Return hosts with the addresses that they have: Mininet counts hosts by their names, so others would shift them."""
    hosts = [each for each in scene.nodes if each.address and each not in added.nodes]
    shifts = bool(removed.nodes or added.nodes)
    return [{"name": _quoted(each.name), "address": _quoted(each.address)} for each in hosts] if shifts else []


def _need_links(added: Scene, scene: Scene) -> None:
    """Raise ExperimentError if one of these nodes has no link."""
    linked = {name for each in scene.wires for name in (each.first, each.second)}
    if alone := next((each.name for each in added.nodes if each.name not in linked), None):
        raise ExperimentError(f"'{alone}' has no link", fix="connect it, or remove it, before the network is saved")


def _need_project(kind: str, scene: Scene, built: Scene) -> None:
    """Raise ExperimentError if a compose project cannot be saved so."""
    if kind == "mininet":
        raise ExperimentError("a Mininet program has no containers", fix="save a test or an experiment")
    removed, added = _differences(scene, built)
    if removed != Scene() or added != Scene():
        raise ExperimentError("the network is not the compose project's any more", fix="undo what was added and removed")


def _number(wire: Wire, scene: Scene) -> int:
    """Return how many links of a network come before this one between the same nodes."""
    ends = {wire.first, wire.second}
    same = [each.key for each in scene.wires if {each.first, each.second} == ends]
    return same.index(wire.key)


def _node_words(node: Node) -> str:
    if node.kind == SWITCH:
        return f'{_quoted(node.name)}, failMode="standalone"'
    words = [_quoted(node.name), *(["cls=Router"] if node.kind == ROUTER else [])]
    return ", ".join([*words, *([f"ip={_quoted(node.address)}"] if node.address else [])])


def _link(wire: Wire, scene: Scene, now: Now, with_parameters: bool) -> dict[str, Any]:
    ends, number = f"{_quoted(wire.first)}, {_quoted(wire.second)}", _number(wire, scene)
    link = f"net.link({ends})"
    if number:
        first, second = _quoted(wire.first), _quoted(wire.second)
        link = f"net.link_of(net[{first}].connectionsTo(net[{second}])[{number}][0].link)"
    shown = str(wire.over(None)) if now.knows(wire) else now.shown[wire.key]
    return {
        "key": wire.key, "cut": wire.cut, "ends": ends, "link": link, "words": condition_words(wire), "shown": _quoted(shown),
        "nth": f", key=sorted(self.g[{_quoted(wire.first)}][{_quoted(wire.second)}])[{number}]" if number else "",
        "parameters": _parameters(wire, now, bool(number)) if with_parameters else "",
    }  # fmt: skip


def _parameters(wire: Wire, now: Now, is_further: bool) -> str:
    """Return TCLink's parameters. A further link between two nodes is cut by losing all: Mininet would take down both."""
    if wire.cut and is_further:
        return "loss=100"
    words = tclink_words(replace(wire, cut=False))
    if not wire.named or now.knows(wire):
        return words
    gone = [name for name in ("bw", "delay", "jitter", "loss", "max_queue_size") if f"{name}=" not in words]
    return ", ".join([words, *(f"{name}=None" for name in gone)]) if "params1" not in words else words


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


def _of_test(scene: Scene, now: Now, source: Source, selected: Selected) -> dict[str, Any]:
    """Return what a test asserts: the law, where nothing but delays is on the way; else that the links do what was drawn."""
    way = _path(scene, selected.client, selected.server)
    conditions = [each.over(None) for each in way or ()]
    rtt = sum(each.rtt for each in conditions)
    return {
        "rtt": _quoted(_ms(rtt)),
        "lawful": bool(rtt) and all(map(_is_plain, conditions)) and all(map(now.knows, way or ())),
        "answers": way is not None and not any(each.cut for each in conditions),
    }


def _of_experiment(scene: Scene, now: Now, source: Source, selected: Selected) -> dict[str, Any]:
    """Return what an experiment varies, and whether it claims the law. Raises ExperimentError."""
    key, client, server = selected.key, selected.client, selected.server
    wire = next((each for each in scene.wires if each.key == key), None)
    if wire is None:
        raise ExperimentError("an experiment varies one link", fix="choose a link on the page")
    plain = replace(wire, cut=False)
    shown = plain.over(None)
    kept = {name: value for name, value in wire.fields.items() if name not in DELAYS}
    conditions = [each.over(None) for each in scene.wires if each.key != key]
    claims = (
        not source.compose
        and wire in (_path(scene, client, server) or [])
        and all(map(_is_plain, [shown, *conditions]))
        and all(map(now.knows, scene.wires))
    )
    url = _url(scene, now, server) if source.compose else ""
    measured = f"fetch(net[{_quoted(client)}], {url or 'site.url'}, requests=3)"
    if source.compose and not url:
        measured = f"ping(net[{_quoted(client)}], net[{_quoted(server)}].IP())"
    names = ["StaticPage"] if not source.compose else []
    names += ["experiment", measured.partition("(")[0], *(["law"] if claims else [])]
    return {
        "imported": ", ".join(names),
        "measured": measured,
        "varied": {**_link(plain, scene, now, with_parameters=False), "plain": re.sub(r"[^\w.~-]", "", key)},
        "varied_words": ", ".join(filter(None, [condition_words(replace(plain, fields=kept)), "rtt=rtt"])),
        "values": json.dumps([NEAR_MS, _ms(shown.rtt)] if shown.rtt else USUAL),
        "claims": claims,
        "page_bytes": PAGE_BYTES,
        "round_trips": slow_start.round_trips(PAGE_BYTES, until=slow_start.LAST_BYTE, header_bytes=HEADER_BYTES),
    }


def _url(scene: Scene, now: Now, server: str) -> str:
    """Return the page of a host by its name, as Python has it; empty if no web server runs there."""
    address = scene.node(server).address.partition("/")[0]
    for each in map(urlsplit, now.pages):
        if each.hostname in (address, server):
            return _quoted(f"http://{server}:{each.port or 80}{each.path or '/'}")
    return ""


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.6f}".rstrip("0").rstrip(".") + "ms"
