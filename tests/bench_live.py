"""The page of `slownet live` in Chromium, over a lab on the real clock, for `make bench`: first paint, frames, memory, sliders.

It needs Chromium, npm and Playwright (`make test-report` installs them). Other load on the machine slows a page as it does
everything on the real clock.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

Say = Callable[[str, str, str], None]
SLOWNET = Path(sys.executable).with_name("slownet")
LINKS = 20
SECONDS = 10
MOVES = 30
PAGES = 10
FRAMES = """seconds => new Promise(done => {
  const at = [];
  const frame = now => { at.push(now); now - at[0] < 1000 * seconds ? requestAnimationFrame(frame) : done(at); };
  requestAnimationFrame(frame);
})"""
MOVED = """() => {
  const slider = document.getElementById("rtt");
  performance.clearMarks();
  slider.value = (+slider.value + 1) % 20;
  slider.dispatchEvent(new Event("input", {bubbles: true}));
}"""
TOOK = """() => {
  const [moved] = performance.getEntriesByName("moved"), [set] = performance.getEntriesByName("set");
  return moved && set ? set.startTime - moved.startTime : null;
}"""
"""Until the page has the condition that the kernel was given, which the lab has read back: the way to `tc`, and back again."""


def live(say: Say) -> None:
    """Print the figures."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, served() as address:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's sandbox refuses to run as root
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        for attempt in ("the first time", "again"):
            page = chromium.new_context(viewport={"width": 1280, "height": 900}).new_page()
            page.goto(address)
            wait(page, "performance.getEntriesByName('first-contentful-paint').length")
            paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
            say(f"live, first paint, {attempt}", f"{paint:.0f} ms", "under 1000 ms")
        wait(page, f"live.state.wires.length === {LINKS} && live.state.times.length > 8")
        frames(say, page)
        say("live, memory of the page's process", f"{megabytes(chromium):.0f} MB", "under 150 MB")
        took = [moved(page) for _ in range(MOVES)]
        say("live, from a slider's move to what tc shows, median", f"{statistics.median(took):.1f} ms", "under 50 ms")
        say(f"    slowest of {MOVES}", f"{max(took):.1f} ms", "under 50 ms")
        others = [chromium.new_page() for _ in range(PAGES - 1)]
        for each in others:
            each.goto(address)
        wait(others[-1], "live.state.times.length > 8")
        took = [moved(page) for _ in range(MOVES)]
        say(f"    with {PAGES} pages open, median", f"{statistics.median(took):.1f} ms", "under 50 ms")
        chromium.close()


def frames(say: Say, page: Any) -> None:
    """Print how many frames a second a page draws while the meters of all links grow."""
    at = page.evaluate(FRAMES, SECONDS)
    apart = [after - before for before, after in pairwise(at)]
    rate = 1000 * len(apart) / (at[-1] - at[0])
    say(f"live, frames a second while {LINKS} links stream meters", f"{rate:.1f}", "60")
    say("    frames later than 20 ms", f"{sum(each > 20 for each in apart)} of {len(apart)}", "")


def moved(page: Any) -> float:
    """Move a slider; return the milliseconds until the page has what tc shows."""
    page.evaluate(MOVED)
    wait(page, f"({TOOK})() !== null")
    took: float = page.evaluate(TOOK)
    return took


def wait(page: Any, expression: str) -> None:
    """Wait for an expression; Playwright's own way is forbidden by the page's policy."""
    deadline = time.monotonic() + 60
    while not page.evaluate(expression):
        if time.monotonic() > deadline:
            sys.exit(f"bench: the page does not come to {expression}")
        page.wait_for_timeout(5)


def megabytes(chromium: Any) -> float:
    """Return the memory of the largest renderer process: its own pages, and its share of those of all processes."""
    found = chromium.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    rollups = [Path(f"/proc/{each['id']}/smaps_rollup").read_text() for each in found if each["type"] == "renderer"]
    return max(sum(map(int, re.findall(r"^Pss:\s+(\d+)", each, re.MULTILINE))) for each in rollups) / 1024


@contextmanager
def served() -> Iterator[str]:
    """Run the command while a block lasts; its value is the page's address."""
    with subprocess.Popen([SLOWNET, "live", f"star,{LINKS - 1}"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().split()[-1]
        finally:
            process.send_signal(signal.SIGINT)


if __name__ == "__main__":
    live(lambda what, measured, wanted: print(f"{what:<58}{measured:>12}  {wanted}", flush=True))
