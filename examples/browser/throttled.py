"""Chrome's "Slow 4G" as DevTools simulates it, beside the network that it stands for."""

import sites

from slownet import TwoHosts, bound, browse, experiment
from slownet.services.composite import OnDemand
from slownet.services.https import HttpsServer

NAME, WAYS = "Slow 4G", ("network", "DevTools")
IMAGES, SIZE = 20, 8000


# Theory, written before the measurement. The network has 150 ms of round trip: connection and request are 300 ms to the first
# byte over HTTP, and 450 over TLS 1.3. DevTools knows no connections: it holds back each answer by 150 x 3.75 = 562.5 ms from
# its request, over HTTP and over TLS alike: the document is there after 562.5 ms, however many round trips a network takes.
# (The browser's own time of the first byte, 1 ms, knows nothing of that; it was claimed first, and refuted.)
@experiment(
    topology=TwoHosts, service=OnDemand, vary={"scheme": ["http", "https"], "way": list(WAYS)}, tdf="inf", blocks=1, warm_up=0
)
def throttled(net, site, scheme, way):
    """How far is Chrome's simulated Slow 4G from a network of these numbers?"""
    files = sites.page_of_images(IMAGES, SIZE)
    with (
        net.link("client", "server").set(NAME if way == "network" else "none"),
        HttpsServer(net["server"], site.directory, files=files) as web,
    ):
        options = {"trust": [web.certificate], "simulate": "" if way == "network" else NAME, "pictures": False}
        return browse(net["client"], f"{scheme}://{web.host.IP()}/page.html", loads=3, **options)


throttled.claims(
    bound("dom_ready_ms", {"scheme": "http", "way": "network"}, at_least=300, at_most=360),
    bound("dom_ready_ms", {"scheme": "https", "way": "network"}, at_least=450, at_most=540),
    bound("dom_ready_ms", {"way": "DevTools"}, at_least=560, at_most=610, because="each answer is held back by 562.5 ms"),
)


@throttled.answer
def answer(run):
    def at(scheme, way):
        cell = run.at({"scheme": scheme, "way": way})
        return f"{cell.amount('dom_ready_ms')} and {cell.amount('load_ms')}"

    said = (f"{at(scheme, 'DevTools')} instead of {at(scheme, 'network')} over {scheme}" for scheme in ("http", "https"))
    return f"Document and load: {'; '.join(said)}."
