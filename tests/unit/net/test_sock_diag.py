"""What a kernel reports of connections: messages of sock_diag as a lab's kernel (7.3.4 and 7.3) has sent them."""

from pathlib import Path

from slownet.net.sock_diag import Connection, parse

ENDED = bytes.fromhex(
    "7c01000014000000000000000000000002070000e6c593147f0000010000000000000000000000007f00000100000000000000000000000000000000"
    "0100000000000000000000000000000000000000000000000000000005000a00060000001c0102000700000000077700802c0300409c000040b90000"
    "18020000000000000000000000000000000000000000000024000000000000002c00000000000000ffff0000cbff00007c150000f82a000007000000"
    "07000000cbff00000300000000000000cbff000001000000d728510400000000ffffffffffffffffa186010000000000010000000000000006000000"
    "0500000000000000a00f000001000000040000006cc4310000000000e0ab000000000000000000000000000000000000000000000500000000000000"
    "400d020000000000a086000000000000000000000000000000000000006c000000000100000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000"
)
"""Of a server on loopback that sent 100 kB to a client which read after 50 ms; a tail probe had reduced its window to seven."""
SERVER = Connection(("127.0.0.1", 59077), ("127.0.0.1", 37652), 1, 44_000, 0, 0, 134_464, 7, 7)
BULK, LISTENING, CONTROL = (
    bytes.fromhex(line) for line in (Path(__file__).parent / "data/connections-that-ended.hex").read_text().split()
)
"""Of iperf3 over 40 ms of round trip without a rate."""


def test_a_connection_that_has_ended():
    assert list(parse(ENDED)) == [SERVER]


def test_several_in_one_message_and_what_is_cut_off():
    assert list(parse(ENDED + ENDED)) == [SERVER, SERVER]
    assert list(parse(ENDED[:-100])) == []
    assert list(parse(ENDED[:20])) == []


def test_an_ipv4_connection_of_a_socket_for_both_has_its_packets_addresses():
    mapped = bytes(10) + b"\xff\xff" + bytes([10, 0, 0, 1])
    message = ENDED[:16] + b"\x0a" + ENDED[17:24] + mapped + mapped + ENDED[56:]
    (found,) = parse(message)
    assert (found.local[0], found.remote[0]) == ("10.0.0.1", "10.0.0.1")


def test_a_connection_that_the_receive_window_stopped():
    (one,) = parse(BULK)
    assert (one.busy_us, one.receive_limited_us) == (5_120_000, 4_960_000)
    assert one.bytes_sent > 100e6


def test_a_listening_socket_is_no_connection():
    assert list(parse(LISTENING)) == []


def test_several_messages_in_a_datagram_and_one_that_is_cut():
    assert [each.bytes_sent for each in parse(BULK + CONTROL)] == [next(parse(BULK)).bytes_sent, 284]
    assert list(parse(BULK[:100])) == list(parse(b"\0" * 64)) == []


def test_totals_of_a_part_of_the_time():
    (one,) = parse(BULK)
    assert one.since(None) == one
    part = one.since(Connection(one.local, one.remote, one.cookie, 1_000_000, 500_000, 0, 1000, 10, 10))
    assert (part.busy_us, part.receive_limited_us, part.bytes_sent) == (4_120_000, 4_460_000, one.bytes_sent - 1000)
    assert (part.cwnd, part.ssthresh) == (one.cwnd, one.ssthresh)
