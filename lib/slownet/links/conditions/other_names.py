"""Other programs' names for the fields of a condition and the parameters of Mininet's TCLink, for the hint of an error."""

from __future__ import annotations

from collections.abc import Iterable

from slownet.model.errors import nearest

MEANT = {
    **dict.fromkeys(
        ("bandwidth", "bandwith", "bitrate", "rate", "speed", "capacity", "throughput", "datarate", "data_rate", "max_bw"),
        "bw",
    ),
    **dict.fromkeys(("latency", "lat", "propagation_delay", "prop_delay", "propdelay", "link_delay", "delay_ms"), "delay"),
    **dict.fromkeys(
        ("packet_loss", "packetloss", "loss_rate", "lossrate", "pkt_loss", "plr", "drop", "drop_rate", "loss_percent"),
        "loss",
    ),
    **dict.fromkeys(
        (
            "max_queue", "maxqueue", "queue_size", "queuesize", "queue_length", "queue_len", "qsize", "qlen", "buffer",
            "buffer_size", "limit", "max_queue_len", "max_queue_length", "maxq", "txqueuelen",
        ),
        "max_queue_size",
    ),
    **dict.fromkeys(("delay_variation", "delay_jitter", "jit", "variance"), "jitter"),
    **dict.fromkeys(("ecn", "use_ecn"), "enable_ecn"),
    **dict.fromkeys(("red", "use_red"), "enable_red"),
    **dict.fromkeys(("tbf", "enable_tbf"), "use_tbf"),
    **dict.fromkeys(("hfsc", "enable_hfsc"), "use_hfsc"),
}  # fmt: skip
"""Names of forks, of older versions and of other tools, for TCLink's parameters."""
_FIELDS = {"bw": "rate", "max_queue_size": "queue", "enable_ecn": "ecn", "enable_red": "aqm"}
"""The fields of a condition for TCLink's parameters, where their names differ."""
_ROUND_TRIPS = {"rtt_ms", "round_trip", "roundtrip", "round_trip_time", "ping"}


def field(name: str, known: Iterable[str]) -> str:
    """Return a suggestion for an unknown field of a condition.

    name: the unknown name, perhaps one of Mininet's or of another tool's.
    known: the fields, and what else may stand beside them.

    Examples
    --------
    >>> field("bandwidth", ["rate", "delay", "rtt"])
    "did you mean 'rate'?"
    """
    names, word = set(known), name.lower().replace("-", "_")
    meant = "rtt" if word in _ROUND_TRIPS else MEANT.get(word, word)
    meant = _FIELDS.get(meant, meant)
    if meant == "delay" and word not in names:
        return "did you mean 'delay', which is one-way, or 'rtt'?"
    return f"did you mean '{meant}'?" if meant in names else nearest(name, names)
