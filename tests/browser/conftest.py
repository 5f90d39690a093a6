"""Pages of reports, opened offline in Debian's Chromium."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

CHROMIUM = os.environ.get("SLOWNET_CHROMIUM") or shutil.which("chromium")
try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None


def pytest_collection_modifyitems(items):
    lack = ""
    if sync_playwright is None:
        lack = "Playwright is not installed: pip install -e '.[browser]'"
    elif not CHROMIUM:
        lack = "there is no Chromium: apt-get install chromium"
    for item in items:
        if lack and Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=lack))


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's sandbox refuses to run as root
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    from pages import write_all

    return write_all(tmp_path_factory.mktemp("pages"))


@pytest.fixture
def visit(browser, folder):
    """Open a page offline: `visit("law", width=360, dark=True)`; complaints and requests are in its `.heard`."""
    contexts = []

    def visiting(name, width=1280, dark=False, script=True):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", java_script_enabled=script,
            offline=True,
        )  # fmt: skip
        contexts.append(context)
        page = context.new_page()
        page.heard = []
        page.on("console", lambda message: page.heard.append(message.text))
        page.on("pageerror", lambda error: page.heard.append(str(error)))
        page.on("request", lambda request: page.heard.append(request.url) if request.url.startswith("http") else None)
        page.goto((folder / f"{name}.html").as_uri())
        return page

    yield visiting
    for context in contexts:
        context.close()
