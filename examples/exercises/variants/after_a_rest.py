"""A page again on a warm connection, at once and after a rest: what 19_after_a_rest.toml measures."""

import json
from contextlib import contextmanager

from slownet import StaticPage
from slownet.model.units import size
from slownet.net.tool import run

REST_S = 5
PROGRAM = """
import http.client, json, sys, time
connection = http.client.HTTPConnection(sys.argv[1])
def page():
    begun = time.monotonic()
    connection.request("GET", "/")
    connection.getresponse().read()
    return 1000 * (time.monotonic() - begun)
[page() for _ in range(5)]
at_once = page()
time.sleep(float(sys.argv[2]))
print(json.dumps({"at_once_ms": at_once, "rested_ms": page()}))
"""


@contextmanager
def pages(net, directory):
    """Give a function that serves a page of a size on the host `server`."""
    yield lambda length: StaticPage(net, directory, length=length)


def again(net, pages, page):
    """Return how long a page takes on a connection that has had five of them, at once and after a rest, in ms."""
    with pages(size(page)) as server:
        return json.loads(run(net["client"], ["python3", "-c", PROGRAM, server.host.IP(), str(REST_S)]).stdout)
