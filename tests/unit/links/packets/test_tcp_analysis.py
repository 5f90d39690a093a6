"""What each segment of a connection is. The numbers come from tshark 4.0.17, which printed the same for these captures."""

import pytest
from wire import Exchange, ethernet, ip, ip6, pcap

from slownet.links.packets import decoding
from slownet.links.packets.capture_file import CaptureFile
from slownet.links.packets.tcp_analysis import Connections, Kind

MSS = 1000


def judged(*exchanges):
    """Return (connection, what it is) of each segment, in the order of time."""
    frames = sorted((at, ethernet(data)) for each in exchanges for at, data in each.frames)
    connections = Connections()
    found = [connections.judge(decoding.segment(frame)) for frame in CaptureFile(pcap(frames))]
    return [(each.connection.number, each.kind) for each in found]


def kinds(exchange):
    return [kind for _, kind in judged(exchange)][3:]


def answered(times, numbers, rtt=0.03, acks=()):
    """An exchange whose server sends segments by number; acks: (time, acknowledged segments)."""
    exchange = Exchange(rtt=rtt)
    for at, number in zip(times, numbers, strict=True):
        exchange.add(at, False, "A", number * MSS, 0, MSS)
    for at, number in acks:
        exchange.add(at, True, "A", 0, number * MSS)
    return exchange


def test_nothing_happens():
    assert kinds(answered([0.1, 0.101, 0.102], [0, 1, 2])) == [Kind.NEW] * 3


def test_out_of_order_within_a_round_trip_and_a_retransmission_after_it():
    assert kinds(answered([0.1, 0.102, 0.103], [0, 2, 1])) == [Kind.NEW, Kind.GAP, Kind.OUT_OF_ORDER]
    assert kinds(answered([0.1, 0.102, 0.14], [0, 2, 1])) == [Kind.NEW, Kind.GAP, Kind.RETRANSMISSION]
    assert kinds(answered([0.1, 0.102, 0.131], [0, 2, 1], rtt=0.03))[-1] == Kind.OUT_OF_ORDER
    assert kinds(answered([0.1, 0.102, 0.133], [0, 2, 1], rtt=0.03))[-1] == Kind.RETRANSMISSION


def test_the_newest_segment_again_is_never_out_of_order():
    assert kinds(answered([0.1, 0.101, 0.102], [0, 1, 1])) == [Kind.NEW, Kind.NEW, Kind.RETRANSMISSION]


def test_fast_retransmission_after_two_duplicate_acks_within_20_ms():
    exchange = answered([0.1, 0.102, 0.103, 0.104], [0, 2, 3, 4], acks=[(0.11, 1), (0.112, 1), (0.113, 1)])
    assert kinds(exchange.add(0.114, False, "A", MSS, 0, MSS)) == [
        Kind.NEW, Kind.GAP, Kind.NEW, Kind.NEW, Kind.NEW, Kind.DUPLICATE_ACK, Kind.DUPLICATE_ACK, Kind.FAST_RETRANSMISSION,
    ]  # fmt: skip
    late = answered([0.1, 0.102, 0.103, 0.104], [0, 2, 3, 4], acks=[(0.11, 1), (0.112, 1), (0.113, 1)])
    assert kinds(late.add(0.135, False, "A", MSS, 0, MSS))[-1] == Kind.RETRANSMISSION


def test_what_had_been_acknowledged_is_spurious():
    exchange = answered([0.1, 0.101], [0, 1], acks=[(0.11, 2)])
    assert kinds(exchange.add(0.4, False, "A", 0, 0, MSS))[-1] == Kind.SPURIOUS_RETRANSMISSION


def test_an_ack_of_what_the_capture_misses():
    exchange = answered([0.1, 0.102], [0, 2], acks=[(0.12, 3), (0.13, 3)])
    assert kinds(exchange) == [Kind.NEW, Kind.GAP, Kind.ACKED_UNSEEN, Kind.DUPLICATE_ACK]


@pytest.mark.parametrize("length", [0, 1])
def test_keep_alives(length):
    exchange = answered([0.1], [0], acks=[(0.11, 1)])
    for at in (10, 20):
        exchange.add(at, True, "A", -1, MSS, length).add(at + 0.03, False, "A", MSS, 0)
    assert kinds(exchange)[2:] == [Kind.KEEP_ALIVE, Kind.KEEP_ALIVE_ACK] * 2


def test_zero_window_probes():
    exchange = answered([0.1], [0]).add(0.11, True, "A", 0, MSS, window=0)
    exchange.add(0.4, False, "A", MSS, 0, 1).add(0.401, True, "A", 0, MSS, window=0).add(0.9, False, "A", MSS, 0, 1)
    exchange.add(0.901, True, "A", 0, MSS + 1).add(0.91, False, "A", MSS, 0, MSS)
    assert kinds(exchange)[2:] == [
        Kind.ZERO_WINDOW_PROBE, Kind.ZERO_WINDOW_PROBE_ACK, Kind.ZERO_WINDOW_PROBE, Kind.ACKED_UNSEEN, Kind.NEW,
    ]  # fmt: skip


def test_a_port_that_is_used_again():
    found = judged(Exchange(0, first=(5_000_000, 7)), Exchange(60, first=(1000, 2000)))
    assert [number for number, _ in found] == [0, 0, 0, 1, 1, 1]
    assert not any(kind for _, kind in found)


def test_a_syn_that_is_sent_again_opens_nothing():
    exchange = Exchange(1.0)
    exchange.add(0.0, True, "S", -1, -2001)
    assert judged(exchange) == [(0, Kind.NEW), (0, Kind.RETRANSMISSION), (0, Kind.NEW), (0, Kind.NEW)]


def test_numbers_that_wrap():
    exchange = Exchange(first=(1000, 2**32 - 1501))
    for at, number in enumerate((0, 1, 2, 1)):
        exchange.add(0.1 + at * 0.04, False, "A", number * MSS, 0, MSS)
    assert kinds(exchange) == [Kind.NEW, Kind.NEW, Kind.NEW, Kind.RETRANSMISSION]


def test_both_versions_of_ip_and_a_socket_connected_with_itself():
    frames = [(at, ethernet(data, 0x86DD)) for at, data in Exchange(wrap=ip6).frames]
    connections = Connections()
    assert [connections.judge(decoding.segment(each)).side for each in CaptureFile(pcap(frames))] == [0, 1, 0]
    itself = decoding.segment(next(iter(CaptureFile(pcap([(0, ethernet(ip(True, Exchange().frames[0][1][20:])))])))))
    itself = itself._replace(target=itself.source, dport=itself.sport)
    connections = Connections()
    assert connections.judge(itself).side == connections.judge(itself).side
