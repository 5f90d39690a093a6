"""Pings beside a download that fills its line: what 13_a_full_queue.toml measures."""

from slownet.tools.competing import competing


def download(net):
    """Return the slowest ping, in ms, and the rate of the download, once it has found the line's."""
    found = competing(net["server"], net["client"], ["cubic"], seconds=15, settle=10)
    return {"slowest_ms": found.pings.rtt_ms.max, "mbit_per_s": found.metrics()["mbit_per_s"]["mean"]}
