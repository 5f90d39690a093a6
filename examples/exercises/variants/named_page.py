"""Pages that are asked for by name, from a name server of the network: what 14_a_name_first.toml measures."""

from contextlib import contextmanager

from slownet import NameServer, StaticPage
from slownet.net.tool import run


@contextmanager
def site(net, directory):
    """Serve a small page on the host `web`, and names on the host `db`; nobody may remember them."""
    with StaticPage(net, directory, on="web"), NameServer(net["db"], directory, ttl=0):
        yield


def pages(net, services, site):
    """Return what one page takes, and three by one program, in ms."""
    with net.link("web", "switch").set(rtt=site):
        one, three = (run(net["client"], ["curl", "-sSf", *(["-o", "/dev/null", "http://web/"] * n)]) for n in (1, 3))
    return {"one_ms": 1000 * one.seconds, "three_ms": 1000 * three.seconds}
