"""The numbers of `slownet.tools.browser`'s script of a page are those of npm's web-vitals on the same load.

It needs npm's registry, Playwright and Debian's Chromium.
"""

import functools
import http.server
import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest

VERSION = "6.2.3"
OURS = Path(__file__).parents[2] / "lib/slownet/tools/browser/vitals.js"
THEIRS = """
globalThis.theirs = {};
for (const name of ["TTFB", "FCP", "LCP", "CLS", "INP"])
  webVitals["on" + name](metric => { theirs[name] = metric.value; }, {reportAllChanges: true});
"""
BLOCK = '<div style="width: 300px; height: {height}px; background: grey">a block</div>'
MOVES = "setTimeout(() => document.body.prepend(Object.assign(document.createElement('p'), {{textContent: '{text}'}})), {ms});"
BUSY = "const until = performance.now() + {ms}; while (performance.now() < until);"
PAGES = {
    "a text": "<p>text</p>",
    "nothing": "",
    "a shift": f"{BLOCK.format(height=200)}<script>{MOVES.format(text='late', ms=100)}</script>",
    "two windows of shifts": BLOCK.format(height=200)
    + "<script>" + "".join(MOVES.format(text="late " * 40, ms=at) for at in (100, 400, 1900, 2100, 2300)) + "</script>",
    "shifts for more than five seconds": BLOCK.format(height=200)
    + "<script>" + "".join(MOVES.format(text="late " * 20, ms=at) for at in range(200, 6600, 800)) + "</script>",
    "a larger paint later": "<p>small</p><script>setTimeout(() => document.body.append(Object.assign("
    "document.createElement('h1'), {textContent: 'large '.repeat(40)})), 300);</script>",
    "a redirect": "<p>here</p>",
    "slow answers to clicks": f"<button onclick='{BUSY.format(ms=130)}'>one</button>"
    f"<button onclick='{BUSY.format(ms=240)}'>two</button><input onkeydown='{BUSY.format(ms=90)}'>",
    "many clicks": f"<button onclick='n = (self.n || 0) + 1; if (n % 30 == 1) {{ {BUSY.format(ms=150)} }}'>one</button>",
    "a shift after a click": f"<button onclick=\"{MOVES.format(text='late', ms=50)}\">one</button>{BLOCK.format(height=200)}",
}  # fmt: skip
CLICKS = {"many clicks": 70}
LASTS_S = {"two windows of shifts": 3, "shifts for more than five seconds": 7}


@pytest.fixture(scope="module")
def web_vitals(tmp_path_factory):
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("npm")
    words = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder, f"web-vitals@{VERSION}"]
    subprocess.run(words, check=True, capture_output=True)
    return (folder / "node_modules/web-vitals/dist/web-vitals.iife.js").read_text()


class Pages(http.server.SimpleHTTPRequestHandler):
    """Each page at its number; the one of a redirect first at another place."""

    def do_GET(self):  # named by http.server
        number, _, moved = self.path.strip("/").partition("-")
        text = list(PAGES.items())[int(number)] if number.isdigit() else ("", "")
        if text[0] == "a redirect" and not moved:
            self.send_response(302)
            self.send_header("Location", f"/{number}-moved")
            self.end_headers()
            return
        body = f"<!doctype html><title>page</title><body>{text[1]}".encode()
        time.sleep(0.05)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        """Print nothing."""


@pytest.fixture(scope="module")
def address():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Pages)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    chromium = os.environ.get("SLOWNET_CHROMIUM") or shutil.which("chromium")
    if not chromium:
        pytest.skip("there is no Chromium: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's sandbox refuses to run as root
        yield (opened := playwright.chromium.launch(executable_path=chromium, args=arguments))
        opened.close()


@pytest.mark.parametrize("name", PAGES)
def test_the_numbers_are_those_of_web_vitals(name, browser, address, web_vitals):
    page = browser.new_page()
    page.add_init_script(f"{web_vitals}{THEIRS}{OURS.read_text()}")
    page.goto(f"{address}/{list(PAGES).index(name)}")
    page.wait_for_timeout(300)
    for button in page.query_selector_all("button"):
        for _ in range(CLICKS.get(name, 1)):
            button.click()
            page.wait_for_timeout(20)
    for field in page.query_selector_all("input"):
        field.press("a")
    page.wait_for_timeout(1000 * LASTS_S.get(name, 1))
    ours, theirs = page.evaluate("[slownet.vitals, theirs]")
    page.close()
    print(name, theirs)
    assert ours == pytest.approx(theirs, abs=1e-6)
    assert "TTFB" in ours
    assert name == "nothing" or {"FCP", "LCP", "CLS"} <= ours.keys()
    assert ("INP" in ours) == ("click" in name)
