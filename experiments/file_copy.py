"""Copies over SSH: the window of its channels, 64 kB for long and 2 MB today, against what a long path holds."""

from slownet import TwoHosts, experiment, predicted, ratio
from slownet.judge.records.repeatability import Spread
from slownet.model.units import amount, duration, size
from slownet.net.tool import run
from slownet.reproductions.copies import OLD_WINDOW, Copies
from slownet.theory import published

RTT = "100ms"
RTT_S = duration(RTT)
WINDOW = 2 << 20  # CHAN_SES_WINDOW_DEFAULT in OpenSSH's channels.h: 64 packets of 32 KiB
OLD = "sftp, 64 kB"
WINDOWS = {OLD: OLD_WINDOW, "ssh": WINDOW, "scp": WINDOW}
# Linux's 4 MiB hold that much of a host whose card cuts segments. Here each segment takes a buffer of its own, more than its
# payload: they would hold 1.7 MiB of what ssh sends, and be the limit.
SEND_BUFFER = "net.ipv4.tcp_wmem=4096 87040 16777216"
FILES = {OLD_WINDOW: ("2MiB", "4MiB"), WINDOW: ("32MiB", "64MiB")}
# "A user will need at least 10 Mb/s connection with a 100 ms RTT to see a doubling of performance" (HPN-SSH's README).
NARROW = [{"program": program, "file": "8MiB", "rate": "10Mbit"} for program in (OLD, "scp")]
CELLS = [{"program": program, "file": file} for program, window in WINDOWS.items() for file in FILES[window]]


# One block: little is random.
@experiment(topology=TwoHosts, service=Copies, cells=CELLS + NARROW, published=published.file_copy(), tdf="inf", blocks=1)
def file_copy(net, copies, program, file, **narrow):
    """How long do ssh and scp take to copy a file over 100 ms, by the window that they have?"""
    for host in (net["client"], net["server"]):
        run(host, ["sysctl", "-qw", SEND_BUFFER])
    with net.link("client", "server").set(rtt=RTT, **narrow):
        return copies.copy(net["client"], program, int(size(file)))


def as_much_again(program):
    """The time of the smaller file, and that of as much again: a window's bytes in each round trip (RFC 4254, 5.2)."""
    smaller, _ = FILES[WINDOWS[program]]
    more = 1000 * RTT_S * size(smaller) / WINDOWS[program]
    return lambda run: run.at({"program": program, "file": smaller}).summary("time_ms") + more


file_copy.differs(
    "SSH's keys and padding are random, and at times a copy's last bytes take one more round trip",
    Spread("time_ms", 0.006, {"file": "64MiB"}),  # 9 boots: 0.55 %
    Spread("time_ms", 0.0004),  # 9 boots: 0.04 %
)

file_copy.claims(
    # The difference of two files is free of the login and of slow start.
    *(
        predicted(
            "time_ms", {"program": program, "file": FILES[window][1]}, expected=as_much_again(program), within=0.01,
            name=f"{program}: {FILES[window][0]} more take {size(FILES[window][0]) // window:g} round trips",
            because="no more than the window is on its way, and an update of it takes a round trip",
        )
        for program, window in WINDOWS.items()
    ),
    # A path of 10 Mbit/s and 100 ms holds 125 kB. The margin is for the login, which takes both as long.
    ratio(
        "time_ms", NARROW[0], of=NARROW[1], at_least=1.8,
        because="64 kB fill half of what the path holds, and two requests wait for each other's last byte",
    ),
)  # fmt: skip


@file_copy.answer
def answer(run):
    def rate(program):
        smaller, larger = FILES[WINDOWS[program]]
        less, more = (run.at({"program": program, "file": file}).summary("time_ms").mean for file in (smaller, larger))
        return amount(8 * size(smaller) / (more - less) / 1000, "Mbit/s")

    today = ", ".join(f"{program} {rate(program)}" for program in WINDOWS if program != OLD)
    return f"Today {today}; with 64 kB on their way as until 2007, {rate(OLD)}."
