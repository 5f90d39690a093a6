"""`slownet live` with a real lab, without a browser: its server, its socket, and the files that it saves."""

import asyncio
import base64
import json
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import aiohttp
import pytest
from command_line import SLOWNET, ran, slownet

SHOP = Path(__file__).parents[1] / "shop"
sys.path.insert(0, str(SHOP))
import kept_images  # noqa: E402  # stands beside the project

from slownet.lab.run.clock import ClockRequest  # noqa: E402  # beside the above
from slownet.live import server, starting  # noqa: E402
from slownet.live.line import Line, own_place  # noqa: E402
from slownet.live.session import Session  # noqa: E402

WEB = "localhost/slownet-test/web:1"
PAGES = {"client": "client", "server": "web"}


class Tab:
    """A page that talks to the server; what it hears while it waits for something else is in `heard`."""

    def __init__(self, socket):
        self.socket, self.number, self.heard = socket, 0, []

    async def hear(self, *kinds, **wanted):
        while True:
            message = json.loads((await asyncio.wait_for(self.socket.receive(), 60)).data)
            self.heard.append(message)
            if message["kind"] in kinds and wanted.items() <= message.items():
                return message

    async def send(self, **order):
        self.number += 1
        await self.socket.send_str(json.dumps({"id": f"q{self.number}", **order}))
        return f"q{self.number}"

    async def type(self, shell, text):
        await self.send(do="type", name=shell, text=base64.b64encode(text.encode()).decode())

    async def ask(self, *answers, **order):
        name = await self.send(**order)
        found = await self.hear(
            *answers, "failed", "refused", **({} if "result" in answers or "cost" in answers else {"id": name})
        )
        assert found["kind"] in answers, found
        return found


def live(tmp_path, network, scenario, clock="real"):
    """Play a scenario on a page of a network."""

    async def run(first):
        until, ready = asyncio.Event(), asyncio.Event()
        asked = ClockRequest(clock, "inf" if clock == "virtual" else None, None)
        boot = partial(Line, own_place(asked, 512, None))
        page = server.Page(tmp_path)

        def make():
            session = Session(first.start, first.title, first.source, False, boot)
            if first.drawn:
                session.place(first.drawn)
            return session

        serving = server.Server(page, make)
        running = asyncio.create_task(serving.run(0, lambda address: ready.set(), until))
        try:
            await asyncio.wait_for(ready.wait(), 60)
            async with aiohttp.ClientSession() as client, client.ws_connect(f"{serving.address}ws") as socket:
                tab = Tab(socket)
                await tab.hear("meters")
                await scenario(tab)
        finally:
            until.set()
            await running

    with starting.beginning(network, False, clock == "virtual") as first:
        asyncio.run(run(first))


def set_link(key, **fields):
    return {"do": "set", "key": key, "named": "", "fields": fields, "cut": False, "gesture": ""}


def test_a_network_is_slowed_measured_edited_and_undone(tmp_path):
    async def scenario(tab):
        await tab.ask("taken", **set_link("client-switch", rtt="40ms"))
        shown = [each for each in tab.heard if each["kind"] == "conditions"][-1]["links"]
        assert [each["text"] for each in shown] == ["+40 ms RTT"]
        cost = await tab.ask("cost", do="run", what="cost", operation="page", key="client-switch", **PAGES)
        assert (cost["k"], cost["point"]["rtt_ms"]) == (4, 40)
        assert cost["t0_ms"] + 4 * 40 == pytest.approx(cost["point"]["ms"], abs=1.5)  # 1 %: the CPU is free, so T0 is small
        page = await tab.ask("result", do="run", what="page", operation="", key="", **PAGES)
        assert "50,000 bytes" in page["text"]

        await tab.ask("taken", do="add", kind="host", name="far", x=5, y=5)
        await tab.ask("taken", do="connect", first="far", second="switch")
        await tab.ask("taken", **set_link("far-switch", rtt="100ms"))
        found = await tab.ask("result", do="run", what="ping", operation="", key="", client="far", server="web")
        assert found["text"].startswith("100 ms round trip, 5 of 5")
        shared = (await tab.ask("shared", do="share"))["text"]
        for _ in range(3):
            await tab.ask("taken", do="undo")
        scene = [each for each in tab.heard if each["kind"] == "scene"][-1]
        assert [each["name"] for each in scene["nodes"]] == ["switch", "client", "db", "web"]
        await tab.ask("taken", do="load", text=shared)  # the same names again: the kernel's interfaces are others
        found = await tab.ask("result", do="run", what="ping", operation="", key="", client="far", server="web")
        assert found["text"].startswith("100 ms round trip, 5 of 5")

    live(tmp_path, "client_web_db", scenario, clock="virtual")


OPERATIONS = {"ping": 1, "connection": 1, "kept": 1, "page": 4, "tls": 5, "large": 5}


def test_what_costs_are_offered_obey_their_laws(tmp_path):
    """Free CPU: what is left is at most a tenth of a round trip in all."""

    async def scenario(tab):
        await tab.ask("taken", **set_link("client-switch", rtt="40ms"))
        for operation, k in OPERATIONS.items():
            cost = await tab.ask("cost", do="run", what="cost", operation=operation, key="client-switch", **PAGES)
            assert (operation, cost["k"]) == (operation, k)
            assert cost["point"]["ms"] - cost["t0_ms"] == pytest.approx(40 * k, abs=4)

    live(tmp_path, "client_web_db", scenario, clock="virtual")


def test_an_own_recording_is_played_on_a_link(tmp_path):
    """A packet of 1500 bytes each millisecond: 12 Mbit/s of IP packets."""

    async def scenario(tab):
        text = "\n".join(map(str, range(1, 2001)))
        await tab.send(do="trace", name="cell", text=base64.b64encode(text.encode()).decode())
        await tab.hear("traces")
        await tab.ask("taken", do="play", key="client-switch", trace="cell")
        shown = [each for each in tab.heard if each["kind"] == "conditions"][-1]["links"][0]
        assert shown["rate"] == pytest.approx(12, rel=0.02)  # of frames: 14 bytes more than the packet's 1500
        await tab.ask("taken", do="play", key="client-switch", trace="")
        shown = [each for each in tab.heard if each["kind"] == "conditions"][-1]["links"][0]
        assert shown["text"] == "no condition"

    live(tmp_path, "client_web_db", scenario, clock="virtual")


def test_a_shell_opens_in_a_container(tmp_path):
    kept_images.keep()
    (tmp_path / "compose.yaml").write_text(
        f"services:\n  web:\n    image: {WEB}\n    command: sleep 3600\n    hostname: shop\n"
    )

    async def scenario(tab):
        assert [each for each in tab.heard if each["kind"] == "scene"][-1]["containers"] == ["web"]
        shell = await tab.send(do="shell", name="web", rows=30, columns=90, inside=True)
        await tab.type(shell, "echo $(hostname) $(tty) $(stty size) is it; exit\n")
        await tab.hear("closed", id=shell)
        printed = b"".join(base64.b64decode(each["data"]) for each in tab.heard if each["kind"] == "shell")
        assert b"shop /dev/pts/0 30 90 is it" in printed
        await tab.send(do="shell", name="client", rows=30, columns=90, inside=True)
        assert "no container runs on 'client'" in (await tab.hear("failed"))["line"]

    live(tmp_path, str(tmp_path / "compose.yaml"), scenario)


LAN = """
from mininet.node import Node
from mininet.topo import Topo


class Noted(Node):
    def config(self, **params):
        super().config(**params)
        self.cmd("sysctl -w net.ipv4.tcp_ecn=1")


class Lan(Topo):
    def __init__(self, count=2):
        super().__init__()
        self.addSwitch("s1", failMode="standalone")
        for number in range(1, count + 1):
            self.addHost(f"h{number}", cls=Noted)
            self.addLink(f"h{number}", "s1", bw=50)


topos = {"lan": Lan}
"""
CHECK = """

def test_it_is_the_network_that_was_shown(net):
    assert net["h1"].cmd("sysctl -n net.ipv4.tcp_ecn").strip() == "1"
    assert sorted(each.name for each in net.hosts) == ["h1", "h3", "new"]
    assert str(net.link("h3", "s1").condition).startswith("50 Mbit")
"""


@pytest.mark.long
def test_what_is_saved_of_an_edited_network_with_own_classes_runs(tmp_path):
    (tmp_path / "lan.py").write_text(LAN)
    ends = {"client": "h1", "server": "new"}

    async def scenario(tab):
        await tab.ask("taken", do="remove", name="h2")
        await tab.ask("taken", do="add", kind="host", name="new", x=5, y=5)
        await tab.ask("taken", do="connect", first="new", second="s1")
        await tab.ask("taken", **set_link("h1-s1", rtt="40ms"))
        for kind in ("test", "experiment", "mininet"):
            found = await tab.ask("file", do="save", what=kind, key="h1-s1", **ends)
            (tmp_path / found["name"]).write_text(found["text"] + (CHECK if kind == "test" else ""))

    live(tmp_path, f"{tmp_path / 'lan.py'},3", scenario, clock="virtual")
    words = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "test_drawn.py"]
    text = (tmp_path / "test_drawn.py").read_text()
    marker = "@pytest.mark.topology(Drawn)\n"
    (tmp_path / "test_drawn.py").write_text(text.replace(CHECK, f"\n\n{marker}{CHECK.lstrip()}"))
    done = ran(words, cwd=tmp_path, text=True)
    assert done.returncode == 0, done.stdout
    done = slownet("run", "drawn.py", cwd=tmp_path)
    assert done.returncode == 0, done
    words = [*SLOWNET, "shell", "mininet", "drawn_mininet.py"]
    asked = "h1 ping -c 2 new\nh1 sysctl -n net.ipv4.tcp_ecn\nlinks\n"
    done = ran(words, cwd=tmp_path, input=asked, text=True)
    assert "2 received" in done.stdout + done.stderr, done
    assert "time=40" in done.stdout + done.stderr


@pytest.mark.long
def test_what_is_saved_runs(tmp_path):
    async def scenario(tab):
        await tab.ask("taken", **set_link("client-switch", rtt="40ms"))
        for kind in ("test", "experiment", "mininet"):
            found = await tab.ask("file", do="save", what=kind, key="client-switch", **PAGES)
            (tmp_path / found["name"]).write_text(found["text"])

    live(tmp_path, "client_web_db", scenario, clock="virtual")
    words = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "test_drawn.py"]
    assert ran(words, cwd=tmp_path).returncode == 0
    done = slownet("run", "drawn.py", cwd=tmp_path)
    assert (done.returncode, "4.00 round trips" in done.stdout) == (0, True)
    words = [*SLOWNET, "shell", "mininet", "drawn_mininet.py"]
    done = ran(words, cwd=tmp_path, input="client ping -c 2 web\n", text=True)
    assert done.returncode == 0
    assert "2 received" in done.stdout + done.stderr  # Mininet prints on both


def test_a_shell_on_the_real_clock_and_a_lab_that_dies(tmp_path):
    mn = {
        "hosts": [{"opts": {"hostname": "h1"}, "x": "1", "y": "2"}, {"opts": {"hostname": "h2"}, "x": "3", "y": "4"}],
        "switches": [{"opts": {"hostname": "s1"}, "x": "5", "y": "6"}], "controllers": [],
        "links": [{"src": "h1", "dest": "s1", "opts": {"delay": "10ms"}}, {"src": "h2", "dest": "s1", "opts": {}}],
    }  # fmt: skip
    (tmp_path / "old.mn").write_text(json.dumps(mn))

    async def scenario(tab):
        await tab.ask("taken", do="shell", name="h1", rows=24, columns=80, inside=False)
        shell = f"q{tab.number}"
        for text in ("ping -c 1 h2; echo $((6 * 7)) is it\n", "exit\n"):
            await tab.type(shell, text)
        await tab.hear("closed", id=shell)
        printed = b"".join(base64.b64decode(each["data"]) for each in tab.heard if each["kind"] == "shell")
        assert b"42 is it" in printed
        assert b"1 received" in printed
        scene = [each for each in tab.heard if each["kind"] == "scene"][-1]
        assert scene["wires"][0]["fields"] == {"delay": "10000us"}
        assert [(each["x"], each["y"]) for each in scene["nodes"]] == [(5, 6), (1, 2), (3, 4)]

        await tab.ask("taken", do="shell", name="h2", rows=24, columns=80, inside=False)
        await tab.type(f"q{tab.number}", "kill -9 $(pgrep -f slownet.live.inside)\n")
        dead = await tab.hear("dead")
        assert dead["can_restart"]
        await tab.send(do="restart")
        scene = None
        while not scene or not scene["wires"] or not scene["wires"][0]["fields"]:
            scene = await tab.hear("scene")
        assert scene["wires"][0]["fields"] == {"delay": "10000us"}

    live(tmp_path, str(tmp_path / "old.mn"), scenario)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["nothing_like_it"], "no topology or experiment 'nothing_like_it'"),
        (["missing.mn"], "cannot read missing.mn (No such file or directory)"),
        (["loop.mn"], "would make a loop of switches"),
        (["#state=x"], "this is not a shared network"),
        (["--clock", "exact"], "only `slownet run`"),
    ],
)
def test_a_mistake_is_one_line_before_a_lab_is_needed(tmp_path, words, line):
    names = ["s1", "s2", "s3"]
    loop = {
        "hosts": [], "switches": [{"opts": {"hostname": each}} for each in names],
        "links": [{"src": first, "dest": second, "opts": {}} for first, second in zip(names, [*names[1:], "s1"], strict=True)],
    }  # fmt: skip
    (tmp_path / "loop.mn").write_text(json.dumps(loop))
    done = slownet("live", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert line in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_interrupt_ends_it_and_leaves_nothing(tmp_path):
    """As at the command, but without the libraries of the page, which npm would have to fetch."""
    code = f"""
from functools import partial
from pathlib import Path
from slownet.lab.run.clock import ClockRequest
from slownet.live import server, starting
from slownet.live.line import Line, own_place
from slownet.live.session import Session

with starting.beginning("two_hosts", False, False) as first:
    boot = partial(Line, own_place(ClockRequest("real"), 512, None))
    page = server.Page(Path({str(tmp_path)!r}))
    session = lambda: Session(first.start, first.title, first.source, False, boot)
    server.serve(server.Server(page, session), 0, lambda address: print(address, flush=True))
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().strip()

        async def until_built():
            async with aiohttp.ClientSession() as client, client.ws_connect(f"{address}ws") as socket:
                await Tab(socket).hear("meters")

        asyncio.run(until_built())
        started = descendants(process.pid)
        assert started
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    deadline = time.monotonic() + 20
    while (left := [each for each in started if Path("/proc", each).exists()]) and time.monotonic() < deadline:
        time.sleep(0.1)  # the kernel takes them away
    assert left == []


def descendants(pid):
    """Return the numbers of a process's children, and of theirs."""
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout.split()
    return [*found, *(each for child in found for each in descendants(child))]
