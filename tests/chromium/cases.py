"""Pages in a browser, good and bad ones, each a cell: `slownet run cases.py`."""

import socket
import threading
from contextlib import contextmanager, nullcontext

from slownet import TwoHosts, browse, experiment
from slownet.net.nodes import inside
from slownet.services.https import HttpsServer
from slownet.services.on_demand import OnDemand

RTT = "40ms"
PAGE = """<!DOCTYPE html><title>A page</title><link rel="stylesheet" href="style.css"><script src="first.js"></script>
<h1>A page of several objects</h1><img src="one.svg" width="300" height="200"><script src="late.js" defer></script>"""
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200"><rect width="300" height="200" fill="teal"/></svg>'
FILES = {
    "page.html": PAGE.encode(), "style.css": b"h1 { color: navy }", "first.js": b"document.title = 'changed'",
    "one.svg": SVG.encode(), "late.js": b"\nundefinedFunction();",
}  # fmt: skip
CASES = [
    "1.1", "2", "3", "warm", "name", "phone", "untrusted", "refused", "endless", "throws", "wrong version", "unknown host",
    "again",
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


@experiment(topology=TwoHosts, service=OnDemand, vary={"case": CASES}, tdf="inf", blocks=1, warm_up=0)
def cases(net, site, case):
    """What does a browser make of a page?"""
    client, server = net["client"], net["server"]
    with net.link("server", "client").set(rtt=RTT), HttpsServer(server, site.directory, files=FILES) as web:
        page, trust = f"{web.url}page.html", [web.certificate]
        with silent(server) if case == "endless" else nullcontext():
            return {
                "1.1": lambda: browse(client, page, http="1.1", trust=trust, loads=3),
                "2": lambda: browse(client, page, http="2", trust=trust, loads=3),
                "3": lambda: browse(client, page, http="3", trust=trust, loads=3),
                "warm": lambda: browse(client, page, http="2", trust=trust, cache="warm"),
                "name": lambda: browse(client, "http://server/page.html"),
                "phone": lambda: browse(client, f"http://{server.IP()}/page.html", device="phone"),
                "untrusted": lambda: browse(client, page),
                "refused": lambda: browse(client, f"http://{server.IP()}:81/"),
                "endless": lambda: browse(client, f"http://{server.IP()}:8000/", timeout=5),
                "throws": lambda: browse(client, f"http://{server.IP()}/page.html", strict=True),
                "wrong version": lambda: browse(client, f"http://{server.IP()}/page.html", http="2"),
                "unknown host": lambda: browse(client, "http://nowhere.example/"),
                "again": lambda: browse(client, f"http://{server.IP()}/page.html", loads=3),
            }[case]()
