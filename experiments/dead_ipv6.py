"""Happy eyeballs: what a client loses that tries IPv6 first when the IPv6 path is dead, refused, or slower."""

from slownet import TwoPaths, bound, experiment, predicted
from slownet.reproductions.dual_stack import REFUSED, DualStack
from slownet.reproductions.named_pages import PAGE
from slownet.theory.fallback import CLIENTS, SYN_TIMEOUT_LATE_MS, first_byte_ms

RTT_MS = 40
IPV6_MS = {"as fast": RTT_MS, "refused": RTT_MS, "at 150 ms": 150, "at 600 ms": 600, "dead": None}
CELLS = [{"client": "curl", "ipv6": ipv6} for ipv6 in IPV6_MS]
CELLS += [{"client": client, "ipv6": ipv6} for client in ("asyncio", "wget") for ipv6 in ("at 600 ms", "dead")]
WAITS = {"client": "wget", "ipv6": "dead"}


def condition(rtt_ms):
    return {"loss": "100%"} if rtt_ms is None else {"delay_up": f"{rtt_ms}ms"}


# One block: nothing is random.
@experiment(topology=TwoPaths, service=DualStack, cells=CELLS, tdf="inf", blocks=1)
def dead_ipv6(net, site, client, ipv6):
    """How long does a page take whose name has an IPv6 address that does not work?"""
    with net.link("server", "first").set(delay_up=f"{RTT_MS}ms"), net.link("server", "second").set(**condition(IPV6_MS[ipv6])):
        return site.page(client, REFUSED if ipv6 == "refused" else PAGE)


def why(client, ipv6):
    delay = CLIENTS[client]
    if ipv6 == "as fast":
        return "handshake and page, over IPv6"
    if ipv6 == "refused":
        return "a round trip for the refusal, then handshake and page over IPv4"
    if delay is None:
        return "it waits for IPv6"
    if ipv6 == "at 150 ms":
        return f"IPv6 answers before {delay:.0f} ms have passed, so IPv4 is not tried"
    return f"{delay:.0f} ms until IPv4 is tried, then handshake and page"


def expected(client, ipv6):
    return first_byte_ms(client=client, rtt_ms=RTT_MS, ipv6_rtt_ms=IPV6_MS[ipv6], refused=ipv6 == "refused")


dead_ipv6.claims(
    *(
        predicted("first_byte_ms", cell, expected=expected(**cell), within=0.01, because=why(**cell))
        for cell in CELLS
        if cell != WAITS
    ),
    bound(
        "first_byte_ms", WAITS, at_least=expected(**WAITS), at_most=expected(**WAITS) + SYN_TIMEOUT_LATE_MS,
        because="it tries IPv4 when the kernel has given up its SYNs; the kernel's longer timers are late by up to an eighth",
    ),
)  # fmt: skip


@dead_ipv6.answer
def answer(run):
    dead = [f"{client} {run.at({'client': client, 'ipv6': 'dead'}).amount('first_byte_ms')}" for client in CLIENTS]
    fine = run.at({"client": "curl", "ipv6": "as fast"}).amount("first_byte_ms")
    return f"To the first byte, if IPv6 is dead: {', '.join(dead)}; if it works, {fine}."
