"""A server that stands still for a while, under a load that does not: what 12_a_pause.toml measures."""

from slownet import StaticPage
from slownet.tools.constant_rate import constant_rate

SECONDS, RATE = 10, 100


def site(net, directory):
    """Serve one page on the host `server`."""
    return StaticPage(net, directory)


def load(net, site):
    """Return what users wait, in s, and what a tester says whose connections wait with them."""
    with site.stalls(after=SECONDS + 0.2, seconds=SECONDS):
        found = constant_rate(net["client"], site.url, rate=RATE, seconds=2 * SECONDS, connections=50).metrics()
    return {"wait_s": found["corrected_mean_s"]["mean"], "tester_p90_ms": 1000 * found["uncorrected_p90_s"]["mean"]}
