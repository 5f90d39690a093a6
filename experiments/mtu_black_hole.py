"""A path MTU black hole: what TCP makes of a router that drops large packets and says nothing, and three cures."""

from slownet import Chain, bound, experiment, predicted
from slownet.reproductions.narrow_path import CURES, SIZE, NarrowPath
from slownet.theory.path_mtu import BASE_MSS, probing_begins_ms

RTT_MS = 40


# One block: nothing is random.
@experiment(topology=Chain, service=NarrowPath, vary={"cure": list(CURES)}, tdf="inf", blocks=1)
def mtu_black_hole(net, path, cure):
    """Does a page of 100 kB arrive over a path whose MTU is smaller than the ends believe?"""
    with net.link("r1", "client").set(delay_up=f"{RTT_MS}ms"):
        return path.page(cure)


def at(cure):
    return {"cure": cure}


BEGINS, LATEST = probing_begins_ms(RTT_MS)
mtu_black_hole.claims(
    bound(
        "received_bytes", at("none"), at_most=0,
        because="the handshake's packets are small, all others of the server are too big and repeated in full (RFC 2923, 2.1)",
    ),
    *(bound("received_bytes", at(cure), at_least=SIZE, because="the whole page arrives") for cure in CURES if cure != "none"),
    *(
        predicted("first_byte_ms", at(cure), expected=2 * RTT_MS, within=0.01, because=why)
        for cure, why in {
            "ICMP": "the router that answers is beside the server, which sends smaller segments at once (RFC 1191)",
            "clamping": "both ends send no segment that is too big",
        }.items()
    ),
    bound(
        "first_byte_ms", at("probing"), at_least=2 * RTT_MS + BEGINS, at_most=1.01 * (2 * RTT_MS + LATEST),
        because=f"after a tail loss probe and four timeouts the server sends segments of {BASE_MSS} bytes (RFC 4821)",
    ),
)  # fmt: skip


@mtu_black_hole.answer
def answer(run):
    arrived = run.at(at("none")).summary("received_bytes").mean
    first = ", ".join(f"{cure} {run.at(at(cure)).amount('first_byte_ms')}" for cure in CURES if cure != "none")
    begin = "No: nothing of it arrives" if arrived == 0 else f"{arrived:.0f} bytes of it arrive"
    return f"{begin} without a cure. With one, the first byte arrives after: {first}."
