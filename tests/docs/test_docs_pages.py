"""The built pages: they need nothing from elsewhere, and read on a phone and on a wide screen. `make docs` comes first."""

import os
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from blocks import DOCS, pages

HTML = DOCS / "_build/html"
CHROMIUM = os.environ.get("SLOWNET_CHROMIUM") or shutil.which("chromium")
WIDTHS = (400, 1280)
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}
WIDER = """() => {
    const boxes = ".table-wrapper, pre, .highlight, .sidebar-drawer, .toc-drawer, .sig";
    const inside = (each) => [...document.querySelectorAll(boxes)]
        .some((box) => box.contains(each));
    return [...document.querySelectorAll("article *")]
        .filter((each) => each.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && !inside(each))
        .map((each) => each.tagName + " " + each.textContent.slice(0, 40));
}"""


class Resources(HTMLParser):
    """Collects what a page fetches by itself."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag in FETCHED and values.get(FETCHED[tag]):
            self.found.append(values[FETCHED[tag]])


def built():
    found = sorted(HTML.rglob("*.html"))
    assert found, "make docs comes first"
    return found


def test_every_page_is_built():
    names = {str(path.relative_to(HTML).with_suffix("")) for path in built()}
    wanted = {str(path.relative_to(DOCS).with_suffix("")) for path in pages()} - {"reference/man"}
    assert wanted - names == set()


def test_no_page_fetches_anything_from_elsewhere():
    for path in built():
        reader = Resources()
        reader.feed(path.read_text())
        for address in reader.found:
            assert not re.match(r"(https?:)?//", address), f"{path}: {address}"
            if not address.startswith("data:"):
                assert (path.parent / re.split(r"[?#]", address)[0]).exists(), f"{path}: {address}"
    for path in HTML.rglob("*.css"):
        assert not re.search(r"url\(\s*['\"]?(https?:)?//|@import", path.read_text()), path


def test_every_substitution_is_made():
    ours = re.compile(r"{{ (figures|facts|articles|version)\b")
    assert [str(path.relative_to(HTML)) for path in built() if ours.search(path.read_text())] == []


def test_links_to_elsewhere_are_collected():
    lines = (HTML.parent / "external-links.txt").read_text().splitlines()
    assert all(re.fullmatch(r"https?://\S+ \S+", line) for line in lines)


def test_the_manual_page_has_every_command():
    text = (HTML.parent / "man/slownet.1").read_text()
    assert {"slownet run", "slownet lab build", "slownet help"} <= set(re.findall(r"^\.SH (.*)$", text, re.M | re.I)) | set(
        re.findall(r"(slownet (?:lab )?\w+) \[OPTIONS\]", text.replace("\\", ""))
    )


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium; without it or Playwright the pages are not looked at."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install -e '.[browser]'")
    if not CHROMIUM:
        pytest.skip("apt-get install chromium")
    with playwright.sync_playwright() as running:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's sandbox refuses to run as root
        chromium = running.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield chromium
        chromium.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_pages_fit(browser, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    heard = []
    page.on("console", lambda message: heard.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith(("file:", "data:")) else heard.append(request.url))
    wide = {}
    for path in built():
        page.goto(Path(path).as_uri())
        if found := page.evaluate(WIDER):
            wide[str(path.relative_to(HTML))] = found[:3]
    assert (wide, heard) == ({}, [])
    page.close()


def shown(page):
    return [each.inner_text() for each in page.query_selector_all("#error-found dt")]


def test_the_page_of_errors_finds_what_was_printed(browser):
    page = browser.new_page()
    page.goto((HTML / "reference/errors.html").as_uri())
    every = len(page.query_selector_all("article section dt"))
    assert page.inner_text("#error-count") == f"{every} messages"
    page.fill("#error-search", "slownet: no metric 'rt_ms', --criterion rt_ms<9: did you mean 'rtt_ms'?")
    assert shown(page)[0].startswith("no metric '<")
    page.fill("#error-search", "pull request of nobody")
    assert (shown(page), page.inner_text("#error-count")) == ([], "No messages")
    page.fill("#error-search", "no experiment is named")
    assert set(shown(page)) == {"no experiment is named"}
    assert not page.is_visible("article section section h2")
    page.fill("#error-search", "")
    assert page.is_visible("article section section h2")
    page.close()


WORDS = {
    "round trips program cost": "explanation/delay-costs", "which link": "howto/why", "show class slider": "howto/live",
    "own program server": "howto/own-app", "fastapi celery": "howto/fastapi", "django queue": "howto/django",
    "express bullmq": "howto/express", "spring rabbitmq": "howto/spring", "nginx websocket": "howto/reverse-proxy",
    "server-sent events": "howto/reverse-proxy", "compose": "howto/compose", "field": "howto/field", "sweep": "howto/sweep",
    "hunt": "howto/hunt", "ci github": "howto/ci-github",
}  # fmt: skip
"""What people type who have one of the front page's questions, and the page that answers it."""


@pytest.mark.parametrize("words", WORDS)
def test_the_search_finds_the_page_of_a_question(browser, words):
    page = browser.new_page()
    page.goto(f"{(HTML / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
    page.wait_for_selector(f"#search-results a[href*='{WORDS[words]}.html']")
    first = [each.get_attribute("href") for each in page.query_selector_all("#search-results li > a")][:10]
    assert any(WORDS[words] in each for each in first)
    page.close()


def test_a_search_in_files_shows_excerpts(browser):
    page = browser.new_page()
    page.goto(f"{(HTML / 'search.html').as_uri()}?q=receive+window")
    page.wait_for_selector("#search-results p.context")
    assert "window" in page.inner_text("#search-results p.context").lower()
    page.goto(f"{(HTML / 'search.html').as_uri()}?q=multiplexing")
    page.wait_for_selector("#search-results li:has(a[href*='explanation/protocols/']) p.context")
    page.close()
