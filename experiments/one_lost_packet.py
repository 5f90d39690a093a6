"""Exactly one lost packet of a page: the objects that wait for it over HTTP/2 and over HTTP/3."""

from slownet import TwoHosts, experiment, predicted
from slownet.handshakes import STACKS
from slownet.head_of_line import held_back, repaired_after_ms
from slownet.page_loads import PROTOCOLS
from slownet.services.objects import Objects

# Each object has one packet over TCP, and so the page is less than its initial window of ten, and two over QUIC.
COUNT, SIZE = 6, 1200
CARRIED = {"HTTP/2": [{number} for number in range(COUNT)], "HTTP/3": [{number // 2} for number in range(2 * COUNT)]}
# Three objects follow the third. Behind a later one there are too few packets to show a loss over TCP.
LOST = {"object 1": 1, "object 3": 3}
RTTS_MS = (40, 120)
WITHIN = 0.02
"""All packets of the page arrive within 0.3 ms, which client and server need at TDF inf too: less than 1 % of 40 ms."""


# One block: nothing is random.
@experiment(
    topology=TwoHosts, service=Objects,
    vary={"protocol": list(CARRIED), "lost": list(LOST), "rtt": [f"{rtt}ms" for rtt in RTTS_MS]}, tdf="inf", blocks=1,
)  # fmt: skip
def one_lost_packet(net, site, protocol, lost, rtt):
    """Which of a page's six objects does one lost packet hold back over HTTP/2 and HTTP/3, and for how long?"""
    with net.link("server", "client").set(rtt=rtt):
        return site.page_with_lost_packet(net["client"], protocol, COUNT, SIZE, of=LOST[lost])


def claims(protocol, lost, rtt_ms):
    at, carried = {"protocol": protocol, "lost": lost, "rtt": f"{rtt_ms}ms"}, CARRIED[protocol]
    position = carried.index({LOST[lost] - 1})
    transport = STACKS[PROTOCOLS[protocol].stack].transport
    return (
        predicted(
            "held_back_objects", at, expected=len(held_back(carried, position, transport=transport)), within=0,
            because="it delivers in order what follows too (RFC 9293, 2.2)" if transport == "TCP"
            else "each of its streams is ordered by itself (RFC 9000, 2.2)",
        ),
        predicted(
            "held_back_ms", at, expected=repaired_after_ms(rtt_ms, followers=len(carried) - position - 1), within=WITHIN,
            because="three packets that arrive behind it show the loss, and the repair comes a round trip after them",
        ),
    )  # fmt: skip


one_lost_packet.claims(
    *(claim for protocol in CARRIED for lost in LOST for rtt_ms in RTTS_MS for claim in claims(protocol, lost, rtt_ms))
)
