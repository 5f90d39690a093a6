"""Connections opened in every way, captured in a lab (nginx 1.26, curl 8.14, ngtcp2's gtlsclient), with their key logs."""

from pathlib import Path

import pytest

from slownet.links.packets import capture, quic, tls
from slownet.links.packets.seen import flights
from slownet.links.packets.tls import KeyLog, parse
from slownet.model.errors import ToolError
from slownet.model.protocol_names import QUIC
from slownet.theory.handshakes import STACKS, opened, round_trips

DATA = Path(__file__).parent / "data"
RTT_MS = {"quic-0rtt": 20}  # 120 in all others
FILES = {
    "tcp": ("TCP", {}), "fast-open": ("TCP Fast Open", {}), "tls12": ("TLS 1.2", {}), "tls12-resumed": ("TLS 1.2 resumed", {}),
    "tls13": ("TLS 1.3", {}), "tls13-psk": ("TLS 1.3 PSK", {}), "tls13-0rtt": ("TLS 1.3 0-RTT", {}),
    "tls13-0rtt-fast-open": ("TLS 1.3 0-RTT over Fast Open", {}), "tls13-hello-retry": ("TLS 1.3", {"hello_retry": True}),
    "quic": ("QUIC", {}), "quic-hello-retry": ("QUIC", {"hello_retry": True}), "quic-retry": ("QUIC", {"retry": True}),
    "quic-0rtt": ("QUIC 0-RTT", {}),
}  # fmt: skip


def log(name):
    path = DATA / f"{name}.keys"
    return parse(path.read_text()) if path.exists() else KeyLog({})


def read(name, keys=None):
    path = DATA / f"{name}.pcap"
    keys = log(name) if keys is None else keys
    if STACKS[FILES[name][0]].transport == QUIC:
        return quic.read(capture.datagrams(path, 443)[-1], keys)
    return tls.read(capture.connections(path)[-1], keys)


@pytest.mark.parametrize("name", FILES)
def test_a_capture_shows_how_its_connection_was_opened(name):
    stack, more = FILES[name]
    assert read(name).traits == opened(stack, **more)


@pytest.mark.parametrize("name", FILES)
def test_round_trips_are_counted_in_packets_and_in_time(name):
    stack, more = FILES[name]
    seen, trips = read(name), round_trips(stack=stack, **more)
    assert seen.flights == trips
    assert seen.first_ms == pytest.approx(trips * RTT_MS.get(name, 120), rel=0.002)


def test_sizes_are_those_of_the_messages():
    full, resumed = read("tls13"), read("tls13-psk")
    assert (full.application, full.certificate) == ("http/1.1", 383)
    assert 600 < full.handshake < 800
    assert resumed.certificate == 0 < resumed.handshake < 300
    assert full.answer == read("tcp").answer == 1240  # 1000 bytes with their header, decrypted or in clear text
    assert read("quic").application == "h3"
    assert 1000 < read("quic").answer < 1250


def test_all_connections_of_a_capture_are_found():
    found = [tls.read(each, log("tls12-resumed")) for each in capture.connections(DATA / "tls12-resumed.pcap")]
    assert [each.traits.resumed for each in found] == [False, True]
    assert found[0].last < found[1].began


@pytest.mark.parametrize("name", ["tls13", "quic"])
def test_a_capture_without_keys_is_one_line(name):
    with pytest.raises(ToolError, match="cannot be read without keys: no SERVER_HANDSHAKE_TRAFFIC_SECRET"):
        read(name, KeyLog({}))


@pytest.mark.parametrize("name", ["tls13", "quic"])
def test_keys_of_another_connection_are_one_line(name):
    wrong = {key: bytes(reversed(secret)) for key, secret in log(name).secrets.items()}
    with pytest.raises(ToolError, match="cannot be decrypted by the key log"):
        read(name, KeyLog(wrong))


def test_tls12_needs_no_keys():
    assert read("tls12", KeyLog({})) == read("tls12")


@pytest.mark.parametrize("name", ["tcp", "tls12", "tls13"])
def test_a_capture_that_ends_before_the_answer_is_one_line(name):
    segments = capture.connections(DATA / f"{name}.pcap")[-1]
    for count in range(1, len(segments)):
        try:
            tls.read(segments[:count], log(name))
        except ToolError as error:
            assert "capture" in str(error)  # noqa: PT017  # and no other exception
        else:
            break
    assert count > 4


def test_a_capture_of_quic_that_ends_before_the_answer_is_one_line():
    packets = capture.datagrams(DATA / "quic.pcap", 443)[-1]
    for count in range(1, 4):
        with pytest.raises(ToolError, match="capture"):
            quic.read(packets[:count], log("quic"))


def test_another_version_of_quic_is_one_line():
    first = capture.datagrams(DATA / "quic.pcap", 443)[-1][0]
    other = capture.Datagram(first.ns, True, first.data[:1] + b"\x6b\x33\x43\xcf" + first.data[5:])
    with pytest.raises(ToolError, match="QUIC of version 0x6b3343cf: only version 1"):
        quic.read([other], log("quic"))


def test_datagrams_of_no_client_are_one_line():
    with pytest.raises(ToolError, match="no QUIC connection to port 53 begins"):
        capture.datagrams(DATA / "quic.pcap", 53)


def test_a_key_log_has_secrets_by_connection_and_label():
    text = "# comment\nCLIENT_RANDOM aa01 ff\nSERVER_TRAFFIC_SECRET_0 aa01 0102\nbroken line\nLABEL zz 00\n"
    found = tls.parse(text)
    assert found.need(b"\xaa\x01", "SERVER_TRAFFIC_SECRET_0") == b"\x01\x02"
    assert len(found.secrets) == 2


def test_what_is_sent_within_half_a_round_trip_is_one_flight():
    packets = [(0, True), (1, True), (10, False), (10, True), (11, False), (12, True), (20, False), (21, True), (29, False)]
    assert [flights(packets, until) for until in (10, 20, 24, 29)] == [1, 2, 2, 3]
