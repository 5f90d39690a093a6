"""HTTP/2's flow control: how much of an upload may be on its way if the server opens its window no further than 64 kB."""

from slownet import TwoHosts, experiment, predicted, ratio
from slownet.model.units import duration, size
from slownet.reproductions.uploads import BUFFERED, UNBUFFERED, Uploads
from slownet.theory import published

SMALL, LARGE, RTT = "2MiB", "4MiB", "60ms"
RTT_MS = 1000 * duration(RTT)
# http2_body_preread_size: 64k is nginx's default, for bodies that are passed on while they arrive, as grpc_pass always does.
WINDOWS = {"64k": 64 << 10, "512k": 512 << 10, "2m": 2 << 20}
UPLOADS = {window: {"http": "2", "body": UNBUFFERED, "window": window} for window in WINDOWS}
BUFFERS = {"http": "2", "body": BUFFERED, "window": "64k"}
OLDER = {"http": "1.1", "body": UNBUFFERED}
CELLS = [{"upload": length, **how} for how in (*UPLOADS.values(), BUFFERS, OLDER) for length in (SMALL, LARGE)]


# One block: nothing is random.
@experiment(topology=TwoHosts, service=Uploads, cells=CELLS, published=published.http2_window(), tdf="inf", blocks=1)
def http2_window(net, uploads, upload, **how):
    """How long does an upload over HTTP/2 take from 60 ms away, by the window that the server allows it?"""
    with net.link("client", "server").set(rtt=RTT):
        return uploads.upload(net["client"], int(size(upload)), **how)


def larger(how):
    return {"upload": LARGE, **how}


def another_two(window):
    """The time of 2 MiB, and that of 2 MiB more: a window's bytes in each round trip (RFC 9113, 5.2)."""
    return lambda run: run.at({"upload": SMALL, **UPLOADS[window]}).summary("time_ms") + size(SMALL) / WINDOWS[window] * RTT_MS


http2_window.claims(
    # The difference of two uploads is free of handshakes and of slow start, which is over after 2 MiB.
    *(
        predicted(
            "time_ms", larger(UPLOADS[window]), expected=another_two(window), within=0.01,
            name=f"2 MiB more take {size(SMALL) // WINDOWS[window]:g} round trips through a window of {window}",
            because="no more than the window is on its way, and the server's update of it takes a round trip",
        )
        for window in ("64k", "512k")
    ),
    # 2 MiB is what was needed at 60 ms according to the published comment: 32 times 64 kB.
    *(
        ratio("time_ms", larger(how), of=larger(OLDER), at_most=1.1, name=f"{what}: as fast as HTTP/1.1", because=why)
        for what, how, why in (
            ("2 MiB", UPLOADS["2m"], "the window is larger than what TCP has on its way in these uploads"),
            ("buffered", BUFFERS, "nginx opens the window to 2 GiB for a body that it reads whole"),
        )
    ),
    ratio(
        "time_ms", larger(UPLOADS["64k"]), of=larger(OLDER), at_least=5,
        because="HTTP/1.1 has no window of its own: TCP's grows to what the path holds",
    ),
)  # fmt: skip


@http2_window.answer
def answer(run):
    took = {window: run.at(larger(how)).amount("time_ms") for window, how in UPLOADS.items()}
    windows = ", ".join(f"{took[window]} through a window of {window}" for window in WINDOWS)
    return f"{LARGE} take {windows}, and {run.at(larger(OLDER)).amount('time_ms')} over HTTP/1.1."
