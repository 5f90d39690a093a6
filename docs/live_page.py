"""Draws the page of `slownet live` for the documentation: `make docs-live`. A minute; it needs Chromium and npm.

Starts the command with a real lab, does what a person would, and writes docs/figures/live.png.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

PICTURE = Path(__file__).parent / "figures/live.png"
COMMAND = (sys.executable, "-m", "slownet.cli", "live", "client_web_db")


def main() -> None:
    """Take the picture."""
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        address = process.stdout.readline().split()[-1]
        try:
            with sync_playwright() as playwright:
                arguments = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's sandbox refuses to run as root
                chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
                page = chromium.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light").new_page()
                page.goto(address)
                play(page)
                page.screenshot(path=PICTURE, full_page=True)
                chromium.close()
        finally:
            process.send_signal(signal.SIGINT)


def play(page: Page) -> None:
    """Make the client's link slower, measure a page at three distances, and send as fast as the link lets."""
    page.wait_for_selector("#legend span")
    page.select_option("#server", "web")
    for count, rtt in enumerate(("10", "40", "100"), start=1):
        page.fill("#rtt-number", rtt)
        page.keyboard.press("Enter")
        page.wait_for_timeout(1000)
        page.click("#cost")
        while page.evaluate("[...live.state.costs.values()].at(-1)?.points.length ?? 0") < count:
            page.wait_for_timeout(200)
    page.fill("#rate-number", "20")
    page.keyboard.press("Enter")
    page.click("[data-run=iperf3]")
    page.get_by_text("iperf3 web to client:").wait_for()


if __name__ == "__main__":
    main()
