"""A server of a page, and a lab that is played: it does what it is asked to, and no more."""

import asyncio
from contextlib import asynccontextmanager

import aiohttp

from slownet.live.line import Start
from slownet.live.scene import HOST, SWITCH, Node, Scene, Wire
from slownet.live.server import ADDRESS, Page, Server
from slownet.live.session import Session
from slownet.live.written import Source

SCENE = Scene(
    (Node("s1", SWITCH), Node("h1", HOST, address="10.0.0.1/8"), Node("<b>", HOST, address="10.0.0.2/8")),
    (Wire("h1-s1", "h1", "s1"), Wire("<b>-s1", "<b>", "s1")),
)


class Played:
    """A line to a lab that does what it is asked to, and no more."""

    def __init__(self, start, heard, gone, virtual=False, scene=SCENE):
        self.start, self.heard, self.gone, self.virtual, self.scene = start, heard, gone, virtual, scene
        self.containers: list[str] = []
        self.orders, self.is_held, self.advanced, self.fails = [], False, 0, ""

    def begin(self):
        scene = self.start.job.get("then") or self.scene.to_json()
        self.heard({"kind": "built", **scene, "pages": [], "containers": self.containers})
        keys = [each["key"] for each in scene["wires"]]
        plain = {"text": "no condition", "rtt_ms": 0, "loss": 0, "rate": None}
        self.heard({"kind": "conditions", "links": [{"key": key, **plain} for key in keys]})
        self.heard({"kind": "paths", "pings": [{"key": key, "words": "h1 to h2"} for key in keys]})

    def meters(self, at, value=1.0):
        """Send a reading of the meters in which everything has this value."""
        flow = {"up": value, "down": value, "dropped": 0, "queue": int(value), "ping_ms": value, "lost": False}
        links = [{"key": each.key, **flow} for each in self.scene.wires]
        hosts = [{"name": each.name, "retransmitted": value} for each in self.scene.nodes if each.kind == HOST]
        self.heard({"kind": "meters", "at": at, "links": links, "hosts": hosts})

    def send(self, **order):
        self.orders.append(order)
        if "id" not in order:
            return
        if self.fails:
            self.heard({"kind": "failed", "id": order["id"], "line": self.fails})
        else:
            if order["do"] == "set":
                shown = {"text": str(dict(order["fields"])), "rtt_ms": 40, "loss": 0, "rate": None}
                self.heard({"kind": "conditions", "links": [{"key": order["key"], **shown}]})
            self.heard({"kind": "taken", "id": order["id"], "ms": 1})

    def advance(self):
        self.is_held, self.advanced = False, self.advanced + 1

    def end(self):
        self.send(do="end")


class Site:
    """A running server. labs: those that were started."""

    def __init__(self, folder, virtual=False, scene=SCENE):
        self.labs = []

        def boot(start, heard, gone):
            self.labs.append(Played(start, heard, gone, virtual, scene))
            return self.labs[-1]

        def make():
            return Session(Start({"virtual": virtual}), "a <title>", Source(), False, boot)

        self.page = Page(folder)
        self.server = Server(self.page, make)

    @asynccontextmanager
    async def up(self):
        until, ready = asyncio.Event(), asyncio.Event()
        running = asyncio.create_task(self.server.run(0, lambda address: ready.set(), until))
        try:
            await asyncio.wait_for(ready.wait(), 20)
            async with aiohttp.ClientSession() as client:
                self.client = client
                yield
        finally:
            until.set()
            await asyncio.wait_for(running, 20)

    async def get(self, path, **headers):
        url = f"http://{ADDRESS}:{self.server.port}{path}"
        async with self.client.get(url, headers=headers, allow_redirects=False) as answer:
            return answer.status, await answer.read(), answer.headers
