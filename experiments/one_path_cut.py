"""MPTCP over two paths, one of which is cut while messages arrive."""

from slownet import TwoPaths, bound, experiment
from slownet.reproductions.two_paths import Messages
from slownet.theory.multipath import longest_stall_ms

RTTS_MS = (40, 100)
SENT = 800_000  # a hundred messages of 1000 bytes in each of 8 s
AFTER_MS = 3000  # when the path is cut


# One block: nothing is random.
@experiment(
    topology=TwoPaths, service=Messages, vary={"protocol": ["MPTCP", "TCP"], "rtt": [f"{rtt}ms" for rtt in RTTS_MS]},
    tdf="inf", blocks=1,
)  # fmt: skip
def one_path_cut(net, messages, protocol, rtt):
    """For how long does nothing arrive when one of two paths is cut, and what arrives after?"""
    first = net.link("server", "first")
    with first.set(delay_up=rtt), net.link("server", "second").set(delay_up=rtt):
        return messages.receive(protocol, lambda: first.set(loss="100%", ping=False))


def at(protocol, rtt_ms):
    return {"protocol": protocol, "rtt": f"{rtt_ms}ms"}


one_path_cut.claims(
    *(
        bound(
            "stall_ms", at("MPTCP", rtt_ms), at_most=longest_stall_ms(rtt_ms, after_ms=AFTER_MS),
            because="what the cut path lost is sent on the other one when its first timeout has passed, or its second",
        )
        for rtt_ms in RTTS_MS
    ),
    *(
        bound(
            "received_bytes", at("MPTCP", rtt_ms), at_least=0.95 * SENT,
            because="the other path carries everything; a twentieth is start, and what is on its way in the end",
        )
        for rtt_ms in RTTS_MS
    ),
    *(
        bound("bytes_after_stall", at("TCP", rtt_ms), at_most=0, because="its only path is the one that is cut")
        for rtt_ms in RTTS_MS
    ),
)  # fmt: skip


@one_path_cut.answer
def answer(run):
    near, far = (run.at(at("MPTCP", rtt)) for rtt in RTTS_MS)
    more = max(run.at(at("TCP", rtt)).summary("bytes_after_stall").mean for rtt in RTTS_MS)
    after = "nothing more arrives" if more == 0 else f"{more:.0f} bytes arrive after"
    return (
        f"MPTCP stalls for {near.amount('stall_ms')} at {RTTS_MS[0]} ms of round trip and {far.amount('stall_ms')} at "
        f"{RTTS_MS[1]} ms, and {near.summary('received_bytes').mean / SENT:.0%} of the bytes arrive; over TCP {after}."
    ).replace("%", " %")
