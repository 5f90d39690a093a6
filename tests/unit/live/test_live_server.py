"""The server of the page: what it answers and to whom, and what its pages do with a lab that is played here."""

import asyncio
import base64
import json
import shutil
from contextlib import asynccontextmanager

import aiohttp
import pytest
from played import Site

from slownet.live import recordings
from slownet.live import session as sessions
from slownet.live.server import ADDRESS
from slownet.model.errors import LabError


class Tab:
    """A page that talks to the server."""

    def __init__(self, socket):
        self.socket, self.number = socket, 0

    async def hear(self, kind):
        while True:
            message = json.loads((await asyncio.wait_for(self.socket.receive(), 20)).data)
            if message["kind"] in (kind, "refused"):
                return message

    async def ask(self, answer, /, **order):
        self.number += 1
        await self.socket.send_str(json.dumps({"id": f"q{self.number}", **order}))
        return await self.hear(answer)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "uplot.js").write_text("uplot")
    (tmp_path / "secret.txt").write_text("secret")
    return tmp_path


def play(site, scenario):
    async def run():
        async with site.up():
            await scenario(site)

    asyncio.run(run())


@asynccontextmanager
async def tab(site):
    async with site.client.ws_connect(f"{site.server.address}ws") as socket:
        yield Tab(socket)


def set_rtt(text, gesture=""):
    return {"do": "set", "key": "h1-s1", "named": "", "fields": {"rtt": text}, "cut": False, "gesture": gesture}


def test_nothing_is_answered_without_the_token(folder):
    async def scenario(site):
        token = site.page.token
        for path in ("/", "/live.js", "/ws", f"/{token}", f"/{token[:-1]}x/", f"/{token}x/", "/favicon.ico", f"//{token}/"):
            status, body, headers = await site.get(path)
            assert (path, status, body) == (path, 404, b"")
            assert "Server" not in headers
        assert (await site.get(f"/{token}/"))[0] == 200

    play(Site(folder), scenario)


def test_another_pages_origin_and_another_host_are_refused(folder):
    async def scenario(site):
        at, own = f"/{site.page.token}/", f"{ADDRESS}:{site.server.port}"
        for headers in (
            {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": f"https://{own}"}, {"Host": "evil.example"},
            {"Host": f"evil.example:{site.server.port}", "Origin": f"http://evil.example:{site.server.port}"},
            {"Host": ADDRESS},
        ):  # fmt: skip
            assert (headers, (await site.get(at, **headers))[0]) == (headers, 404)
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await site.client.ws_connect(f"{site.server.address}ws", headers=headers)
        assert (await site.get(at, Origin=f"http://{own}"))[0] == 200
        assert (await site.get(at, Host=f"localhost:{site.server.port}"))[0] == 200

    play(Site(folder), scenario)


def test_a_page_that_only_watches_sees_all_and_changes_nothing(folder):
    async def scenario(site):
        assert site.server.watching != site.server.address
        async with site.client.ws_connect(f"{site.server.watching}ws") as socket, tab(site) as other:
            page = Tab(socket)
            hello = await page.hear("hello")
            assert (hello["watches"], hello["watching"]) == (True, "")
            await page.hear("scene")
            for order in (
                set_rtt("10ms"), {"do": "remove", "name": "h1"}, {"do": "undo"}, {"do": "step"},
                {"do": "play", "key": "h1-s1", "trace": ""},
                {"do": "shell", "name": "h1", "rows": 24, "columns": 80, "inside": False},
                {"do": "trace", "name": "x", "text": ""},
                {"do": "run", "what": "ping", "client": "h1", "server": "<b>", "key": "", "operation": ""},
            ):  # fmt: skip
                assert "this page only watches" in (await page.ask("taken", **order))["line"]
            assert site.labs[0].orders == []
            assert (await page.ask("shared", do="share"))["text"].startswith("#state=")
            await other.hear("scene")
            await other.ask("taken", **set_rtt("40ms"))
            assert (await page.hear("scene"))["wires"][0]["fields"] == {"rtt": "40ms"}
        async with tab(site) as full:
            assert (await full.hear("hello"))["watching"] == site.page.watching

    play(Site(folder), scenario)


RESULT = {"kind": "result", "id": "1:q1", "title": "ping h1 to h2", "text": "10 ms", "raw": ""}
COST = {
    "kind": "cost", "id": "1:q2", "key": "h1-s1", "operation": "ping", "k": 1, "why": "", "t0_ms": 1,
    "point": {"rtt_ms": 40, "ms": 41}, "under": "",
}  # fmt: skip


def test_what_was_measured_outlives_the_page_and_the_lab(folder):
    async def scenario(site):
        async with tab(site) as page:
            await page.hear("scene")
            for message in (RESULT, COST):
                site.labs[0].heard(message)
            site.labs[0].meters(7.5)
            await page.hear("meters")
            site.labs[0].gone("the lab died")
            await page.ask("starting", do="restart")
            site.labs[1].meters(0.25)
            assert (await page.hear("meters"))["at"] == 7.75
        async with tab(site) as late:
            past = await late.hear("past")
            assert [each["at"] for each in past["meters"]] == [7.5, 7.75]
            assert past["measured"] == [RESULT, COST]

    play(Site(folder), scenario)


MAHIMAHI = "\n".join(map(str, range(1, 2001)))


def test_an_own_recording_is_played(folder):
    async def scenario(site):
        text = base64.b64encode(MAHIMAHI.encode()).decode()
        async with tab(site) as page:
            await page.hear("scene")
            assert "cell.up" in (await page.ask("traces", do="trace", name="cell.up", text=text))["traces"]
            await page.ask("taken", do="play", key="h1-s1", trace="cell.up")
            order = site.labs[0].orders[-1]
            assert (order["trace"], recordings.unpacked(order["data"])) == ("cell.up", MAHIMAHI.encode())
            await page.ask("taken", do="play", key="h1-s1", trace="Starlink")
            assert site.labs[0].orders[-1]["data"] == ""
            for name, data, line in (
                ("x.up", "not base 64", "x.up did not arrive whole"), ("x.up", "", "x.up"),
                ("x.up", base64.b64encode(b"3\n2\n").decode(), "2 ms after 3 ms, x.up line 2"),
                ("Starlink", text, "Starlink cannot be added"),
            ):  # fmt: skip
                assert line in (await page.ask("traces", do="trace", name=name, text=data))["line"]

    play(Site(folder), scenario)


def test_only_files_of_the_page_are_served(folder):
    async def scenario(site):
        at = f"/{site.page.token}/"
        status, body, headers = await site.get(f"{at}lib/uplot.js")
        assert (status, body) == (200, b"uplot")
        assert "script-src 'self'" in headers["Content-Security-Policy"]
        for path in (
            "lib/secret.txt",
            "lib/..%2fsecret.js",
            "lib/.hidden.js",
            "server.py",
            "saved/test.j2",
            "libraries.toml",
            "lib/",
        ):
            assert (path, (await site.get(at + path))[0]) == (path, 404)

    play(Site(folder), scenario)


def test_every_page_sees_what_one_changes(folder):
    async def scenario(site):
        async with tab(site) as first, tab(site) as second:
            for each in (first, second):
                await each.hear("scene")
            await first.ask("taken", **set_rtt("40ms"))
            assert (await second.hear("scene"))["wires"][0]["fields"] == {"rtt": "40ms"}
        assert site.labs[0].orders[0] | {"id": ""} == {
            "id": "", "do": "set", "key": "h1-s1", "named": "", "fields": {"rtt": "40ms"}, "cut": False,
        }  # fmt: skip

    play(Site(folder), scenario)


def test_a_slider_is_undone_as_a_whole(folder):
    async def scenario(site):
        async with tab(site) as page:
            await page.hear("scene")
            for text in ("10ms", "20ms", "30ms"):
                await page.ask("taken", **set_rtt(text, gesture="g1"))
            await page.ask("taken", **set_rtt("50ms", gesture="g2"))
            await page.ask("taken", do="undo")
            assert site.labs[0].orders[-1]["fields"] == {"rtt": "30ms"}
            await page.ask("taken", do="undo")
            assert site.labs[0].orders[-1]["fields"] == {}
            assert (await page.ask("refused", do="undo"))["line"] == "there is nothing to undo: change something first"

    play(Site(folder), scenario)


def test_what_the_lab_refuses_is_as_it_was(folder):
    async def scenario(site):
        async with tab(site) as page:
            await page.hear("scene")
            site.labs[0].fails = "tc: no"
            assert (await page.ask("failed", **set_rtt("10ms")))["line"] == "tc: no"
        async with tab(site) as page:
            assert (await page.hear("scene"))["wires"][0]["fields"] == {}

    play(Site(folder), scenario)


@pytest.mark.parametrize(
    ("order", "line"),
    [
        (set_rtt("ten"), "'ten' is not a duration"),
        ({"do": "add", "kind": "host", "name": "<img>", "x": 0, "y": 0}, "cannot be a node's name"),
        ({"do": "remove", "name": "h9"}, "no node 'h9'"),
        ({"do": "load", "text": "#state=x"}, "not a shared network"),
        ({"do": "load", "text": "{}"}, "not a file of MiniEdit"),
        ({"do": "pause"}, "the real clock cannot be paused"),
        ({"do": "restart"}, "the network runs"),
        ({"do": "nothing"}, "not an order of the page"),
    ],
)
def test_a_mistake_is_one_line_and_changes_nothing(folder, order, line):
    async def scenario(site):
        async with tab(site) as page:
            await page.hear("scene")
            found = (await page.ask("refused", **order))["line"]
            assert line in found
            assert "\n" not in found
            assert site.labs[0].orders == []

    play(Site(folder), scenario)


def test_a_lab_that_dies_leaves_what_was_drawn_and_can_be_started_again(folder):
    async def scenario(site):
        async with tab(site) as page:
            await page.hear("scene")
            await page.ask("taken", **set_rtt("40ms"))
            site.labs[0].gone("the lab died")
            assert await page.hear("dead") == {"kind": "dead", "line": "the lab died", "can_restart": True}
            assert "the network does not run" in (await page.ask("refused", **set_rtt("10ms")))["line"]
            await page.ask("starting", do="restart")
            assert site.labs[1].start.job["then"]["wires"][0]["fields"] == {"rtt": "40ms"}
            assert (await page.hear("scene"))["wires"][0]["fields"] == {"rtt": "40ms"}

    play(Site(folder), scenario)


def test_a_network_that_cannot_be_built_ends_the_command_with_its_line(folder):
    site = Site(folder)
    made = site.server._make

    def broken():
        session = made()
        session.begin = lambda: session._gone("no room")
        return session

    site.server._make = broken
    with pytest.raises(LabError, match="no room"):
        asyncio.run(site.server.run(0, lambda address: None, asyncio.Event()))


def test_a_port_in_use_is_one_line(folder):
    async def scenario(site):
        with pytest.raises(LabError, match=f"port {site.server.port} is taken, --port"):
            await Site(folder).server.run(site.server.port, lambda address: None, asyncio.Event())

    play(Site(folder), scenario)


def test_the_clock_stands_still_until_a_step(folder):
    async def scenario(site):
        async with tab(site) as page:
            await page.hear("scene")
            await page.ask("paused", do="pause")
            lab = site.labs[0]
            lab.is_held, before = True, lab.advanced
            await asyncio.sleep(0.4)
            assert (lab.is_held, lab.advanced) == (True, before)
            await page.ask("paused", do="step")
            while lab.is_held:
                await asyncio.sleep(0.01)
            assert lab.advanced == before + 1

    play(Site(folder, virtual=True), scenario)


def test_ten_pages_follow_the_meters(folder):
    async def scenario(site):
        pages = [await site.client.ws_connect(f"{site.server.address}ws") for _ in range(10)]
        for each in pages:
            await Tab(each).hear("scene")
        for number in range(50):
            site.labs[0].heard({"kind": "meters", "at": number, "links": [], "hosts": []})
        for each in pages:
            assert [(await Tab(each).hear("meters"))["at"] for _ in range(50)] == list(range(50))
            await each.close()

    play(Site(folder), scenario)


def test_a_page_that_does_not_read_loses_meters_first_and_then_its_line():
    client = sessions.Client(1)
    for _ in range(1000):
        client.tell("meters", is_meters=True)
    assert client.queue.qsize() == sessions.WAITING // 2 + 1
    for _ in range(sessions.WAITING):
        client.tell("output")
    assert client.queue.get_nowait() is None


def test_a_page_that_comes_late_gets_the_last_two_minutes_and_no_more(folder):
    async def scenario(site):
        async with tab(site) as page:
            await page.hear("scene")
            for number in range(3 * sessions.WINDOW):
                site.labs[0].heard({"kind": "meters", "at": number, "links": [], "hosts": []})
            await page.ask("shared", do="share")
        async with tab(site) as late:
            past = await late.hear("past")
            assert [each["at"] for each in past["meters"]] == list(range(2 * sessions.WINDOW, 3 * sessions.WINDOW))

    play(Site(folder), scenario)


def test_a_closed_page_ends_its_shells(folder):
    async def scenario(site):
        async with tab(site) as page:
            await page.hear("scene")
            await page.ask("taken", do="shell", name="h1", rows=24, columns=80, inside=False)
        while not any(each["do"] == "leave" for each in site.labs[0].orders):
            await asyncio.sleep(0.01)
        shell, left = site.labs[0].orders
        assert shell["name"].startswith(left["owner"])

    play(Site(folder), scenario)


def test_the_folder_of_libraries_need_not_be_there(folder):
    shutil.rmtree(folder)

    async def scenario(site):
        assert (await site.get(f"/{site.page.token}/lib/uplot.js"))[0] == 404

    play(Site(folder), scenario)
