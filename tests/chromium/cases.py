"""Pages in a browser, good and bad ones, each a cell: `slownet run cases.py`."""

import os
import signal
import socket
import threading
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from slownet import TwoHosts, browse, experiment
from slownet.net.namespace import inside
from slownet.services.composite import OnDemand
from slownet.services.https import HttpsServer
from slownet.tools.browser import chromium

RTT = "40ms"
PAGE = """<!DOCTYPE html><title>A page</title><link rel="stylesheet" href="style.css"><script src="first.js"></script>
<h1>A page of several objects</h1><img src="one.svg" width="300" height="200"><script src="late.js" defer></script>"""
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200"><rect width="300" height="200" fill="teal"/></svg>'
FILES = {
    "page.html": PAGE.encode(), "style.css": b"h1 { color: navy }", "first.js": b"document.title = 'changed'",
    "one.svg": SVG.encode(), "late.js": b"\nundefinedFunction();",
}  # fmt: skip
CASES = [
    "1.1", "2", "3", "warm", "both", "ordinary", "name", "phone", "untrusted", "refused", "endless", "throws", "wrong version",
    "unknown host", "page dies", "browser dies", "no memory", "again", "many", "missing",
]  # fmt: skip


@contextmanager
def silent(host):
    """Listen on port 8000 without ever answering."""
    with inside(host):
        listener = socket.create_server(("", 8000))
    kept = []

    def accept():
        while True:
            try:
                kept.append(listener.accept()[0])
            except OSError:
                return

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield
    finally:
        listener.close()


@contextmanager
def killed(words):
    """Kill, a second later, the process of Chromium that has these words in its command line."""
    timer = threading.Timer(1.0, lambda: [os.kill(int(pid.parent.name), signal.SIGKILL) for pid in running(words)])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def running(words):
    """Return the command lines, as files of /proc, of Chromium's processes with words in them: b"" is the browser's own."""
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = each.read_bytes()
            if line.partition(b"--")[0].rstrip(b"\0 ").endswith(b"/chromium") and (
                words in line if words else b"--type=" not in line
            ):
                yield each


@contextmanager
def without_memory(left_mb=300):
    """Keep all memory but some."""
    chromium.close_all()
    free = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable"))
    kept = b"x" * (int(free.split()[1]) * 1024 - left_mb * 2**20)
    yield
    del kept


@contextmanager
def around(case, server):
    """What goes wrong during a case."""
    with ExitStack() as stack:
        if case == "endless" or case.endswith("dies"):
            stack.enter_context(silent(server))
        if case.endswith("dies"):
            stack.enter_context(killed(b"--type=renderer" if case == "page dies" else b""))
        if case == "no memory":
            stack.enter_context(without_memory())
        yield


@experiment(topology=TwoHosts, service=OnDemand, vary={"case": CASES}, tdf="inf", blocks=1, warm_up=0)
def cases(net, site, case):
    """What does a browser make of a page?"""
    client, server = net["client"], net["server"]
    with net.link("server", "client").set(rtt=RTT), HttpsServer(server, site.directory, files=FILES) as web:
        page, trust = f"{web.url}page.html", [web.certificate]
        never = f"http://{server.IP()}:8000/"
        with around(case, server):
            return {
                "1.1": lambda: browse(client, page, http="1.1", trust=trust, loads=3),
                "2": lambda: browse(client, page, http="2", trust=trust, loads=3),
                "3": lambda: browse(client, page, http="3", trust=trust, loads=3),
                "warm": lambda: browse(client, page, http="2", trust=trust, cache="warm"),
                "both": lambda: browse(client, page, http="2", trust=trust, cache="both", loads=2),
                "ordinary": lambda: browse(client, page, http="2", trust=trust, window="ordinary", cache="warm"),
                "name": lambda: browse(client, "http://server/page.html"),
                "phone": lambda: browse(client, f"http://{server.IP()}/page.html", device="phone"),
                "untrusted": lambda: browse(client, page),
                "refused": lambda: browse(client, f"http://{server.IP()}:81/"),
                "endless": lambda: browse(client, never, timeout=5),
                "no memory": lambda: browse(client, page, trust=trust),
                "browser dies": lambda: browse(client, never, timeout=5),
                "page dies": lambda: browse(client, never, timeout=5),
                "throws": lambda: browse(client, f"http://{server.IP()}/page.html", strict=True),
                "wrong version": lambda: browse(client, f"http://{server.IP()}/page.html", http="2"),
                "unknown host": lambda: browse(client, "http://nowhere.example/"),
                "again": lambda: browse(client, f"http://{server.IP()}/page.html", loads=3),
                "missing": lambda: browse(client, f"http://{server.IP()}/none.html"),
                "many": lambda: browse(client, f"http://{server.IP()}/page.html", loads=25, pictures=False),
            }[case]()
