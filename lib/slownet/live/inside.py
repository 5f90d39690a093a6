"""Runs a network for a page: `python -m slownet.live.inside JOB`, in a lab.

It reads orders from standard input and writes what they come to, and the meters, to standard output: see `messages`.

On the virtual clock it reports each quarter of a second and then computes, so that no time passes, until the host
lets it go on: the host is what makes it pause, or step.
"""

from __future__ import annotations

import base64
import json
import os
import select
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from slownet.hypotheses import specs
from slownet.links.conditions.link import Condition
from slownet.links.conditions.schedule import flap
from slownet.links.traces import synthetic
from slownet.live import edits, recordings
from slownet.live import scene as scenes
from slownet.live.actions import Actions
from slownet.live.echoes import Echoes, Pinged
from slownet.live.messages import TICK_S, Lines, line
from slownet.live.scene import HOST, ROUTER, SWITCH, Node, Scene, Wire
from slownet.live.shells import Shells
from slownet.model.errors import ConditionError, ExperimentError, SlownetError
from slownet.model.shapes import Json
from slownet.net import counting, machine
from slownet.net.layout import named
from slownet.net.namespace import inside
from slownet.net.network import Network
from slownet.net.network_link import Link
from slownet.runner.inside import end_with_parent

SNMP = Path("/proc/thread-self/net/snmp")
FREE_PART = 4
"""Readings of the meters take at most one part in so many of the time."""
TRACES: Mapping[str, Callable[[], Any]] = {
    "Starlink": lambda: synthetic.starlink(1, length="2min").schedule(),
    "LTE on the move": lambda: synthetic.mobile("LTE", 1, handover_every="20s", length="2min").schedule(),
    "5G on the move": lambda: synthetic.mobile("5G", 1, handover_every="10s", length="2min").schedule(),
    "a flapping cable": lambda: flap("8s", "2s"),
}
"""Traces to play on a link, drawn from published statistics: see `slownet.links.traces.synthetic`."""


@dataclass(frozen=True)
class Built:
    """A network that was built. pages: URLs of web servers that run there; containers: by the host that each runs on."""

    network: Network
    pages: list[str] = field(default_factory=list)
    containers: Mapping[str, Any] = field(default_factory=dict)


class Engine:
    """One network, its meters, and the orders of its page. post: a function that sends a message to the host."""

    def __init__(self, built: Built, virtual: bool, post: Callable[..., None]) -> None:
        network, pages = built.network, built.pages
        self._network = network
        self._containers = built.containers
        self._post = post
        self._virtual = virtual
        self._changing = threading.RLock()
        self._cables: dict[str, Any] = {}
        self._wires: dict[str, Wire] = {}
        self._kinds: dict[str, str] = {host.name: ROUTER if edits.forwards(host) else HOST for host in network.hosts}
        self._stated: dict[str, Condition | None] = {}
        hosts: list[Any] = list(network.hosts)
        self._addresses = {each.name: f"{each.IP()}/{each.defaultIntf().prefixLen}" for each in hosts if each.intfList()}
        self._before: dict[str, tuple[float, Any]] = {}
        self._retransmitted: dict[str, tuple[float, int]] = {}
        self._playing: dict[str, Any] = {}
        self._echoes = Echoes()
        self._shells = Shells(post)
        self._actions = Actions(network, pages, post, self._setting)
        self._lines = Lines()
        self._waiting: deque[Mapping[str, Any]] = deque()
        self._ended = self._released = False
        self._pages = pages
        for key, cable in named(network.mininet.links):
            self._know(key, cable)

    def _know(self, key: str, cable: Any) -> None:
        self._cables[key] = cable
        self._wires[key] = Wire(key, cable.intf1.node.name, cable.intf2.node.name)
        self._stated[key] = None
        if not self._network.shaping.is_set(cable):
            return
        try:
            self._stated[key] = self._network.shaping.of_topology(cable)
        except ConditionError:  # its ends differ in more than one condition can state
            self._stated[key] = None

    def scene(self) -> Scene:
        """Return the network as it is."""
        nodes = [Node(each.name, SWITCH) for each in self._network.switches]
        nodes += [
            Node(each.name, self._kinds[each.name], address=self._addresses.get(each.name, "")) for each in self._network.hosts
        ]
        return Scene(tuple(nodes), tuple(self._wires.values()))

    def _link(self, key: str) -> Link:
        if key not in self._cables:
            raise ExperimentError(f"no link '{key}'", fix="choose one that is drawn")
        return self._network.link_of(self._cables[key])

    # ---- orders ----

    def take(self, order: Mapping[str, Any]) -> None:
        """Carry an order out, and answer it."""
        began = time.monotonic()
        try:
            getattr(self, f"do_{order['do']}")(**{name: value for name, value in order.items() if name not in ("do", "id")})
        except Exception as error:
            text = getattr(error, "line", None) or f"{type(error).__name__}: {error}"
            self._post(kind="failed", id=order.get("id", ""), line=str(text)[:3900])
            return
        if "id" in order:
            self._post(kind="taken", id=order["id"], ms=round(1000 * (time.monotonic() - began), 3))

    def do_set(self, key: str, named: str, fields: Mapping[str, str], cut: bool) -> None:
        """Give a link a condition."""
        self._end_play(key)
        self._link(key)
        wire = replace(self._wires[key], named=named, fields=fields, cut=cut)
        condition = self._setting(key, wire.over(self._stated.get(key)))
        self._wires[key] = wire
        self._post(kind="conditions", links=[{"key": key, **scenes.shown(condition)}])

    def _setting(self, key: str, condition: Condition | None) -> Condition:
        """Set a link, or ask for its condition if none is given; return what it has then."""
        with self._changing:
            link = self._link(key)
            if condition is None:
                return link.condition if self._network.shaping.is_set(self._cables[key]) else Condition()
            self._network.condition_log.begin()
            link.set(condition, ping=False)  # which reads it back
            self._network.settings.clear()
            return condition

    def do_edit(self, steps: list[Mapping[str, Any]]) -> None:
        """Turn the network into another one, step by step."""
        try:
            with self._changing:
                for step in steps:
                    getattr(self, f"_{step['do']}")(**{name: value for name, value in step.items() if name != "do"})
        finally:
            self._post_all()

    def _post_all(self) -> None:
        """Say what the network is now: after an error, too, when some of the steps are done."""
        self._post(kind="built", **self.scene().to_json(), pages=list(self._pages), containers=list(self._containers))
        self._echoes.follow(self._cables.items())
        self._show(list(self._cables))
        self._post_paths()

    def _set(self, key: str, named: str, fields: Mapping[str, str], cut: bool) -> None:
        self.do_set(key, named, fields, cut)

    def _add(self, name: str, kind: str, address: str) -> None:
        given = edits.add(self._network, name, kind, address)
        if kind != SWITCH:
            self._addresses[name], self._kinds[name] = given, kind

    def _remove(self, name: str) -> None:
        self._echoes.forget(name)
        edits.remove(self._network, name)
        self._addresses.pop(name, None)
        self._retransmitted.pop(name, None)

    def _connect(self, key: str, first: str, second: str) -> None:
        self._know(key, edits.connect(self._network, first, second, self._addresses))

    def _disconnect(self, key: str) -> None:
        self._end_play(key)
        cable = self._cables.pop(key)
        self._before.pop(key, None)
        self._wires.pop(key)
        self._stated.pop(key, None)
        edits.disconnect(self._network, cable)

    def do_play(self, key: str, trace: str, data: str) -> None:
        """Play a trace on a link; an empty name ends it. data: of an own recording, packed."""
        self._end_play(key)
        if trace:
            if not data and trace not in TRACES:
                raise ExperimentError(f"no trace '{trace}'", fix=f"choose from {', '.join(TRACES)}")
            schedule = recordings.schedule(recordings.unpacked(data), trace) if data else TRACES[trace]()
            playing = self._link(key).play(schedule)
            playing.__enter__()
            self._playing[key] = playing
        self._post(kind="played", key=key, what=trace)
        self._show([key])

    def _end_play(self, key: str) -> None:
        if playing := self._playing.pop(key, None):
            playing.__exit__(None, None, None)
            self._network.played.clear()
            self._post(kind="played", key=key, what="")

    def do_run(self, **order: Any) -> None:
        """Run what a button asks for; its result comes later."""
        self._actions.start({**order, "id": order.pop("name")})

    def do_shell(self, name: str, host: str, rows: int, columns: int, inside: bool) -> None:
        """Open a shell on a host, or inside the container that runs there."""
        if host in {each.name for each in self._network.switches}:
            raise ExperimentError(f"'{host}' is a switch", fix="open the shell on a host")
        if inside and host not in self._containers:
            raise ExperimentError(f"no container runs on '{host}'", fix="open the shell on the host")
        self._shells.open(name, self._network[host], rows, columns, self._containers[host] if inside else None)

    def do_type(self, name: str, data: str) -> None:
        """Type into a shell."""
        self._shells.write(name, base64.b64decode(data))

    def do_shown(self, name: str, count: int) -> None:
        """Note what of a shell the page has taken."""
        self._shells.taken(name, count)

    def do_resize(self, name: str, rows: int, columns: int) -> None:
        """Give a shell another size."""
        self._shells.resize(name, rows, columns)

    def do_close(self, name: str) -> None:
        """End a shell."""
        self._shells.close(name)

    def do_leave(self, owner: str) -> None:
        """End the shells of a page that was closed."""
        self._shells.close_of(owner)

    def do_go(self) -> None:
        """Let a quarter of a second pass, on the virtual clock."""
        self._released = True

    def do_end(self) -> None:
        """End the network."""
        self._ended = True

    # ---- what it says ----

    def _show(self, keys: list[str]) -> None:
        """Report the conditions of links. Of one that was never set tc is not asked: each host has a tc of its own."""
        is_set = self._network.shaping.is_set
        links: list[Json] = []
        for key in keys:
            condition = self._link(key).condition if is_set(self._cables[key]) else Condition()
            links.append({"key": key, **scenes.shown(condition)})
        self._post(kind="conditions", links=links)

    def _post_paths(self) -> None:
        ways = self._echoes.of_link
        self._post(kind="paths", pings=[{"key": key, "words": way.words} for key, way in ways.items()])

    def _meters(self) -> None:
        now = time.monotonic()
        with self._changing:
            counted = counting.counters(self._cables.values(), self._network.shaping.gone, self._take_settings)
            links = [self._of_link(key, counted[cable], now) for key, cable in self._cables.items()]
            hosts = [self._of_host(each, now) for each in self._network.hosts]
        self._post(kind="meters", at=round(now, 3), links=links, hosts=hosts)

    def _of_link(self, key: str, counted: Any, now: float) -> Json:
        last, before = self._before.get(key, (now, counted))
        self._before[key] = now, counted
        passed = now - last
        way: Pinged | None = self._echoes.of_link.get(key)

        def rate(name: str) -> float:
            sent = getattr(counted, name).sent_bytes - getattr(before, name).sent_bytes
            return round(max(0, sent) * 8 / passed / 1e6, 6) if passed else 0.0

        dropped = counted.up.dropped + counted.down.dropped - before.up.dropped - before.down.dropped
        return {
            "key": key, "up": rate("up"), "down": rate("down"), "dropped": max(0, dropped),
            "queue": counted.up.backlog_packets + counted.down.backlog_packets,
            "ping_ms": way.ms if way and not way.lost else None, "lost": bool(way and way.lost),
        }  # fmt: skip

    def _of_host(self, host: Any, now: float) -> Json:
        with inside(host):
            count = retransmitted(SNMP.read_text())
        last, before = self._retransmitted.get(host.name, (now, count))
        self._retransmitted[host.name] = now, count
        return {"name": host.name, "retransmitted": round(max(0, count - before) / (now - last), 3) if now > last else 0.0}

    # ---- the loop ----

    def run(self, then: Scene | None) -> None:
        """Serve the page until the host closes standard input. then: what to turn the network into first."""
        self._post_all()
        if then is not None:
            self.take({"do": "edit", "steps": scenes.steps(self.scene(), then), "id": "restored"})
        with ExitStack() as closing:
            closing.callback(self._end)
            due = time.monotonic()
            while not self._ended:
                self._serve(max(0.0, due - time.monotonic()))
                if (began := time.monotonic()) >= due:
                    self._echoes.receive()
                    self._echoes.send(began)
                    self._meters()
                    took = time.monotonic() - began
                    due = time.monotonic() + max(TICK_S - took, (FREE_PART - 1) * took)
                    if self._virtual:
                        self._hold()
                        due = time.monotonic() + TICK_S

    def _serve(self, timeout: float) -> None:
        """Wait for orders and shells, and attend to them."""
        ready, _, _ = select.select([0, *self._shells.readable], [], [], 0 if self._waiting else timeout)
        for descriptor in ready:
            if descriptor != 0:
                self._shells.read(descriptor)
                continue
            self._ended |= not self._read()
        while self._waiting:
            self.take(self._waiting.popleft())

    def _read(self) -> bool:
        """Read orders, which then wait; return False at their end."""
        data = os.read(0, 4096)
        self._waiting += map(json.loads, self._lines.feed(data))
        return bool(data)

    def _take_settings(self) -> None:
        """Set links whose orders have come, while meters are read: a slider does not wait for the meters of all links."""
        while select.select([0], [], [], 0)[0] and self._read():
            pass
        while self._waiting and self._waiting[0]["do"] == "set":
            self.take(self._waiting.popleft())

    def _hold(self) -> None:
        """Let no time pass until the host lets it go on: a lab that computes is not idle, so its clock does not jump."""
        self._released = False
        self._post(kind="taken", id="tick", ms=0)
        while not (self._released or self._ended):
            self._serve(0)
            os.sched_yield()

    def _end(self) -> None:
        for key in list(self._playing):
            with suppress(SlownetError):
                self._end_play(key)
        self._shells.close_all()
        self._actions.close()
        self._echoes.close()


def retransmitted(snmp: str) -> int:
    """Return the segments that a host has sent again, from the text of /proc/net/snmp."""
    names, values = [each.split() for each in snmp.splitlines() if each.startswith("Tcp:")][:2]
    return int(values[names.index("RetransSegs")])


def main(argv: list[str]) -> int:
    """Build the network of a job (JSON) and serve it; return 2 after an error, which standard error explains."""
    end_with_parent()
    job = json.loads(argv[0])
    out = os.dup(1)
    os.dup2(2, 1)  # what others print does not come between the messages
    sending = threading.Lock()

    def post(**values: Json) -> None:
        data = line(**values)
        with sending:
            while data:
                data = data[os.write(out, data) :]

    machine.prepare()
    try:
        with ExitStack() as running:
            built = _built(job, running)
            wanted = scenes.read(job["then"]) if job.get("then") else None
            Engine(built, job["virtual"], post).run(wanted)
    except SlownetError as error:
        print(f"slownet: {error}", file=sys.stderr)
        return 2
    return 0


def _built(job: Mapping[str, Any], running: ExitStack) -> Built:
    """Build the network of a job and start its services."""
    stp = job.get("stp", False)
    if "compose" in job:
        from slownet.compose import handover
        from slownet.compose.project_topology import Compose

        handover.use(Path(job["handed"]))
        files, profiles = job["compose"]
        project = Compose(*files, profiles=profiles)
        network = running.enter_context(Network(project, stp))
        services = running.enter_context(project.serve(network))
        containers = {each.host.name: each for each in reversed(list(services))}
        return Built(network, [f"http://{each.host.IP()}:{each.port}/" for each in services if each.port], containers)
    if "experiment" in job:
        from slownet.hypotheses.catalogue import find

        found = find(job["experiment"])
        network = running.enter_context(Network(found.topology, stp))
        service = running.enter_context(found.service(network, Path("/tmp"))) if found.service else None
        url = getattr(service, "url", "")
        return Built(network, [url] if isinstance(url, str) and url.startswith("http") else [])
    if "scene" in job:
        return Built(running.enter_context(Network(edits.Drawn(scene=scenes.read(job["scene"])), stp)))
    return Built(running.enter_context(Network(specs.topology(job["topology"], job.get("arguments", [])), stp)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
