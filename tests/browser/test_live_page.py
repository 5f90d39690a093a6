"""The page of `slownet live` in Chromium, over a lab that is played: at each width, by keyboard, and left open.

It needs npm once, for the page's libraries.
"""

import asyncio
import shutil
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

sys.path += [str(Path(__file__).parents[1] / "unit/live")]
played = pytest.importorskip("played")

from slownet.live import libraries  # noqa: E402  # beside the above
from slownet.live.scene import HOST, SWITCH, Node, Scene, Wire  # noqa: E402

WIDTHS = (400, 768, 1280)
MARKUP = "<img src=x onerror=alert(1)>"


def star(count):
    names = [f"h{number}" for number in range(1, count + 1)]
    nodes = (
        Node("s1", SWITCH),
        *(Node(name, HOST, address=f"10.0.{n // 250}.{n % 250 + 1}/8") for n, name in enumerate(names)),
    )
    return Scene(nodes, tuple(Wire(f"{name}-s1", name, "s1") for name in names))


@pytest.fixture(scope="module")
def folder():
    if not shutil.which("npm"):
        pytest.skip("npm is not installed: apt-get install npm")
    return libraries.need()


@contextmanager
def served(site):
    """Serve a site in a thread; its lab is `site.labs[0]`, to be called in the server's loop by `site.do`."""
    ready = threading.Event()

    async def run():
        site.until, site.loop = asyncio.Event(), asyncio.get_running_loop()
        await site.server.run(0, lambda address: ready.set(), site.until)

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    assert ready.wait(20)
    try:
        yield site
    finally:
        site.loop.call_soon_threadsafe(site.until.set)
        thread.join(20)


@pytest.fixture
def visit(browser, folder):
    """Open the page of a network: `visit(scene, width=400)`; complaints are in its `.heard`, the server in its `.site`."""
    with contextmanager(_visits)(browser, folder) as visiting:
        yield visiting


def _visits(browser, folder):
    from contextlib import ExitStack

    with ExitStack() as stack:

        def visiting(scene, width=1280, dark=False, virtual=False):
            site = stack.enter_context(served(played.Site(folder, virtual=virtual, scene=scene)))
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", accept_downloads=True
            )
            stack.callback(context.close)
            page = context.new_page()
            page.site, page.heard = site, []
            page.on("console", lambda message: page.heard.append(message.text))
            page.on("pageerror", lambda error: page.heard.append(str(error)))
            page.goto(site.server.address)
            until(page, "live.state.wires.length && document.querySelectorAll('#charts canvas').length === 4")
            return page

        yield visiting


def until(page, expression):
    """Wait for an expression; Playwright's own way is forbidden by the page's policy, as it evaluates texts there."""
    deadline = time.monotonic() + 30
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(20)


def lab_does(page, call):
    """Call a function with the page's newest lab, in the server's loop, and wait for it."""
    done = threading.Event()
    page.site.loop.call_soon_threadsafe(lambda: (call(page.site.labs[-1]), done.set()))
    assert done.wait(20)


def orders(page, least=0):
    """Return what the lab was ordered, once that are so many: what no answer follows may still be on its way."""
    deadline = time.monotonic() + 30
    while len(found := [each for each in page.site.labs[-1].orders if each["do"] != "leave"]) < least:
        assert time.monotonic() < deadline, found
        page.wait_for_timeout(20)
    return found


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_off_and_axe_finds_no_violation(visit, width, dark):
    from axe_playwright_python.sync_playwright import Axe

    page = visit(star(4), width, dark)
    lab_does(page, lambda lab: [lab.meters(number / 4, number % 7) for number in range(40)])
    page.locator("#edit").evaluate("details => { details.open = true; }")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    beyond = """[...document.querySelectorAll('main *, header *')].filter(each => {
      const box = each.getBoundingClientRect();
      return box.width && (box.right > innerWidth + 1 || box.left < -1) && getComputedStyle(each).position !== 'absolute';
    }).map(each => each.id || each.className || each.tagName)"""
    assert page.evaluate(beyond) == []
    sizes = page.evaluate(
        """[...document.querySelectorAll('body *')].filter(each => each.textContent.trim() && each.getClientRects().length
          && !each.closest('option')).map(each => parseFloat(getComputedStyle(each).fontSize))"""
    )
    assert min(sizes) >= 11
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["target"] for node in each["nodes"]][:3]) for each in found] == []
    assert page.heard == []


def test_a_name_is_text_whatever_it_holds(visit):
    scene = Scene((Node("s1", SWITCH), Node(MARKUP, HOST), Node("h2", HOST)), (Wire("a", MARKUP, "s1"), Wire("b", "h2", "s1")))
    page = visit(scene)
    lab_does(page, lambda lab: lab.gone(f"{MARKUP} has ended"))
    page.wait_for_selector("#dead:not([hidden])")
    assert MARKUP in page.locator("#dead").inner_text()
    assert page.locator("img").count() == 0
    assert page.heard == []


def test_a_slider_works_by_keyboard_and_is_undone(visit):
    page = visit(star(2))
    page.focus("#rtt")
    page.keyboard.press("ArrowRight")
    until(page, "document.querySelector('#condition').textContent.includes('1ms')")
    assert [each["fields"] for each in orders(page)] == [{"rtt": "1ms"}]
    page.keyboard.press("Control+z")
    until(page, "live.state.wires[0].fields.rtt === undefined")
    assert orders(page)[-1]["fields"] == {}
    assert page.locator("#undo").is_disabled()


def test_every_control_is_reached_by_the_tab_key(visit):
    page = visit(star(3), virtual=True)
    page.locator("#edit").evaluate("details => { details.open = true; }")
    wanted = page.evaluate(
        """[...document.querySelectorAll('button, select, input')].filter(each => each.offsetParent && !each.disabled)
          .map(each => each.id)"""
    )
    reached = []
    for _ in range(3 * len(wanted)):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
    assert set(wanted) <= set(reached)


def test_a_page_that_only_watches_has_controls_that_do_nothing(visit):
    page = visit(star(3))
    page.goto(page.site.server.watching)
    until(page, "live.state.watches && live.state.wires.length && document.querySelectorAll('#charts canvas').length === 4")
    able = "[...document.querySelectorAll('header, main')].flatMap(each => [...each.querySelectorAll('button, select, input')])"
    assert page.evaluate(f"{able}.filter(each => !each.disabled).map(each => each.id)") == ["share", "link"]
    assert "(this page only watches)" in page.locator("h1").inner_text()
    page.evaluate("live.send({do: 'undo'})")
    page.select_option("#link", "h2-s1")
    until(page, "document.querySelector('#legend .chosen')?.textContent.startsWith('h2-s1')")
    assert orders(page) == []
    assert page.heard == []


def test_results_are_there_again_after_the_page_was_closed(visit):
    page = visit(star(2))
    result = {"kind": "result", "id": "1:q1", "title": "ping h1 to h2", "text": "40 ms round trip", "raw": "64 bytes"}
    lab_does(page, lambda lab: lab.heard(result))
    page.get_by_text("ping h1 to h2: 40 ms round trip").wait_for()
    page.reload()
    page.get_by_text("ping h1 to h2: 40 ms round trip").wait_for()
    assert page.locator("#log li").count() == 1


def test_a_recording_is_added_and_played(visit, tmp_path):
    page = visit(star(2))
    path = tmp_path / "cell.up"
    path.write_text("\n".join(map(str, range(1, 100))))
    page.set_input_files("#recording", path)
    page.get_by_text("cell.up can be played on a link").wait_for()
    page.select_option("#trace", "cell.up")
    page.select_option("#named", "LTE")  # its answer comes after that of the above
    until(page, "live.state.wires[0].named === 'LTE'")
    assert [each["trace"] for each in orders(page) if each["do"] == "play"] == ["cell.up"]


def test_a_containers_shell_is_offered_where_one_runs(visit):
    page = visit(star(2))
    assert page.locator("#inside").is_hidden()
    lab_does(page, lambda lab: lab.heard({"kind": "built", **lab.scene.to_json(), "pages": [], "containers": ["h1"]}))
    page.select_option("#client", "h1")
    page.wait_for_selector("#inside:not([hidden])")
    page.click("#inside")
    until(page, "document.activeElement.className.includes('xterm')")
    assert [(each["host"], each["inside"]) for each in orders(page, 1) if each["do"] == "shell"] == [("h1", True)]


def test_conditions_edits_and_buttons_reach_the_lab(visit):
    page = visit(star(3))
    page.select_option("#named", "LTE")
    until(page, "live.state.wires[0].named === 'LTE'")
    page.fill("#rate-number", "5")
    page.keyboard.press("Enter")
    until(page, "live.state.wires[0].fields.rate === '5Mbit'")
    page.click("#cut")
    until(page, "live.state.wires[0].cut")
    page.click("#edit summary")
    page.fill("#new-name", "new")
    page.click("#add-host")
    until(page, "live.state.nodes.some(each => each.name === 'new')")
    page.click("[data-run=ping]")
    until(page, "live.state.nodes.length === 5")
    done = [(each["do"], each.get("what", "")) for each in orders(page, 5)]
    assert done == [("set", ""), ("set", ""), ("set", ""), ("edit", ""), ("run", "ping")]


def test_what_costs_stands_beside_the_law(visit):
    page = visit(star(2))
    cost = {
        "kind": "cost", "id": "1:q1", "key": "h1-s1", "operation": "page from h1 to h2", "k": 4, "why": "slow start",
        "t0_ms": 7.0, "point": {"rtt_ms": 40.0, "ms": 168.0}, "under": "no condition",
    }  # fmt: skip
    lab_does(page, lambda lab: lab.heard(cost))
    page.wait_for_selector("#cost-chart canvas")
    assert "Measured 168 ms at +40 ms; the law T0 + k d says 7.00 + 4 x 40 = 167 ms" in page.locator("#law").inner_text()


def test_a_file_is_saved(visit):
    page = visit(star(2))
    with page.expect_download() as download:
        page.select_option("#save", "experiment")
    assert download.value.suggested_filename == "drawn.py"
    assert "class Drawn(Topo):" in Path(download.value.path()).read_text()


def test_a_shared_link_opens_what_was_drawn(visit):
    page = visit(star(2))
    page.select_option("#named", "LTE")
    until(page, "live.state.wires[0].named === 'LTE'")
    page.click("#share")
    page.wait_for_selector("dialog[open]")
    shared = page.locator("#shared").input_value()
    assert page.locator("#command").input_value().startswith("slownet live '#state=")
    page.click("#closed")
    page.click("#undo")
    until(page, "live.state.wires[0].named === ''")
    page.goto("about:blank")
    page.goto(shared)
    until(page, "live.state.wires[0]?.named === 'LTE'")


def test_a_lab_that_dies_is_started_again_with_what_was_drawn(visit):
    page = visit(star(2))
    page.select_option("#named", "LTE")
    until(page, "live.state.wires[0].named === 'LTE'")
    lab_does(page, lambda lab: lab.gone("the lab ran out of memory"))
    page.wait_for_selector("#dead:not([hidden])")
    assert "the lab ran out of memory. What was drawn is kept." in page.locator("#dead").inner_text()
    page.click("#restart")
    page.wait_for_selector("#dead", state="hidden")
    assert page.site.labs[1].start.job["then"]["wires"][0]["named"] == "LTE"


def test_a_page_left_open_keeps_two_minutes_of_meters(visit):
    page = visit(star(20))
    for start in range(0, 2400, 100):
        lab_does(page, lambda lab, start=start: [lab.meters(at / 4, at % 9) for at in range(start, start + 100)])
        until(page, f"live.state.times.at(-1) >= {start / 4}")
    lab_does(page, lambda lab: lab.meters(1000))
    until(page, "live.state.times.at(-1) === 1000")
    assert page.evaluate("live.state.times.length") == 480


@pytest.mark.parametrize("width", WIDTHS)
def test_the_names_of_a_small_network_are_legible_however_small_it_is_drawn(visit, width):
    page = visit(star(12), width)
    sizes = "live.graph.elements().map(each => parseFloat(each.style('font-size')) * live.graph.zoom())"
    until(page, f"Math.min(...{sizes}) >= 11")
    page.evaluate("void live.graph.zoom(0.3)")  # which returns all that is drawn
    until(page, f"Math.min(...{sizes}) >= 11 && Math.max(...{sizes}) <= 22")


OUTSIDE = """live.graph.nodes().toArray().filter(each => {
  const {x, y} = each.renderedPosition();
  return x < 0 || y < 0 || x > live.graph.width() || y > live.graph.height();
}).map(each => each.id())"""
NEAREST = """(() => {
  const places = live.graph.nodes().map(each => each.renderedPosition());
  const far = (one, other) => Math.hypot(one.x - other.x, one.y - other.y);
  return places.flatMap((one, number) => places.slice(number + 1).map(other => far(one, other)))
    .reduce((least, each) => Math.min(least, each));
})()"""
"""The distance of the two nearest nodes in pixels."""


def test_charts_are_not_emptied_by_another_width(visit):
    page = visit(star(2), 1280)
    lab_does(page, lambda lab: [lab.meters(number / 4) for number in range(8)])
    until(page, "live.state.times.length === 8")
    page.evaluate("void (window.before = [...document.querySelectorAll('#charts .uplot')])")
    page.set_viewport_size({"width": 400, "height": 900})
    until(page, "document.querySelector('#charts .uplot').clientWidth < 400")
    page.set_viewport_size({"width": 768, "height": 900})
    until(page, "document.documentElement.scrollWidth <= 768")
    assert page.evaluate("[...document.querySelectorAll('#charts .uplot')].every((each, number) => each === before[number])")
    assert page.evaluate("document.documentElement.scrollWidth") <= 768


def test_a_network_of_500_hosts_is_drawn_and_followed(visit):
    page = visit(star(500))
    lab_does(page, lambda lab: [lab.meters(number / 4) for number in range(8)])
    until(page, "live.state.times.length === 8")
    assert page.locator("#legend span").count() == 20
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate(NEAREST) >= 5
    page.select_option("#link", "h400-s1")
    until(page, "document.querySelector('#legend .chosen').textContent.startsWith('h400-s1')")
    assert page.heard == []


def test_a_shell_opens_types_and_closes(visit):
    page = visit(star(2))
    page.focus("#shell")
    page.keyboard.press("Enter")
    page.wait_for_selector(".xterm-helper-textarea", state="attached")
    page.keyboard.type("ls")
    until(page, "document.activeElement.className.includes('xterm')")
    name = next(each["name"] for each in orders(page, 1) if each["do"] == "shell")
    lab_does(page, lambda lab: lab.heard({"kind": "shell", "id": name, "data": "aGVsbG8="}))  # hello
    until(page, "document.querySelector('.xterm-accessibility')?.textContent.includes('hello')")
    lab_does(page, lambda lab: lab.heard({"kind": "closed", "id": name}))
    page.wait_for_selector("#shells", state="hidden")
    assert [each["do"] for each in orders(page, 2)][:2] == ["shell", "type"]
