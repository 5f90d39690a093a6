"""A page of 1 to 44 images in a browser, over HTTP/1.1, HTTP/2 and HTTP/3, beside what libcurl needs for the same objects."""

import sites

from slownet import TwoHosts, browse, experiment, law
from slownet.services.composite import OnDemand
from slownet.services.https import HttpsServer
from slownet.theory.handshakes import NGINX_QUIC_WINDOW
from slownet.theory.handshakes import round_trips as of_connection
from slownet.theory.page_loads import BESIDE_OBJECT
from slownet.theory.slow_start import LAST_BYTE
from slownet.theory.slow_start import round_trips as of_answer

VERSIONS = {"HTTP/1.1": "1.1", "HTTP/2": "2", "HTTP/3": "3"}
PAGES = {"1 x 1 kB": (1, 1000), "20 x 1 kB": (20, 1000), "44 x 1.4 kB": (44, 1400)}
RTTS = ("100ms", "300ms")
CONNECTIONS = 6
CELLS = [{"protocol": name, "page": page, "rtt": rtt} for name in VERSIONS for page in PAGES for rtt in RTTS]


# Theory, written before the measurement. Unlike libcurl in the experiment page_of_objects, a browser does not know the objects
# before it has the document: so that costs its round trips first (TCP, TLS 1.3, request: 3; QUIC with the handshake: 2).
# - HTTP/2, HTTP/3: all objects are then asked for at once; their bytes need the flights of slow start. The third flight has 22
#   segments or more, as the client reads (slownet.theory.slow_start), and the document's answer may have let the window grow by
#   two. So two flights carry at most 52 kB, and three at least 75 kB: 44 images of 1.4 kB, 64 to 69 kB in all, take three.
# - HTTP/1.1: the document's connection takes an object each round trip from then on. Five more are opened, which takes two
#   round trips (TCP, TLS), and then take one each as well: after n round trips n + 5 (n - 2) objects are there.
def round_trips(page, protocol):
    number, size = PAGES[page]
    if protocol == "HTTP/1.1":
        trips = next(n for n in range(1, 1000) if n + (CONNECTIONS - 1) * max(0, n - 2) >= number)
        return 3 + trips
    whole = number * (size + BESIDE_OBJECT)
    if protocol == "HTTP/3":
        return 2 + of_connection(stack="QUIC", bytes=whole, window=NGINX_QUIC_WINDOW) - 1
    return 3 + of_answer(whole, until=LAST_BYTE, header_bytes=0) - 1


@experiment(topology=TwoHosts, service=OnDemand, cells=CELLS, tdf="inf", blocks=1, warm_up=0)
def page_in_browser(net, site, protocol, page, rtt):
    """How many round trips does a page of 1 to 44 images take in a browser over HTTP/1.1, HTTP/2 and HTTP/3?"""
    with (
        net.link("server", "client").set(rtt=rtt),
        HttpsServer(net["server"], site.directory, files=sites.page_of_images(*PAGES[page])) as web,
    ):
        options = {"http": VERSIONS[protocol], "trust": [web.certificate], "pictures": False}
        return browse(net["client"], f"{web.url}page.html", loads=3, **options)


page_in_browser.claims(
    *(
        law("load_ms", round_trips=round_trips(page, name), within=0.05, at={"page": page, "protocol": name})
        for name in VERSIONS
        for page in PAGES
    )
)


@page_in_browser.answer
def answer(run):
    def trips(page, name):
        return f"{run.round_trips('load_ms', {'page': page, 'protocol': name}):.3g} over {name}"

    slopes = ", ".join(trips("44 x 1.4 kB", name) for name in VERSIONS)
    return f"A page of 44 images takes {slopes}. One of one image takes {trips('1 x 1 kB', 'HTTP/2')}."
