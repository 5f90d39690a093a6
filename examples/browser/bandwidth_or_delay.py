"""More bandwidth or less delay? Mike Belshe's measurement of 2010, with a page of that year."""

import sites

from slownet import TwoHosts, browse, experiment, law, ratio
from slownet.services.https import HttpsServer
from slownet.services.on_demand import OnDemand

# 44 objects and 320 kB: the mean page of 2010 (Ramachandran, "Web metrics: size and number of resources").
OBJECTS, SIZE = 44, 7000
RTT, RATE = "60ms", "5Mbit"
RATES, RTTS = ("1Mbit", "2Mbit", "5Mbit", "10Mbit"), ("60ms", "120ms", "240ms")
CELLS = [{"rate": rate, "rtt": RTT} for rate in RATES] + [{"rate": RATE, "rtt": rtt} for rtt in RTTS[1:]]


# Theory, written before the measurement. HTTP/1.1 without TLS: connection and document 2 round trips, then n with n + 5 (n - 1)
# objects, each of which fits into the initial window: 9 for 44. So 11 round trips, 660 ms at 60 ms, while 320 kB take 0.51 s at
# 5 and 0.26 s at 10 Mbit/s, most of it within these round trips: a link that is twice as fast saves little, a path half as
# long nearly half. Belshe ("More Bandwidth Doesn't Matter (much)", 2010) found 1443 and 1360 ms, a ratio of 1.06.
@experiment(topology=TwoHosts, service=OnDemand, cells=CELLS, tdf="inf", blocks=1, warm_up=0)
def bandwidth_or_delay(net, site, rate, rtt):
    """Is a page of 2010 faster with twice the bandwidth or with half the delay?"""
    files = sites.page_of_images(OBJECTS, SIZE)
    with net.link("server", "client").set(rate=rate, rtt=rtt), HttpsServer(net["server"], site.directory, files=files) as web:
        return browse(net["client"], f"http://{web.host.IP()}/page.html", loads=3, pictures=False)


bandwidth_or_delay.claims(
    ratio("load_ms", {"rate": "5Mbit", "rtt": RTT}, of={"rate": "10Mbit", "rtt": RTT}, at_most=1.2,
          because="most of the bytes come while the page waits for round trips"),
    ratio("load_ms", {"rate": RATE, "rtt": "240ms"}, of={"rate": RATE, "rtt": "120ms"}, at_least=1.7,
          because="the page waits for round trips, one after the other"),
    law("load_ms", round_trips=11, within=0.1, at={"rate": RATE}),
)  # fmt: skip


@bandwidth_or_delay.answer
def answer(run):
    def mean(rate, rtt):
        return run.at({"rate": rate, "rtt": rtt}).summary("load_ms").mean

    faster, nearer = mean("5Mbit", RTT) / mean("10Mbit", RTT), mean(RATE, "120ms") / mean(RATE, RTT)
    return f"From 5 to 10 Mbit/s it gets {faster:.3g} times as fast, with half the delay (120 to 60 ms) {nearer:.3g} times."
