"""What the lookup of a name adds before a page: DNS over UDP, TCP, TLS and HTTPS."""

from slownet import TwoHosts, experiment, predicted
from slownet.reproductions.named_pages import PROGRAM, RESOLVER, NamedPages
from slownet.theory import lookups
from slownet.theory.handshakes import round_trips

CELLS = [{"client": PROGRAM, "transport": name} for name in ("UDP", "TCP", "HTTPS")]
CELLS += [{"client": PROGRAM, "transport": "TCP", "questions": "1"}]
CELLS += [{"client": RESOLVER, "transport": name} for name in ("TCP", "TLS")]
CELLS += [{"client": RESOLVER, "transport": name, "connection": "kept"} for name in ("TCP", "TLS")]


# One block: each page is requested at two round-trip times, and nothing is random.
@experiment(topology=TwoHosts, service=NamedPages, cells=CELLS, tdf="inf", blocks=1)
def name_lookup(net, pages, client, transport, connection="new", questions="2"):
    """How many round trips does the lookup of its name add before a page's first byte?"""
    link, kept = net.link("server", "client"), connection == "kept"
    how = {"by": client, "kept": kept, "questions": int(questions)}
    return pages.page(net["client"], transport, lambda rtt: link.set(delay_up=rtt), **how)


WHY = {
    "UDP": "question and answer are a datagram each (RFC 1035)",
    "TCP": "TCP's handshake comes first (RFC 7766)",
    "TLS": "the handshakes of TCP and TLS 1.3 come first (RFC 7858)",
    "HTTPS": "as many as over TLS: HTTP/2 begins with the question (RFC 8484)",
    "kept": "the connection of an earlier question is still open (RFC 7766, 6.2.1)",
}
HELD = "; without TCP_NODELAY the second of two writes waits for the ACK of the first"


def lookup(cell):
    """Return the round trips of a lookup, and why: unbound 1.26 writes twice, and sets TCP_NODELAY only over TLS."""
    held = cell["transport"] == "TCP" and "questions" not in cell
    trips = lookups.round_trips(transport=cell["transport"], kept="connection" in cell, held=held)
    return trips, WHY[cell.get("connection", cell["transport"])] + HELD * held


name_lookup.claims(
    *(
        predicted(metric, cell, expected=lookup(cell)[0] + more, within=0.01, because=lookup(cell)[1])
        for cell in CELLS
        for metric, more in {"lookup_round_trips": 0, "round_trips": round_trips(stack="TCP")}.items()
    ),
)


@name_lookup.answer
def answer(run):
    def trips(client, transport, **more):
        return f"{run.at({'client': client, 'transport': transport, **more}).summary('lookup_round_trips').mean:.3g}"

    program = {name: run.at(CELLS[at]).summary("lookup_round_trips").mean for at, name in enumerate(("UDP", "TCP", "HTTPS"))}
    return (
        f"Over {', over '.join(f'{name} {number:.3g}' for name, number in program.items())}; a resolver that asks over TLS "
        f"adds {trips(RESOLVER, 'TLS')}, or {trips(RESOLVER, 'TLS', connection='kept')} on a connection that it keeps."
    )
