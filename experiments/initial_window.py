"""What a server may send before it has heard from its client: three segments until 2010, ten since."""

from slownet import TwoHosts, experiment, law, ratio
from slownet.reproductions.own_server import initial_window as beginning_with
from slownet.services.https import HttpsServer
from slownet.theory import published
from slownet.theory.slow_start import LAST_BYTE, round_trips
from slownet.tools.curl import curl

PAPER, SAVED = published.initial_window(), published.initial_window_saves()
# RFC 3390 allowed 4380 bytes, which are three segments of 1448; RFC 6928 allows ten segments.
BEFORE, TODAY = "3", "10"
# Each is farther from the steps of slow start, at 14,480, 43,440 and 101,360 bytes, than what the small segments at the ends of
# nginx's writes of 32 KiB move them.
SIZES = {"4kB": 4000, "12kB": 12_000, "40kB": 40_000, "80kB": 80_000}
NEAR, FAR = "20ms", "120ms"
VARY = {"window": [BEFORE, TODAY], "page": list(SIZES), "rtt": [NEAR, FAR]}
HEADER = 237  # bytes of the response's header


def site(net, folder):
    return HttpsServer(net["server"], folder, files=SIZES)


# One block: nothing is random.
@experiment(topology=TwoHosts, service=site, vary=VARY, published=PAPER, tdf="inf", blocks=1)
def initial_window(net, server, window, page, rtt):
    """How much sooner is a page there if its server begins with ten segments instead of three?"""
    with beginning_with(net["server"], int(window)), net.link("server", "client").set(rtt=rtt):
        return curl(net["client"], [f"http://{net['server'].IP()}/{page}"])


def trips(window, page):
    return round_trips(SIZES[page], initial_window=int(window), until=LAST_BYTE, header_bytes=HEADER)


def far(window, page):
    return {"window": window, "page": page, "rtt": FAR}


initial_window.claims(
    *(
        law("time_ms", round_trips=trips(window, page), within=0.01, at={"window": window, "page": page})
        for window in (BEFORE, TODAY)
        for page in SIZES
    ),
    # The paper's tenth is the mean of all responses, on new and on old connections. One on a new connection gains nothing if
    # three segments hold it; otherwise it saves at least one round trip of these few, which is more than a tenth.
    *(
        ratio(
            "time_ms", far(TODAY, page), of=far(BEFORE, page), at_most=1 - SAVED,
            because="the handshake and each flight of slow start are a round trip, and there are fewer flights",
        )
        for page in SIZES if trips(TODAY, page) < trips(BEFORE, page)
    ),
)  # fmt: skip


@initial_window.answer
def answer(run):
    def time(window, page):
        return run.at(far(window, page)).summary("time_ms").mean

    saved = (f"{page} {100 * (1 - time(TODAY, page) / time(BEFORE, page)):.2g} %" for page in SIZES)
    return f"With ten segments instead of three a new connection takes less time, for a page of {', of '.join(saved)}."
