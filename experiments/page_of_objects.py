"""A page of many objects over HTTP/1.1, HTTP/2 and HTTP/3: what multiplexing makes of the delay."""

from slownet import TwoHosts, experiment, law
from slownet.reproductions.objects import Objects
from slownet.theory import published
from slownet.theory.handshakes import NGINX_QUIC_WINDOW
from slownet.theory.page_loads import PROTOCOLS, round_trips

SIX, ALL = "HTTP/1.1 on 6 connections", tuple(PROTOCOLS)
# 44 objects of 7 kB: the mean page of 2010, 320 kB in 44 resources (Ramachandran, "Web metrics: size and number of resources").
PAGES = {
    "1 x 1 kB": (1, 1000),
    "20 x 1 kB": (20, 1000),
    "44 x 1 kB": (44, 1000),
    "100 x 1 kB": (100, 1000),
    "44 x 7 kB": (44, 7000),
}
MAIN = "44 x 7 kB"
FEW, RTTS = ("20ms", "120ms"), tuple(f"{rtt}ms" for rtt in published.spdy()["rtt_ms"])
CELLS = [{"page": MAIN, "protocol": name, "rtt": rtt} for name in ALL for rtt in (FEW if name == "HTTP/1.1" else RTTS)]
CELLS += [{"page": page, "protocol": name, "rtt": rtt} for page in PAGES if page != MAIN for name in ALL for rtt in FEW]


@experiment(topology=TwoHosts, service=Objects, cells=CELLS, published=published.page_of_objects(), tdf="inf", blocks=1)
def page_of_objects(net, site, page, protocol, rtt):
    """How many round trips does a page of 1 to 100 objects take over HTTP/1.1, HTTP/2 and HTTP/3?"""
    with net.link("server", "client").set(rtt=rtt):
        return site.page(net["client"], protocol, *PAGES[page])


def trips(page, protocol):
    objects, size = PAGES[page]
    return round_trips(protocol=protocol, objects=objects, size=size, window=NGINX_QUIC_WINDOW)


# The white paper does not say what its pages have; for the mean page theory gives 10 / 7, as for any size from 5 to 8 kB.
HTTP, SPDY = published.spdy_slopes()

page_of_objects.claims(
    *(
        law("page_ms", round_trips=trips(page, name), within=0.01, at={"page": page, "protocol": name})
        for page in PAGES
        for name in ALL
    ),
    # The published ratio of the slopes, and the round trips over HTTP/2.
    law("page_ms", round_trips=HTTP / SPDY * trips(MAIN, "HTTP/2"), within=0.05, at={"page": MAIN, "protocol": SIX}),
)  # fmt: skip


@page_of_objects.answer
def answer(run):
    def trips(page, name):
        return f"{run.round_trips('page_ms', {'page': page, 'protocol': name}):.3g}"

    first, *others = ALL
    slopes = ", ".join(f"{trips('100 x 1 kB', name)} over {name}" for name in others)
    return (
        f"A page of 100 objects of 1 kB takes {trips('100 x 1 kB', first)} round trips over {first}, {slopes}. One object "
        f"takes {trips('1 x 1 kB', first)} over {first}."
    )
