"""A gRPC call to another continent: why 30 kB take two round trips, and fewer if calls come more often."""

from slownet import Command, TwoHosts, experiment, predicted
from slownet.net.tool import run
from slownet.reproductions.program import python
from slownet.reproductions.programs.call_timer import PORT
from slownet.reproductions.unary_calls import calls
from slownet.theory import published
from slownet.theory.slow_start import LAST_BYTE, round_trips

RTT_MS = 220  # from the United States to Asia, as the published capture shows for each flight
SIZES = {"10kB": 10_000, "30kB": 30_000, "100kB": 100_000}
IDLE, BUSY = "10s", "0.5s"
RESTARTS = {"restarted": 1, "kept": 0}
"""net.ipv4.tcp_slow_start_after_idle, by what becomes of a window that was idle."""
AFTER_IDLE = [{"message": size, "every": IDLE, "window": "restarted"} for size in SIZES]
OFTEN = [{"message": size, "every": BUSY, "window": "restarted"} for size in SIZES]
KEPT = [{"message": size, "every": IDLE, "window": "kept"} for size in SIZES]
# Calls that are made before, in which the windows grow.
BEFORE = 6
FRAMES = 200  # bytes that HTTP/2 adds to the largest message, at most


def server(net, folder):
    return Command(net["server"], python("call_timer", "serve"), folder, port=PORT, name="grpc")


# One block: nothing is random.
@experiment(
    topology=TwoHosts, service=server, cells=AFTER_IDLE + OFTEN + KEPT, published=published.grpc_unary(), tdf="inf", blocks=1
)  # fmt: skip
def grpc_unary(net, running, message, every, window):
    """How long does a gRPC call with 10, 30 or 100 kB take over 220 ms, by how often calls are made?"""
    run(net["client"], ["sysctl", "-qw", f"net.ipv4.tcp_slow_start_after_idle={RESTARTS[window]}"])
    with net.link("client", "server").set(rtt=f"{RTT_MS}ms"):
        every_s = float(every.removesuffix("s"))
        return calls(net["client"], net["server"].IP(), size=SIZES[message], every_s=every_s, skipped=BEFORE)


def flights(message):
    """Those of a new window; the receiver's has grown before."""
    return round_trips(SIZES[message], until=LAST_BYTE, header_bytes=FRAMES, receive_window=1 << 20) - 1


grpc_unary.claims(
    *(
        predicted(
            "call_ms", cell, expected=flights(cell["message"]) * RTT_MS, within=0.01,
            because="after an idle time of many timeouts TCP begins again with ten segments (RFC 5681, 4.1)",
        )
        for cell in AFTER_IDLE
    ),
    # The timeout is the round trip and 200 ms: a half second halves the window once, and in slow start it had grown to twice
    # what was sent.
    *(
        predicted("call_ms", cell, expected=RTT_MS, within=0.01, because="half of the grown window still holds the message")
        for cell in OFTEN
    ),
    *(
        predicted("call_ms", cell, expected=RTT_MS, within=0.01, because="the window of earlier calls holds the message")
        for cell in KEPT
    ),
)  # fmt: skip


@grpc_unary.answer
def answer(run):
    def took(cells):
        return ", ".join(f"{cell['message']} {run.at(cell).amount('call_ms')}" for cell in cells)

    return (
        f"Every 10 s: {took(AFTER_IDLE)}. Twice a second: {took(OFTEN)}. Every 10 s with a window that is kept: {took(KEPT)}."
    )
