"""A server behind a firewall that drops everything for a while: what 16_nobody_opens.toml measures."""

import time
from contextlib import ExitStack

from slownet import StaticPage
from slownet.model.units import duration
from slownet.net.nft import Rule, filtering
from slownet.net.tool import running


def page(net, directory):
    """Serve a small page on the host `server`."""
    return StaticPage(net, directory)


def knock(net, page, closed):
    """Return how long a page takes that is asked for when the firewall closes, in s."""
    with ExitStack() as firewall:
        firewall.enter_context(filtering(net["server"], Rule("input", "tcp dport 80", "drop")))
        with running(net["client"], ["curl", "-sSf", "-o", "/dev/null", page.url]) as wait:
            time.sleep(duration(closed))
            firewall.close()
            return {"served_s": wait(60, True).seconds}
