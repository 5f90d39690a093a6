"""What a capture says of the network that it crossed."""

from pathlib import Path

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.utils import PcapWriter

from slownet.links.traces import trace_summary, traffic
from slownet.model.errors import TraceError

DATA = Path(__file__).parents[1] / "packets" / "data"
LENGTH = 1000


def captured(path, events):
    """Write a capture; events: (seconds, from the client, flags, sequence, bytes)."""
    with PcapWriter(str(path), linktype=1, nano=True) as writer:
        for at, outward, flags, sequence, length in events:
            ports = {"sport": 40000, "dport": 80} if outward else {"sport": 80, "dport": 40000}
            ips = ("10.0.0.1", "10.0.0.2") if outward else ("10.0.0.2", "10.0.0.1")
            packet = (
                Ether() / IP(src=ips[0], dst=ips[1]) / TCP(flags=flags, seq=100 + sequence, ack=100, **ports) / (b"x" * length)
            )
            packet.time = at
            writer.write(packet)
    return path


OPENED = [(0.0, True, "S", -1, 0), (0.04, False, "SA", -1, 0), (0.04, True, "A", 0, 0)]


LATER = 0.06
"""Seconds, longer than a round trip, after which a segment that is sent again comes."""


def sent(*numbers, outward=False):
    """Segments a millisecond apart; one with a lower number than another before it comes later."""
    again = [any(number <= before for before in numbers[:at]) for at, number in enumerate(numbers)]
    times = [0.1 + at / 1000 + LATER * sum(again[: at + 1]) for at in range(len(numbers))]
    return [(at, outward, "A", number * LENGTH, LENGTH) for at, number in zip(times, numbers, strict=True)]


@pytest.mark.parametrize(
    ("name", "rtt", "lost"), [("tcp", 0.12, 0), ("lost-h2", 0.04, 1), ("tls12", 0.12, 0), ("fast-open", 0.12, 0)]
)
def test_captures_of_links_with_a_stated_condition(name, rtt, lost):
    found = traffic.load(DATA / f"{name}.pcap")
    assert list(found.rtts) == pytest.approx([rtt] * len(found.rtts), abs=0.0005)
    assert found.rtts
    assert found.up.lost + found.down.lost == lost
    assert found.condition().up + found.condition().down == pytest.approx(rtt, abs=0.0005)


@pytest.mark.parametrize(
    ("numbers", "known", "lost"),
    [
        ((0, 1, 2, 3), 4, 0),
        ((0, 2, 3, 1), 5, 1),  # 1 was lost before the capture, and came again
        ((0, 1, 2, 3, 1), 5, 1),  # 1 passed, was lost behind it, and came again
        ((0, 2, 3, 1, 1), 6, 2),  # both
    ],
)
@pytest.mark.parametrize("outward", [True, False])
def test_losses_before_and_behind_the_capture(tmp_path, numbers, known, lost, outward):
    found = traffic.load(captured(tmp_path / "a.pcap", OPENED + sent(*numbers, outward=outward)))
    way, other = (found.up, found.down) if outward else (found.down, found.up)
    assert (way.sent, way.lost) == (known, lost)
    assert other.lost == 0
    condition = found.condition()
    said = {"up": condition.loss_up, "down": condition.loss_down}
    assert said["down" if outward else "up"] is None
    assert (said["up" if outward else "down"] is not None) == bool(lost)


def test_a_connection_that_was_opened_twice_has_no_round_trip(tmp_path):
    twice = [(0.0, True, "S", -1, 0), (1.0, True, "S", -1, 0), (1.04, False, "SA", -1, 0), (1.04, True, "A", 0, 0)]
    found = traffic.load(captured(tmp_path / "a.pcap", twice))
    assert found.rtts == ()
    with pytest.raises(TraceError, match="no round trip can be measured: its SYN was sent again"):
        found.condition()
    assert found.facts()["condition"] == "none: its SYN was sent again"


def test_many_round_trips_are_a_distribution():
    rtts = tuple(0.04 + at / 10000 for at in range(traffic.ENOUGH))
    way = traffic.Way(0, 0, 0.0)
    condition = traffic.Traffic(len(rtts), 1.0, rtts, way, way).condition()
    assert condition.up == pytest.approx(0.02)
    assert condition.up + condition.down == pytest.approx(sum(rtts) / len(rtts))
    assert condition.jitter_down > 0


def test_the_busiest_second(tmp_path):
    found = traffic.load(captured(tmp_path / "a.pcap", OPENED + sent(*range(50))))
    assert found.down.busiest_bit_s == pytest.approx(8 * (50 * (LENGTH + 66) + 66))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\x0a\x0d\x0d\x0a" + bytes(60), "0 TCP packets, a section without a byte order"),
        (b"\xd4\xc3\xb2\xa1", "0 TCP packets, the file is cut short after frame 0"),
        (b"\xd4\xc3\xb2\xa1" + bytes(16) + (1).to_bytes(4, "little"), "no connection starts in 0 TCP packets"),
    ],
)
def test_what_cannot_be_read_is_one_line(tmp_path, content, why):
    path = tmp_path / "a.pcap"
    path.write_bytes(content)
    with pytest.raises(TraceError, match=why):
        trace_summary.load(path).facts()
