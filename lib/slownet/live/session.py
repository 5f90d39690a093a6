"""One network and the pages that show it: its state, its undo, and its lab.

Everything here runs in the server's loop but `heard` and `gone`, which the lab's thread calls.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from slownet.links.conditions import profiles
from slownet.live import miniedit, recordings, written
from slownet.live import scene as scenes
from slownet.live.line import Line, Start
from slownet.live.messages import TICK_S, Message
from slownet.live.orders import FREE, OPERATIONS, Order, read
from slownet.live.scene import Scene
from slownet.model.errors import ExperimentError, SlownetError
from slownet.model.options import CLOCK
from slownet.model.shapes import Json

WINDOW = 480
"""Readings of the meters that a page keeps, and that a new one gets: two minutes."""
PAST_CHARACTERS = 4 << 20
"""Of these readings: of a large network a page gets fewer."""
UNDO = 200
MEASURED = 200
"""Results of buttons that are kept: a new page gets them, and a lab that dies takes none along."""
MOST_RECORDED = 20
WAITING = 300
"""Messages that wait for a slow page; readings of the meters are left out from half of them on."""
MOST_CLIENTS = 64


@dataclass(eq=False)
class Client:
    """One page. Its number is part of the names of what it asks for. watches: it may look, and change nothing."""

    number: int
    watches: bool = False
    queue: asyncio.Queue[str | None] = field(default_factory=lambda: asyncio.Queue(WAITING))

    def tell(self, text: str, is_meters: bool = False) -> None:
        """Queue a message. A page that does not read is closed."""
        if is_meters and self.queue.qsize() > WAITING // 2:
            return
        try:
            self.queue.put_nowait(text)
        except asyncio.QueueFull:
            while not self.queue.empty():
                self.queue.get_nowait()
            self.queue.put_nowait(None)


class Session:
    """The network of a page. boot: makes a line to a new lab, given a start and what hears its messages and its end.

    recorded: own recordings that can be played, packed, by their names.
    """

    def __init__(
        self, start: Start, title: str, source: written.Source, loops: bool, boot: Callable[..., Line],
        recorded: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self._start, self._title, self._source, self._loops, self._boot = start, title, source, loops, boot
        self._clients: dict[int, Client] = {}
        self._numbers = 0
        self._line: Line | None = None
        self._ending = False
        self._scene: Scene | None = None
        self._built: Scene | None = None
        self._undo: deque[tuple[str, Scene]] = deque(maxlen=UNDO)
        self._pending: dict[str, tuple[Scene, bool]] = {}
        self._places: dict[str, tuple[float | None, float | None]] = {}
        self._shown: dict[str, Message] = {}
        self._playing: dict[str, str] = {}
        self._pings: Json = []
        self._pages: Json = []
        self._last_s = 0.0
        self._meters: deque[str] = deque(maxlen=WINDOW)
        self._since_s = 0.0
        self._measured: deque[Message] = deque(maxlen=MEASURED)
        self._containers: Json = []
        self._recorded = dict(recorded or {})
        self._dead = ""
        self._paused = False
        self._steps = 0
        self._loop = asyncio.get_running_loop()
        self.watching = ""
        """The name below which pages only watch, for those that may do more."""

    # ---- the lab ----

    def begin(self) -> None:
        """Boot the lab, with the network as it was before if one has died."""
        self._dead = ""
        start = self._start
        if self._scene is not None:
            start = replace(start, job={**start.job, "then": self._scene.to_json()})
        self._line = self._boot(start, self._from_lab(self._heard), self._from_lab(self._gone))
        self._line.begin()

    def _from_lab(self, call: Callable[[Any], None]) -> Callable[[Any], None]:
        def calling(value: Any) -> None:
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(call, value)

        return calling

    async def end(self) -> None:
        """End the lab, and all pages."""
        self._ending = True
        for each in self._clients.values():
            each.tell(_text(kind="ended"))
        if self._line:
            await asyncio.to_thread(self._line.end)

    @property
    def has_failed(self) -> str:
        """Why the network could not be built at all; empty if it could."""
        return self._dead if self._scene is None else ""

    async def pace(self) -> None:
        """Let the virtual clock pass as the real one does, unless it is paused."""
        due = time.monotonic()
        while not self._ending:
            await asyncio.sleep(0.01)
            if self._line is None or not self._line.virtual or not self._line.is_held:
                continue
            if self._steps or (not self._paused and time.monotonic() >= due):
                self._steps = max(0, self._steps - 1)
                due = max(due + TICK_S, time.monotonic())
                self._line.advance()

    def _gone(self, line: str) -> None:
        self._line = None
        if self._ending:
            return
        self._dead = line or "the network has ended"
        self._playing.clear()
        self._tell_all(kind="dead", line=self._dead, can_restart=self._scene is not None)

    def _heard(self, message: Message) -> None:
        getattr(self, f"_on_{message['kind']}", self._pass_on)(message)

    def _pass_on(self, message: Message) -> None:
        self._tell_all(**message)

    def _on_built(self, message: Message) -> None:
        """Take the network as the lab has it, after a failed edit, too."""
        try:
            found = scenes.read({"nodes": message["nodes"], "wires": message["wires"]})
        except SlownetError as error:
            self._dead = error.line
            return
        self._pages, self._containers = message["pages"], message["containers"]
        places = self._places | {each.name: (each.x, each.y) for each in (self._scene.nodes if self._scene else ())}
        at = {each.name: places.get(each.name, (None, None)) for each in found.nodes}
        nodes = tuple(replace(each, x=at[each.name][0], y=at[each.name][1]) for each in found.nodes)
        self._scene = Scene(nodes, found.wires)
        self._built = self._built or self._scene
        self._tell_scene()

    def place(self, scene: Scene) -> None:
        """Remember where nodes of a file or of a shared link are drawn."""
        self._places = {each.name: (each.x, each.y) for each in scene.nodes}

    def _on_conditions(self, message: Message) -> None:
        links: Any = message["links"]
        self._shown.update({each["key"]: each for each in links})
        self._tell_all(**message)

    def _on_paths(self, message: Message) -> None:
        self._pings = message["pings"]
        self._tell_all(**message)

    def _on_played(self, message: Message) -> None:
        self._playing[str(message["key"])] = str(message["what"])
        self._tell_all(**message)

    def _on_meters(self, message: Message) -> None:
        self._last_s = self._since_s + float(str(message["at"]))
        text = _text(**{**message, "at": round(self._last_s, 3)})
        self._meters.append(text)
        while len(self._meters) > 1 and sum(map(len, self._meters)) > PAST_CHARACTERS:
            self._meters.popleft()
        for each in list(self._clients.values()):
            each.tell(text, is_meters=True)

    def _on_cost(self, message: Message) -> None:
        self._measured.append(message)
        self._tell_all(**message)

    _on_result = _on_cost

    def _on_taken(self, message: Message) -> None:
        self._pending.pop(str(message["id"]), None)
        self._to_owner(message)

    def _on_failed(self, message: Message) -> None:
        before, is_of_link = self._pending.pop(str(message["id"]), (None, False))
        if before is not None and self._scene is not None:
            self._scene = before if is_of_link else self._scene  # after an edit the lab has said what the network is
            if self._undo:
                self._undo.pop()
            self._tell_scene()
        self._to_owner(message)

    def _on_shell(self, message: Message) -> None:
        self._to_owner(message)

    _on_closed = _on_shell

    def _to_owner(self, message: Message) -> None:
        number, _, name = str(message["id"]).partition(":")
        client = self._clients.get(int(number)) if number.isdigit() else None
        if message["kind"] == "failed" and not name:  # of what no page has asked for: the network of a file, or of a dead lab
            self._tell_all(kind="note", line=message["line"])
        if client:
            client.tell(_text(**{**message, "id": name}))

    # ---- the pages ----

    def join(self, watches: bool = False) -> Client:
        """Return a new page's end. watches: it may look, and change nothing. Raises ExperimentError if there are too many."""
        if len(self._clients) >= MOST_CLIENTS:
            raise ExperimentError(f"{MOST_CLIENTS} pages are open", fix="close one")
        self._numbers += 1
        client = Client(self._numbers, watches)
        self._clients[client.number] = client
        conditions = [{"name": each.name, "source": each.source} for each in profiles.rows()]
        hello: dict[str, Json] = {
            "kind": "hello", "title": self._title, "conditions": [dict(each) for each in conditions],
            "traces": self._traces(), "operations": [list(each) for each in OPERATIONS.items()], "watches": watches,
            "watching": "" if watches else self.watching,
            "virtual": bool(self._start.job.get("virtual")), "paused": self._paused, "dead": self._dead, "window": WINDOW,
            "can_restart": self._scene is not None,
        }  # fmt: skip
        client.tell(_text(**hello))
        if self._scene is not None:
            client.tell(self._scene_text())
            client.tell(_text(kind="conditions", links=list(self._shown.values())))
            client.tell(_text(kind="paths", pings=self._pings))
            measured = json.dumps(list(self._measured))
            client.tell(f'{{"kind":"past","meters":[{",".join(self._meters)}],"measured":{measured}}}')
        return client

    def leave(self, client: Client) -> None:
        """Forget a page, and end its shells."""
        self._clients.pop(client.number, None)
        if self._line:
            with contextlib.suppress(SlownetError):
                self._line.send(do="leave", owner=f"{client.number}:")

    def _tell_all(self, **values: Json) -> None:
        text = _text(**values)
        for each in list(self._clients.values()):
            each.tell(text)

    def _scene_text(self) -> str:
        assert self._scene is not None
        playing = {key: what for key, what in self._playing.items() if what}
        undo = self._undo[-1][0] if self._undo else ""
        return _text(
            kind="scene",
            **self._scene.to_json(),
            undo=undo,
            playing=dict(playing),
            pages=self._pages,
            containers=self._containers,
        )

    def _tell_scene(self) -> None:
        text = self._scene_text()
        for each in list(self._clients.values()):
            each.tell(text)

    def take(self, client: Client, text: str) -> None:
        """Do what a page asks for; a mistake is one line for that page alone."""
        order = None
        try:
            order = read(text)
            if client.watches and order.do not in FREE:
                raise ExperimentError("this page only watches", fix="open the address that the command has printed first")
            getattr(self, f"_do_{order.do}")(client, order)
        except SlownetError as error:
            client.tell(_text(kind="refused", id=order.id if order else "", line=error.line))

    def _need(self) -> tuple[Line, Scene]:
        if self._line is None or self._scene is None:
            raise ExperimentError("the network does not run", fix=self._dead or "wait until it is built")
        return self._line, self._scene

    def _change(self, client: Client, order: Order, after: Scene, what: str, *, again: bool = False) -> None:
        """Turn the network into another one. again: whether it goes on with the last change, such as the same slider's."""
        line, before = self._need()
        if not again:
            self._undo.append((what, before))
        self._scene = after
        steps = scenes.steps(before, after)
        identity = f"{client.number}:{order.id}"
        is_of_link = len(steps) == 1 and steps[0]["do"] == "set"
        if steps:
            self._pending[identity] = before, is_of_link
        if is_of_link:
            line.send(id=identity, **steps[0])
        elif steps:
            line.send(id=identity, do="edit", steps=[dict(each) for each in steps])
        self._tell_scene()

    def _do_set(self, client: Client, order: Order) -> None:
        _, scene = self._need()
        wire = scene.wire(order.key)
        wanted = replace(wire, named=order.named, fields=dict(order.fields), cut=order.cut)
        what = f"{wire.key}"
        again = bool(order.gesture and self._undo and self._undo[-1][0] == f"{what} {order.gesture}")
        self._change(client, order, scene.with_wire(wanted), f"{what} {order.gesture}".strip(), again=again)

    def _do_move(self, client: Client, order: Order) -> None:
        _, scene = self._need()
        self._undo.append((f"{order.name} moved", scene))
        self._scene = scene.moved(order.name, order.x, order.y)
        self._tell_scene()

    def _do_add(self, client: Client, order: Order) -> None:
        _, scene = self._need()
        after = scene.with_node(order.kind, order.name, order.x, order.y)
        self._change(client, order, after, f"{after.nodes[-1].name} added")

    def _do_connect(self, client: Client, order: Order) -> None:
        _, scene = self._need()
        after = scene.connected(order.first, order.second, self._loops)
        self._change(client, order, after, f"{after.wires[-1].key} connected")

    def _do_remove(self, client: Client, order: Order) -> None:
        _, scene = self._need()
        self._change(client, order, scene.without_node(order.name), f"{order.name} removed")

    def _do_disconnect(self, client: Client, order: Order) -> None:
        _, scene = self._need()
        self._change(client, order, scene.without_wire(order.key), f"{order.key} removed")

    def _do_undo(self, client: Client, order: Order) -> None:
        self._need()
        if not self._undo:
            raise ExperimentError("there is nothing to undo", fix="change something first")
        what, before = self._undo.pop()
        self._change(client, order, before, what, again=True)

    def _do_load(self, client: Client, order: Order) -> None:
        self._need()
        notes: list[str] = []
        if order.text.lstrip().startswith("{"):
            wanted, notes = miniedit.read(order.text)
        else:
            wanted = scenes.unpacked(order.text)
        wanted.need_no_loop(self._loops)
        self.place(wanted)
        self._change(client, order, wanted, "another network opened")
        for note in notes:
            client.tell(_text(kind="note", line=note))

    def _do_share(self, client: Client, order: Order) -> None:
        _, scene = self._need()
        client.tell(_text(kind="shared", id=order.id, text=f"{scenes.SHARED}{scene.packed()}"))

    def _do_save(self, client: Client, order: Order) -> None:
        _, scene = self._need()
        assert self._built is not None
        selected = written.Selected(order.key, order.client, order.server)
        shown = {key: str(each["text"]) for key, each in self._shown.items()}
        now = written.Now(self._built, shown, [str(each) for each in self._pages])
        for key, what in self._playing.items():
            if what:
                client.tell(_text(kind="note", line=f"{what}, which plays on {key}, is not in the file"))
        name, text = written.file(order.what, scene, now, self._source, selected)
        client.tell(_text(kind="file", id=order.id, name=name, text=text))

    def _do_run(self, client: Client, order: Order) -> None:
        line, scene = self._need()
        scene.node(order.client), scene.node(order.server)
        if order.what == "cost":
            scene.wire(order.key)
        identity = f"{client.number}:{order.id}"
        line.send(
            do="run", id=identity, name=identity, what=order.what, client=order.client, server=order.server,
            key=order.key, operation=order.operation,
        )  # fmt: skip

    def _do_play(self, client: Client, order: Order) -> None:
        line, scene = self._need()
        scene.wire(order.key)
        data = self._recorded.get(order.trace, "")
        line.send(do="play", id=f"{client.number}:{order.id}", key=order.key, trace=order.trace, data=data)

    def _do_trace(self, client: Client, order: Order) -> None:
        packed = recordings.packed(recordings.decoded(order.text, order.name), order.name)
        if order.name in written.TRACES or (order.name not in self._recorded and len(self._recorded) >= MOST_RECORDED):
            raise ExperimentError(f"{order.name} cannot be added", fix=f"at most {MOST_RECORDED}, with names of their own")
        self._recorded[order.name] = packed
        self._tell_all(kind="traces", traces=self._traces())

    def _traces(self) -> list[Json]:
        return [*written.TRACES, *self._recorded]

    def _do_shell(self, client: Client, order: Order) -> None:
        line, scene = self._need()
        scene.node(order.name)
        name = f"{client.number}:{order.id}"
        line.send(
            do="shell", id=name, name=name, host=order.name, rows=order.rows, columns=order.columns, inside=order.inside
        )  # fmt: skip

    def _do_type(self, client: Client, order: Order) -> None:
        self._need()[0].send(do="type", name=f"{client.number}:{order.name}", data=order.text)

    def _do_took(self, client: Client, order: Order) -> None:
        self._need()[0].send(do="shown", name=f"{client.number}:{order.name}", count=order.count)

    def _do_resize(self, client: Client, order: Order) -> None:
        name = f"{client.number}:{order.name}"
        self._need()[0].send(do="resize", name=name, rows=order.rows, columns=order.columns)

    def _do_close(self, client: Client, order: Order) -> None:
        self._need()[0].send(do="close", name=f"{client.number}:{order.name}")

    def _do_pause(self, client: Client, order: Order) -> None:
        self._need_virtual()
        self._paused = True
        self._tell_all(kind="paused", paused=True)

    def _do_resume(self, client: Client, order: Order) -> None:
        self._need_virtual()
        self._paused = False
        self._tell_all(kind="paused", paused=False)

    def _do_step(self, client: Client, order: Order) -> None:
        self._need_virtual()
        self._paused = True
        self._steps += 1
        self._tell_all(kind="paused", paused=True)

    def _need_virtual(self) -> None:
        if not self._need()[0].virtual:
            raise ExperimentError("the real clock cannot be paused", fix=f"start with {CLOCK.set('virtual')}")

    def _do_restart(self, client: Client, order: Order) -> None:
        if self._line is not None or self._scene is None:
            raise ExperimentError("the network runs", fix="nothing has to be restarted")
        self._since_s = self._last_s
        self.begin()
        self._tell_all(kind="starting")


def _text(**values: Json) -> str:
    return json.dumps(values, separators=(",", ":"))
