"""Tests as one writes them for Playwright, run by pytest in a lab, and a script whose steps are metrics."""

import base64
import hashlib
import http.server
import json
import threading
import time

import pytest

from slownet import TwoHosts, act, browse
from slownet.links.packets.connections import connections
from slownet.model.errors import ToolError
from slownet.net.namespace import inside
from slownet.net.tcpdump import Capture
from slownet.services.https import HttpsServer
from slownet.tools.browser import chromium
from slownet.tools.browser.expecting import expect

pytestmark = [pytest.mark.topology(TwoHosts), pytest.mark.hosts(client="client", web="server")]

ICON = '<link rel="icon" href="data:,">'
SHOP = """<!DOCTYPE html><title>Shop</title>{ICON}<h1>Shop</h1>
<label>Name <input id="name"></label> <input placeholder="Search">
<select id="size"><option value="s">Small<option value="l">Large</select> <input type="checkbox" id="gift" aria-label="Gift">
<button id="add">Add to cart</button> <p id="cart">empty</p> <button style="display:none">Hidden</button>
<a href="/cart?from=shop">Go to the cart</a>
<script>
document.querySelector("#add").onclick = async () => {
  const answer = await (await fetch("/add?name=" + document.querySelector("#name").value, {method: "POST"})).json();
  document.querySelector("#cart").textContent = answer.cart;
};
</script>"""
CART = """<!DOCTYPE html><title>Cart</title>{ICON}<h1>Your cart</h1><ul><li data-testid="item">Book</li><li>Pen</li></ul>
<form action="/done"><input name="card"><input type="submit" value="Pay"></form>"""
WORKER = """self.onfetch = event => event.respondWith(
  event.request.url.endsWith("/away") ? new Response("from the worker") : fetch(event.request));
self.onactivate = event => event.waitUntil(clients.claim());"""
DONE = "<!DOCTYPE html><title>Done</title>{ICON}<h1>Thank you</h1>"


class Shop(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are written one after the other

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path in ("/socket", "/events"):
            return (self.socket if path == "/socket" else self.events)()
        page = {"/cart": CART, "/done": DONE, "/worker": WORKER}.get(path, SHOP).replace("{ICON}", ICON)
        kind = "text/javascript" if path == "/worker" else "text/html"
        return self.answer(200 if path != "/missing" else 404, kind, page.encode())

    def socket(self):
        """Answer a WebSocket's handshake, and each text with itself."""
        key = hashlib.sha1(self.headers["Sec-WebSocket-Key"].encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        lines = ("HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade")
        self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())
        self.wfile.write(f"Sec-WebSocket-Accept: {base64.b64encode(key).decode()}\r\n\r\n".encode())
        while (head := self.rfile.read(2)) and head[0] == 0x81:
            mask = self.rfile.read(4)
            text = bytes(each ^ mask[at % 4] for at, each in enumerate(self.rfile.read(head[1] & 127)))
            self.wfile.write(bytes([0x81, len(text)]) + text)
        self.close_connection = True

    def events(self):
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        for number in range(3):
            self.wfile.write(f"data: {number}\n\n".encode())

    def do_POST(self):
        name = self.path.partition("name=")[2]
        self.answer(200, "application/json", json.dumps({"cart": f"1 article for {name}"}).encode())

    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


@pytest.fixture
def shop(net):
    with inside(net["server"]):
        server = http.server.ThreadingHTTPServer(("", 8000), Shop)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://{net['server'].IP()}:8000/"
    server.shutdown()
    server.server_close()


@pytest.mark.behind(rtt="100ms")
def test_a_reader_behind_a_slow_link_buys(page, shop):
    began = time.monotonic()
    response = page.goto(shop)
    assert time.monotonic() - began == pytest.approx(0.2, abs=0.06)  # to connect, and to ask
    assert (response.ok, page.title(), page.url) == (True, "Shop", shop)
    page.fill("#name", "Ada")
    assert page.locator("#name").input_value() == "Ada"
    began = time.monotonic()
    page.click("text=Add to cart")
    page.wait_for_selector("text=1 article for Ada")
    assert time.monotonic() - began == pytest.approx(0.1, abs=0.06)
    page.get_by_role("link", name="cart").click()
    expect(page).to_have_title("Cart")
    expect(page).to_have_url("**/cart?from=shop")
    expect(page.locator("li")).to_have_count(2)
    expect(page.get_by_test_id("item")).to_have_text("Book")
    page.locator("form").locator("[name=card]").fill("4242")
    page.get_by_role("button", name="Pay").click()
    page.wait_for_url("**/done?card=4242")
    assert page.inner_text("h1") == "Thank you"


def test_fields_and_what_is_not_there(page, shop):
    page.goto(shop)
    page.select_option("#size", "Large")
    page.check("#gift")
    page.get_by_label("Name").fill("Bob")
    page.get_by_placeholder("Search").press("x")
    found = (
        "() => [size.value, gift.checked, document.querySelector('#name').value, document.querySelector('[placeholder]').value]"
    )
    assert page.evaluate(found) == ["l", True, "Bob", "x"]
    assert page.evaluate("n => n + 1", 41) == 42
    assert page.evaluate("fetch('/missing').then(answer => answer.status)") == 404
    assert page.goto(f"{shop}missing").status == 404
    assert not page.is_visible("text=Hidden")
    with pytest.raises(ToolError, match=r"no visible element text=Hidden within 0\.2 s; 1 are there but cannot be used"):
        page.click("text=Hidden", timeout=200)
    with pytest.raises(ToolError, match="'h1' is no field that has a text"):
        page.fill("h1", "Cart")
    with pytest.raises(ToolError, match="'h1' is no field with options"):
        page.select_option("h1", "Large")
    with pytest.raises(ToolError, match="unclear address 'cart', host 'client': write one such as"):
        page.goto("cart")
    page.locator("#name").press("End")
    with pytest.raises(ToolError, match="a script in the page failed: ReferenceError: nothing is not defined"):
        page.evaluate("nothing")
    with pytest.raises(AssertionError, match="'h1' has 'Shop', expected 'Cart'"):
        expect(page.locator("h1")).to_have_text("Cart", timeout=100)
    with pytest.raises(AttributeError, match="slownet's page has no route"):
        page.route("**", None)
    assert page.screenshot().startswith(b"\x89PNG")


def test_each_page_is_new(page, browser, shop):
    page.goto(shop)
    page.evaluate("document.cookie = 'a=1'; 0")
    with browser.page(viewport={"width": 500, "height": 400}) as other:
        other.goto(shop)
        assert other.evaluate("[document.cookie, innerWidth]") == ["", 500]
    assert browser.version.startswith("Chrome/")


ECHO = """() => new Promise(resolve => {
  const socket = new WebSocket(location.origin.replace("http", "ws") + "/socket");
  const began = performance.now(), said = [];
  socket.onopen = () => { said.push(performance.now() - began); socket.send("hello"); };
  socket.onmessage = event => resolve([event.data, ...said, performance.now() - began]);
})"""
EVENTS = """() => new Promise(resolve => {
  const source = new EventSource("/events"), found = [];
  source.onmessage = event => { if (found.push(event.data) === 3) { source.close(); resolve(found); } };
})"""
WORKS = """async () => {
  const ready = new Promise(resolve => navigator.serviceWorker.addEventListener("controllerchange", resolve));
  await navigator.serviceWorker.register("/worker");
  await ready;
  return await (await fetch("/away")).text();
}"""


@pytest.mark.behind(rtt="100ms")
def test_websockets_events_and_workers_cross_the_link(page, shop):
    page.goto(shop)
    said, opened, answered = page.evaluate(ECHO)
    assert said == "hello"
    assert opened == pytest.approx(200, abs=40)  # to connect, and to upgrade
    assert answered - opened == pytest.approx(100, abs=20)
    assert page.evaluate(EVENTS) == ["0", "1", "2"]


def test_a_service_worker_answers(browser, net, shop):
    with inside(net["client"]):  # service workers need TLS, or the machine that the browser is on
        server = http.server.ThreadingHTTPServer(("", 8001), Shop)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        with browser.page() as page:
            page.goto("http://localhost:8001/")
            assert page.evaluate(WORKS) == "from the worker"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("http", "transport", "application"), [("1.1", "TCP", "http/1.1"), ("2", "TCP", "h2"), ("3", "QUIC", "h3")]
)
def test_the_capture_shows_the_version_that_was_asked_for(net, tmp_path, http, transport, application):
    client, pcap = net["client"], tmp_path / "pcap"
    with HttpsServer(net["server"], tmp_path, files={"page.html": f"<!DOCTYPE html>{ICON}<p>Text".encode()}) as web:
        with Capture(client, "client-eth0", pcap, filter="port 443"):
            browse(client, f"{web.url}page.html", http=http, trust=[web.certificate])
        (browser,) = chromium._running
        seen = connections(pcap, browser.keys, transport)
    assert {each.application for each in seen} == {application}


async def checkout(page):
    await page.goto(SITE)
    async with page.step("add to cart"):
        await page.fill("#name", "Ada")
        await page.click("#add")
        await page.wait_for_selector("text=1 article")
    with page.step("pay"):
        await page.get_by_role("link", name="cart").click()
        await page.locator("[name=card]").press("Enter")
        await page.wait_for_url("**/done**")


SITE = ""


def test_steps_become_metrics(net, shop, measure):
    global SITE
    SITE = shop
    near, far = {}, {}
    for rtt, found in (("100ms", near), ("300ms", far)):
        with net.link("client", "server").set(rtt=rtt):
            record = measure(act, net["client"], checkout, times=2)
            found |= {name: metric["mean"] for name, metric in record.metrics().items()}
    trips = {name: (far[name] - near[name]) / 200 for name in near}
    assert trips["add_to_cart_ms"] == pytest.approx(1, abs=0.15)
    assert trips["pay_ms"] == pytest.approx(2, abs=0.15)
    assert trips["script_ms"] == pytest.approx(5, abs=0.3)


def test_a_script_that_fails_is_a_line_with_its_place(net, shop):
    def broken(page):
        page.goto(shop)
        assert page.title() == "Cart", "not the cart"

    with pytest.raises(ToolError, match=r"^broken failed at test_ways\.py:\d+: AssertionError: not the cart"):
        act(net["client"], broken)


def test_a_browser_that_is_killed_is_said_and_started_again(net, browser, page, shop):
    page.goto(shop)
    browser._chromium._process.kill()
    browser._chromium._process.wait()
    with pytest.raises(ToolError, match=r"Chromium ended \(SIGKILL\)"):
        page.goto(shop)
    assert browse(net["client"], shop).metrics()["load_ms"]["mean"] > 0


def test_a_page_that_crashes_is_said(page):
    with pytest.raises(ToolError, match="the page's process crashed"):
        page.goto("chrome://crash", timeout=10_000)
