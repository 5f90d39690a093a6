"""Exactly one lost packet of a page: the objects that wait for it over HTTP/2 and over HTTP/3."""

from slownet import TwoHosts, bound, experiment, predicted
from slownet.handshakes import STACKS
from slownet.head_of_line import held_back, repaired_after_ms
from slownet.page_loads import PROTOCOLS
from slownet.services.objects import Objects

# Each object has a packet of its own over TCP, so that the page is less than the initial window of ten; two over QUIC.
COUNT, SIZE = 6, 1200
CARRIED = {"HTTP/2": [{number} for number in range(COUNT)], "HTTP/3": [{number // 2} for number in range(2 * COUNT)]}
# Three objects follow the third. Behind a later one too few packets are left to show a loss over TCP.
LOST = {"object 1": 1, "object 3": 3}
RTTS_MS = (40, 120)
WITHIN = 0.02
"""All packets of the page arrive within 0.3 ms, the time that client and server need at TDF inf: less than 1 % of 40 ms."""


# One block: nothing is random.
@experiment(
    topology=TwoHosts, service=Objects,
    vary={"protocol": list(CARRIED), "lost": list(LOST), "rtt": [f"{rtt}ms" for rtt in RTTS_MS]}, tdf="inf", blocks=1,
)  # fmt: skip
def one_lost_packet(net, site, protocol, lost, rtt):
    """Which of a page's six objects does one lost packet hold back over HTTP/2 and HTTP/3, and for how long?"""
    with net.link("server", "client").set(rtt=rtt):
        return site.page_with_lost_packet(net["client"], protocol, COUNT, SIZE, of=LOST[lost])


def waiting(protocol, lost):
    carried = CARRIED[protocol]
    return len(held_back(carried, carried.index({LOST[lost] - 1}), transport=STACKS[PROTOCOLS[protocol].stack].transport))


def followers(protocol, lost):
    carried = CARRIED[protocol]
    return len(carried) - carried.index({LOST[lost] - 1}) - 1


CELLS = [{"protocol": protocol, "lost": lost, "rtt": f"{rtt}ms"} for protocol in CARRIED for lost in LOST for rtt in RTTS_MS]
WHY = {
    "HTTP/2": "TCP delivers in order, so that what follows a lost packet waits for its repair (RFC 9293, 2.2)",
    "HTTP/3": "each stream of QUIC is ordered by itself (RFC 9000, 2.2)",
}

one_lost_packet.claims(
    *(
        bound(
            "held_back_objects", at, at_least=waiting(at["protocol"], at["lost"]), at_most=waiting(at["protocol"], at["lost"]),
            because=WHY[at["protocol"]],
        )
        for at in CELLS
    ),
    *(
        predicted(
            "held_back_ms", {"protocol": protocol, "lost": lost, "rtt": f"{rtt_ms}ms"}, within=WITHIN,
            expected=repaired_after_ms(rtt_ms, followers=followers(protocol, lost)),
            because="three packets that arrive behind it show the loss, and the repair comes a round trip after it",
        )
        for protocol in CARRIED
        for lost in LOST
        for rtt_ms in RTTS_MS
    ),
)  # fmt: skip
