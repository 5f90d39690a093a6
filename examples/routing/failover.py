"""How long nothing arrives after the link between two routers has failed, by what routes, and by how the link fails.

Theory and sources: slownet.theory.routing; FRR's and BIRD's timers have their defaults.
"""

import contextlib
import socket
import struct
import threading
import time

from routers import KINDS, SERVER, Triangle, interface, routed

from slownet import ServiceError, bound, experiment, predicted
from slownet.model.units import duration
from slownet.net.namespace import inside
from slownet.net.tool import run
from slownet.theory import routing

PORT = 7000
SOON_S, STEP_S, LATER_STEP_S = 2, 0.01, 0.05
"""Datagrams are sent a hundred times a second for so long, then twenty times."""
BEFORE, LASTS_S = 100, 400
BACKWARDS = 4
"""A packet's kind in what a packet socket says of it: PACKET_OUTGOING."""
SAYS = {
    "OSPF": lambda packet, body: packet[9] == 89,
    "OSPF and BFD": lambda packet, body: packet[9] == 17 and struct.unpack_from(">H", body, 2)[0] == 3784,
    "BGP": lambda packet, body: packet[9] == 6 and 179 in struct.unpack_from(">HH", body) and len(body) > (body[12] >> 4) * 4,
    "RIP": lambda packet, body: packet[9] == 17 and struct.unpack_from(">H", body, 2)[0] == 520,
}
"""What shows a router that its neighbour is there, by protocol: a test of an IPv4 packet and what is in it."""


class Heard(threading.Thread):
    """Notes when a router last heard its neighbour on a link."""

    def __init__(self, net, router, other, says):
        super().__init__(daemon=True)
        self.last, self._says = 0.0, says
        with inside(net[router]):
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
            self._socket.bind((interface(net, router, other), 0x0800))
        self._socket.settimeout(0.5)
        self._ended = threading.Event()

    def run(self):
        while not self._ended.is_set():
            with contextlib.suppress(TimeoutError):
                packet, (_, _, kind, *_) = self._socket.recvfrom(65536)
                if kind != BACKWARDS and self._says(packet, packet[4 * (packet[0] & 15) :]):
                    self.last = time.monotonic()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self.join()
        self._socket.close()


def outage(net, fail):
    """Send datagrams to the server, and return when it failed, and when the first one was sent that arrived after."""
    with inside(net["client"]):
        out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        out.connect((SERVER, PORT))
    with inside(net["server"]):
        into = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        into.bind(("", PORT))
    into.setblocking(False)
    with out, into, contextlib.ExitStack() as stack:
        for number in range(BEFORE):
            send(out, number)
            time.sleep(STEP_S)
        if not (before := arrived(into)) or max(before) < BEFORE - 1:
            raise ServiceError("nothing arrives before the link fails", "host 'server'", "see the logs of the routers")
        stack.enter_context(fail())
        failed, sent = time.monotonic(), {}
        while (now := time.monotonic()) < failed + LASTS_S:
            sent[len(sent)] = now
            send(out, BEFORE + len(sent) - 1)
            time.sleep(STEP_S if now < failed + SOON_S else LATER_STEP_S)
            if found := [each for each in arrived(into) if each >= BEFORE]:
                return failed, sent[min(found) - BEFORE]
    return failed, failed + LASTS_S


def send(out, number):
    with contextlib.suppress(OSError):  # an ICMP error about an earlier one
        out.send(struct.pack("I", number))


def arrived(into):
    """Return the numbers of the datagrams that have arrived."""
    found = []
    with contextlib.suppress(BlockingIOError):
        while True:
            found += struct.unpack("I", into.recv(4))
    return found


def in_silence(net):
    """Lose all packets of the link, which keeps its carrier."""
    return net.link("r1", "r2").set(loss="100%", ping=False)


@contextlib.contextmanager
def without_carrier(net):
    """Take the link's interface down at r1: r2's loses its carrier, too."""
    name = interface(net, "r1", "r2")
    run(net["r1"], ["ip", "link", "set", name, "down"])
    try:
        yield
    finally:
        run(net["r1"], ["ip", "link", "set", name, "up"])


FAILURES = {"in silence": in_silence, "without carrier": without_carrier}


@contextlib.contextmanager
def logs(net, directory):
    """Nothing but the place of the routers' logs: they are started for each cell."""
    yield directory


@experiment(
    topology=Triangle, service=logs, vary={"routes": list(KINDS), "fails": list(FAILURES), "after": ["37s"]}, tdf="inf",
    blocks=1, warm_up=0,
)  # fmt: skip
def failover(net, directory, routes, fails, after):
    """How long does nothing arrive when the link between two routers fails?"""
    says = SAYS[routes.removesuffix(" (BIRD)")]
    with Heard(net, "r1", "r2", says) as first, Heard(net, "r2", "r1", says) as second, routed(net, routes, directory):
        time.sleep(duration(after))
        heard = []

        def fail():
            heard.extend([first.last, second.last])
            return FAILURES[fails](net)

        failed, restored = outage(net, fail)
    # r1 sends to the server: by BGP and RIP it has to notice by itself, by OSPF the first of both says so to the other one
    since = min(heard) if routes.startswith("OSPF") else heard[0]
    return {"outage_ms": 1000 * (restored - failed), "silence_ms": 1000 * (restored - since)}


STEP_MS = 1000 * LATER_STEP_S
FRR_MS = routing.FRR_ROUTES_MS + STEP_MS
BIRD_OSPF_MS = routing.BIRD_TICKS_MS + STEP_MS
UPDATE_MS = 1000 * (routing.RIP_UPDATE_S + routing.FRR_RIP_JITTER_S)
HOLD = "the hold time, less the age of the last KEEPALIVE"
EXPECTED = {
    "OSPF": (routing.ospf().later(FRR_MS), "the dead interval, less the age of the last hello"),
    "OSPF and BFD": (routing.bfd().later(FRR_MS), "three packets of BFD, less the age of the last one"),
    "OSPF (BIRD)": (
        routing.ospf().later(BIRD_OSPF_MS),
        "the dead interval, less the age of the last hello; two ticks of BIRD's",
    ),
    "BGP": (routing.bgp().later(FRR_MS), HOLD),
    "BGP (BIRD)": (routing.bgp(routing.BIRD_HOLD_S, routing.JITTER).later(STEP_MS), f"{HOLD}; BIRD shortens it at random"),
    "RIP": (routing.rip().later(FRR_MS), "the timeout, less the age of the last update, and the next update of r3"),
}
AT_ONCE_MS = {
    "OSPF": FRR_MS, "OSPF and BFD": FRR_MS, "OSPF (BIRD)": BIRD_OSPF_MS, "BGP": FRR_MS, "BGP (BIRD)": STEP_MS,
    "RIP": UPDATE_MS + FRR_MS,
}  # fmt: skip


AT_ONCE, UPDATE = "both routers notice at once", ", and r1 waits for the next update of r3"


def at(routes, fails):
    return {"routes": routes, "fails": fails}


def silence(routes, least_s, most_ms, because):
    cell = at(routes, "in silence")
    return bound("silence_ms", cell, at_least=1000 * least_s, at_most=most_ms, because=because)


failover.differs("FRR and BIRD draw random numbers for timers")
failover.claims(
    *(
        bound("outage_ms", at(routes, "in silence"), at_least=each.least_ms, at_most=each.most_ms, because=because)
        for routes, (each, because) in EXPECTED.items()
    ),
    *(
        bound("outage_ms", at(routes, "without carrier"), at_most=most, because=AT_ONCE + (UPDATE if routes == "RIP" else ""))
        for routes, most in AT_ONCE_MS.items()
    ),
    *(
        predicted("silence_ms", at(routes, "in silence"), expected=1000 * expected_s, within=0.01, because=because)
        for routes, expected_s, because in (
            ("OSPF", routing.OSPF_DEAD_S, "the dead interval begins with each hello"),
            ("BGP", routing.FRR_HOLD_S, "the hold time begins with each message"),
        )
    ),
    silence("OSPF (BIRD)", routing.OSPF_DEAD_S, 1000 * routing.OSPF_DEAD_S + BIRD_OSPF_MS, "the dead interval, and two ticks"),
    silence("BGP (BIRD)", 0.75 * routing.BIRD_HOLD_S, 1000 * routing.BIRD_HOLD_S + STEP_MS, "a hold time, shortened at random"),
    silence(
        "RIP", routing.RIP_TIMEOUT_S, 1000 * routing.RIP_TIMEOUT_S + UPDATE_MS + FRR_MS, "the timeout, and an update's wait"
    ),
)


@failover.answer
def answer(run):
    silent = ", ".join(f"{routes} {run.at(at(routes, 'in silence')).amount('outage_ms')}" for routes in KINDS)
    most = max(run.at(at(routes, "without carrier")).summary("outage_ms").mean for routes in KINDS if routes != "RIP")
    rip = run.at(at("RIP", "without carrier")).amount("outage_ms")
    return f"In silence: {silent}. If the carrier is lost, {most:.0f} ms at most, and by RIP {rip}."
