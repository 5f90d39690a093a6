"""Exactly one lost packet of a page: the objects that wait for it over HTTP/2 and over HTTP/3."""

from slownet import TwoHosts, experiment, predicted
from slownet.model.protocol_names import TCP
from slownet.reproductions.objects import Objects
from slownet.theory.handshakes import STACKS
from slownet.theory.head_of_line import held_back, repaired_after_ms
from slownet.theory.page_loads import PROTOCOLS

# Each object has one packet over TCP, and so the page is less than its initial window of ten, and two over QUIC.
COUNT, SIZE = 6, 1200
CARRIED = {"HTTP/2": [{number} for number in range(COUNT)], "HTTP/3": [{number // 2} for number in range(2 * COUNT)]}
# Three objects follow the third. Behind a later one there are too few packets to show a loss over TCP.
LOST = {"object 1": 1, "object 3": 3}
CASES = [(protocol, *case) for protocol in CARRIED for case in (("object 1", 40), ("object 3", 40), ("object 1", 120))]
WITHIN = 0.02
"""All packets of the page arrive within 0.3 ms, which client and server need at TDF inf too: less than 1 % of 40 ms."""


def cell(protocol, lost, rtt_ms):
    return {"protocol": protocol, "lost": lost, "rtt": f"{rtt_ms}ms"}


# One block: nothing is random.
@experiment(topology=TwoHosts, service=Objects, cells=[cell(*case) for case in CASES], tdf="inf", blocks=1)
def one_lost_packet(net, site, protocol, lost, rtt):
    """Which of a page's six objects does one lost packet hold back over HTTP/2 and HTTP/3, and for how long?"""
    with net.link("server", "client").set(rtt=rtt):
        return site.page_with_lost_packet(net["client"], protocol, COUNT, SIZE, of=LOST[lost])


def claims(protocol, lost, rtt_ms):
    carried, transport = CARRIED[protocol], STACKS[PROTOCOLS[protocol].stack].transport
    position = carried.index({LOST[lost] - 1})
    return (
        predicted(
            "held_back_objects", cell(protocol, lost, rtt_ms), within=0,
            expected=len(held_back(carried, position, transport=transport)),
            because="TCP delivers nothing behind a gap (RFC 9293, 2.2)" if transport == TCP
            else "each stream of QUIC is ordered by itself (RFC 9000, 2.2)",
        ),
        predicted(
            "held_back_ms", cell(protocol, lost, rtt_ms), within=WITHIN,
            expected=repaired_after_ms(rtt_ms, followers=len(carried) - position - 1),
            because="three packets behind it show the loss, and its repair arrives a round trip later",
        ),
    )  # fmt: skip


one_lost_packet.claims(*(claim for case in CASES for claim in claims(*case)))


@one_lost_packet.answer
def answer(run):
    def held(protocol):
        return [f"{run.at(cell(protocol, lost, 40)).summary('held_back_objects').mean:.0f}" for lost in LOST]

    times = [run.at(cell(*case)) for case in CASES if case[2] == 40]
    longest = max(times, key=lambda each: each.summary("held_back_ms").mean).amount("held_back_ms")
    first, third = held("HTTP/2")
    return (
        f"Over HTTP/2 a lost packet of the first object holds back {first} of {COUNT} objects, one of the third {third}; over "
        f"HTTP/3 it is {' or '.join(dict.fromkeys(held('HTTP/3')))}. They wait up to {longest}, at 40 ms of round trip."
    )
