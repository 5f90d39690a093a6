"""A server that stands still for a while, under a load that does not: what 12_a_pause.toml measures."""

from slownet import StaticPage
from slownet.model.units import duration
from slownet.tools.constant_rate import constant_rate

RATE = 100


def site(net, directory):
    """Serve one page on the host `server`."""
    return StaticPage(net, directory)


def load(net, site, before="10s", pause="10s"):
    """Return what users wait, in s, and what a tester says whose connections wait with them."""
    runs, stands = duration(before), duration(pause)
    with site.stalls(after=runs + 0.2, seconds=stands):
        found = constant_rate(net["client"], site.url, rate=RATE, seconds=int(runs + stands), connections=50).metrics()
    return {"wait_s": found["corrected_mean_s"]["mean"], "tester_p90_ms": 1000 * found["uncorrected_p90_s"]["mean"]}
