"""What limits a sender, read from datagrams of a lab's kernel (Linux 7.3, iperf3 over 40 ms of round trip without a rate)."""

from pathlib import Path

import pytest

from slownet.net.senders import Sender, limited, parse

BULK, LISTENING, CONTROL = (
    bytes.fromhex(line) for line in (Path(__file__).parent / "data/connections-that-ended.hex").read_text().split()
)


def test_a_connection_says_how_long_it_was_busy_and_how_long_the_receive_window_stopped_it():
    (one,) = parse("server", BULK)
    assert (one.host, one.busy_s, one.waited_s) == ("server", pytest.approx(5.12), pytest.approx(4.96))
    assert one.sent > 100e6


def test_a_listening_socket_sent_nothing():
    assert list(parse("server", LISTENING)) == []


def test_several_messages_in_a_datagram_and_one_that_is_cut():
    assert [each.sent for each in parse("server", BULK + CONTROL)] == [next(parse("server", BULK)).sent, 284]
    assert list(parse("server", BULK[:100])) == list(parse("server", b"\0" * 64)) == []


def test_only_connections_that_carried_much_count():
    idle = Sender("server", 1.0, 0.9, 1000)
    assert limited([*parse("server", BULK), idle]) == {"by": "receive window", "share": 0.9688, "host": "server"}
    assert limited([idle]) is limited([]) is None


def test_less_than_half_of_the_time_is_no_limit():
    sent = 10**6
    assert limited([Sender("a", 10.0, 4.0, sent)]) is None
    assert limited([Sender("a", 10.0, 4.0, sent), Sender("b", 10.0, 8.0, 2 * sent)]) == {
        "by": "receive window", "share": 0.6, "host": "b",
    }  # fmt: skip
