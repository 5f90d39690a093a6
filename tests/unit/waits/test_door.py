"""Accounts of captures whose truth is known, because they are written here."""

import struct
import subprocess
import sys
from dataclasses import replace

import pytest
from told import MSS, Told, opened

from slownet.lab.run.outbox import Outbox
from slownet.model.errors import ExperimentError, ToolError
from slownet.waits import dissected, trace
from slownet.waits.account import Cause
from slownet.waits.account_text import answer, folded, largest, slopes, text
from slownet.waits.door import account
from slownet.waits.packets import Packet
from slownet.waits.trace import HostCapture


@pytest.fixture
def told(tmp_path):
    return Told(tmp_path)


def causes(found):
    """The causes of an account's steps with what they took in ms, without those that took nothing."""
    return [(each.cause, each.detail, each.ms) for each in found.steps if each.ns]


def adds_up(found):
    assert all(one.end_ns == other.begin_ns for one, other in zip(found.steps, found.steps[1:], strict=False))
    assert sum(each.ns for each in found.steps) == found.elapsed_ns
    return True


def page(told, *, slept=0.0):
    opened(told)
    told.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=b"GET / HTTP/1.0\r\n\r\n")
    told.say("web", "client", "A", 501, 119, at=60.0, came=80.0, ports=(80, 40000))
    told.say("web", "client", "PA", 501, 119, at=60.0 + slept, came=80.0 + slept, ports=(80, 40000), payload=b"HTTP/1.0 200 OK")


def test_a_page_is_a_handshake_and_a_question(told):
    page(told)
    found = account(told.captures())
    assert adds_up(found)
    assert causes(found) == [
        (Cause.HANDSHAKE, "SYN", 20.0), (Cause.HANDSHAKE, "SYN-ACK", 20.0),
        (Cause.EXCHANGE, "", 20.0), (Cause.EXCHANGE, "", 20.0),
    ]  # fmt: skip
    assert answer(found) == "80 ms: 2 round trips to web (1 TCP handshake, 1 question and answer)"
    assert slopes(found) == {"client-web": 2.0}
    assert found.remainder_ns == 0


def test_a_refused_connection_without_any_delay(told):
    """All happens in one instant: the order in the file says that the answer came after the question."""
    told.say("client", "web", "S", 100, 0, at=0.0, came=0.0)
    told.say("web", "client", "RA", 0, 101, at=0.0, came=0.0, ports=(80, 40000))
    found = account(told.captures())
    assert [(each.source, each.target) for each in found.trips()] == [("client", "web"), ("web", "client")]
    assert found.elapsed_ns == 0


def test_the_last_of_several_questions_on_one_socket_counts(told):
    for at in (0.0, 100.0, 200.0):
        told.ask("client", "web", b"?", at=at, came=at + 20.0)
        told.ask("web", "client", b"!", at=at + 20.0, came=at + 40.0, ports=(53, 40000))
    found = account(told.captures(), whole=True)
    assert adds_up(found)
    assert found.elapsed_ns == 240 * 10**6


def test_a_lookup_of_the_neighbour_belongs_to_the_operation_that_waited_for_it(told):
    told.look_up("client", at=0.0, came=40.0)
    opened(told, at=40.0)
    told.say("client", "web", "PA", 101, 501, at=80.0, came=100.0, payload=b"?")
    told.say("web", "client", "PA", 501, 102, at=100.0, came=120.0, ports=(80, 40000), payload=b"!")
    found = account(told.captures())
    assert adds_up(found)
    assert found.elapsed_ns == 120 * 10**6
    assert sum(each.ms for each in found.of(Cause.NEIGHBOUR)) == 40.0


def test_a_program_that_sleeps_is_a_timer(told):
    page(told, slept=35.0)
    found = account(told.captures())
    assert adds_up(found)
    (timer,) = found.of(Cause.TIMER)
    assert (timer.ms, timer.source, timer.target) == (35.0, "web", "web")
    assert "35 ms timer of the program on web" in answer(found)
    assert largest(found)[1] == "    35.000 ms  timer of the program: nothing arrived meanwhile, web"


def test_where_the_clock_charges_it_may_be_computing(told):
    page(told, slept=35.0)
    found = account(told.captures(), free=False)
    assert [each.ms for each in found.of(Cause.COMPUTING)] == [35.0]
    assert not [*found.of(Cause.TIMER)]


def test_the_queue_is_apart_from_the_distance_and_the_own_bytes(told):
    """A link of 8 Mbit/s takes 1 us a byte; 15,000 bytes are ahead of the answer."""
    opened(told, way=20.0 + 0.054)
    told.say("client", "web", "PA", 101, 501, at=40.108, came=60.2, payload=bytes(38))
    left = 60.2
    for number in range(10):
        left += 1.502
        sequence = 501 + MSS * number
        told.say(
            "web", "client", "A", sequence, 139, at=60.2, left=left, came=left + 20.0, ports=(80, 40000), payload=bytes(MSS)
        )
    found = account(told.captures())
    assert adds_up(found)
    queue = sum(each.ms for each in found.of(Cause.QUEUE))
    *_, own = found.of(Cause.SERIALISATION)
    assert queue == pytest.approx(9 * 1.502, abs=0.05)
    assert own.ms == pytest.approx(1.502, abs=0.01)
    assert [each.detail for each in found.of(Cause.QUEUE)][-1] == "13,518 bytes ahead"


def test_a_lost_syn_is_a_retransmission(told):
    told.say("client", "web", "S", 100, 0, at=0.0)
    opened(told, at=1030.0)
    told.say("client", "web", "PA", 101, 501, at=1070.0, came=1090.0, payload=b"?")
    told.say("web", "client", "PA", 501, 102, at=1090.0, came=1110.0, ports=(80, 40000), payload=b"!")
    found = account(told.captures())
    assert adds_up(found)
    assert causes(found)[0] == (Cause.RETRANSMISSION, "SYN", 1030.0)
    assert found.elapsed_ns == 1_110_000_000


def test_the_window_of_slow_start(told):
    opened(told)
    told.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=b"GET")
    for number in range(10):
        told.say("web", "client", "A", 501 + MSS * number, 104, at=60.0, came=80.0, ports=(80, 40000), payload=bytes(MSS))
    for number in range(10):
        told.say("client", "web", "A", 104, 501 + MSS * (number + 1), at=80.0, came=100.0, window=64000)
    told.say("web", "client", "PA", 501 + MSS * 10, 104, at=100.0, came=120.0, ports=(80, 40000), payload=bytes(500))
    found = account(told.captures())
    assert adds_up(found)
    assert [(each.detail, each.ms) for each in found.of(Cause.WINDOW)] == [("slow start, 10 segments in flight", 20.0)] * 2


def test_a_name_server_that_does_not_answer(told):
    told.ask("client", "db", b"\0\1question", at=0.0)
    told.ask("client", "db", b"\0\1question", at=5000.0, came=5001.0)
    told.ask("db", "client", b"\0\1answer", at=5001.0, came=5002.0, ports=(53, 40000))
    opened(told, at=5002.0, way=1.0, ports=(40001, 80))
    told.say("client", "web", "PA", 101, 501, at=5004.0, came=5005.0, payload=b"?", ports=(40001, 80))
    told.say("web", "client", "PA", 501, 102, at=5005.0, came=5006.0, ports=(80, 40001), payload=b"!")
    found = account(told.captures())
    assert adds_up(found)
    assert causes(found)[:3] == [
        (Cause.NAME, "no answer came", 5000.0),
        (Cause.NAME, "question", 1.0),
        (Cause.NAME, "answer", 1.0),
    ]


def test_of_several_connections_the_last_one(told):
    for number in range(3):
        at, ports = 100.0 * number, (40000 + number, 80)
        opened(told, at=at, ports=ports)
        told.say("client", "web", "PA", 101, 501, at=at + 40, came=at + 60, payload=b"?", ports=ports)
        told.say("web", "client", "FPA", 501, 102, at=at + 60, came=at + 80, ports=ports[::-1], payload=b"!")
    found = account(told.captures())
    assert (found.operation, found.elapsed_ns) == ("the last of 3 connections from client to web", 80_000_000)
    whole = account(told.captures(), whole=True)
    assert adds_up(whole)
    assert whole.elapsed_ns == 280_000_000
    assert [each.ms for each in whole.of(Cause.TIMER)] == [20.0, 20.0]


def test_of_several_connections_the_last_one_that_was_answered_before_the_capture_ended(told):
    """Of the third one, there is the SYN alone: the file was cut off."""
    for number in range(2):
        at, ports = 100.0 * number, (40000 + number, 80)
        opened(told, at=at, ports=ports)
        told.say("client", "web", "PA", 101, 501, at=at + 40, came=at + 60, payload=b"?", ports=ports)
        told.say("web", "client", "FPA", 501, 102, at=at + 60, came=at + 80, ports=ports[::-1], payload=b"!")
    told.say("client", "web", "S", 100, 0, at=200.0, ports=(40002, 80))
    found = account(told.captures())
    assert (found.operation, found.elapsed_ns) == ("the last of 2 connections from client to web", 80_000_000)


def test_a_packet_whose_sender_was_not_captured_is_a_remainder(told):
    page(told)
    captures = [each for each in told.captures() if each.host == "client"]
    found = account(captures, "client")
    assert adds_up(found)
    assert found.remainder_ns == 80_000_000
    assert "not explained" in answer(found)


def test_what_is_asked_of_another_host_is_on_the_path(told):
    opened(told)
    told.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=b"GET")
    for number in range(3):
        at = 60.0 + 10 * number
        told.say("web", "db", "PA", 9 + number, 9 + number, at=at, came=at + 5, ports=(50000, 3306), payload=b"q")
        told.say("db", "web", "PA", 9 + number, 10 + number, at=at + 5, came=at + 10, ports=(3306, 50000), payload=b"a")
    told.say("web", "client", "PA", 501, 104, at=90.0, came=110.0, ports=(80, 40000), payload=b"!")
    found = account(told.captures())
    assert adds_up(found)
    assert slopes(found) == {"client-web": 2.0, "db-web": 3.0}
    assert slopes(found, {("client", "web"): ["client-switch", "web-switch"], ("db", "web"): ["db-switch", "web-switch"]}) == {
        "client-switch": 2.0, "web-switch": 5.0, "db-switch": 3.0
    }  # fmt: skip
    assert sum(1 for _ in folded(found.steps)) == len([each for each in found.steps if each.ns])


def test_the_text_is_at_most_40_lines_of_80_columns(told):
    opened(told)
    for number in range(200):
        at = 40.0 + 45 * number
        told.say("client", "web", "PA", 101 + number, 501 + number, at=at + 5 * (number % 2), came=at + 20, payload=b"?")
        told.say("web", "client", "PA", 501 + number, 102 + number, at=at + 20, came=at + 40, ports=(80, 40000), payload=b"!")
    found = account(told.captures())
    assert adds_up(found)
    lines = text(found).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80


def test_datagrams_that_the_kernel_divides_keep_the_time_at_which_they_were_sent(told):
    """QUIC's programs give the kernel several datagrams as one: the queue holds them for 20 ms, not the program."""
    ports = (40000, 443)
    told.ask("client", "web", b"\xc0" + bytes(1199), at=0.0, left=20.0, came=20.0, ports=ports)
    pieces = [b"\xc1" + bytes(1199), b"\xe2" + bytes(1199), b"\x43" + bytes(300)]
    told.ask_divided("web", "client", pieces, at=20.0, left=40.0, came=40.0, ports=ports[::-1])
    told.ask("client", "web", b"\x41" + bytes(40), at=40.0, left=60.0, came=60.0, ports=ports)
    found = account(told.captures())
    assert adds_up(found)
    assert causes(found) == [(Cause.TLS, "QUIC's handshake", 20.0), (Cause.TLS, "QUIC's handshake", 20.0)]


def of_quic(told, *, lost):
    """A handshake, then a question that is sent again after 120 ms: the first one is lost, or only late."""
    ports = (40000, 443)
    told.ask("client", "web", b"\xc0\0\0\0\1" + bytes(1195), at=0.0, came=20.0, ports=ports)
    told.ask("web", "client", b"\xc1\0\0\0\1" + bytes(1195), at=20.0, came=40.0, ports=ports[::-1])
    told.ask("client", "web", b"\x41" + bytes(99), at=40.0, came=None if lost else 60.0, ports=ports)
    told.ask("client", "web", b"\x42" + bytes(99), at=160.0, came=180.0, ports=ports)
    told.ask("web", "client", b"\x43" + bytes(600), at=180.0, came=200.0, ports=ports[::-1])
    told.ask("client", "web", b"\x44" + bytes(40), at=200.0, came=220.0, ports=ports)
    told.ask("web", "client", b"\x45" + bytes(300), at=220.0, came=240.0, ports=ports[::-1])
    told.ask("client", "web", b"\x46" + bytes(20), at=240.0, came=260.0, ports=ports)


@pytest.mark.parametrize("lost", [True, False])
def test_a_probe_of_quic_is_no_timer_of_the_program(told, lost):
    of_quic(told, lost=lost)
    (wait,) = (each for each in account(told.captures()).steps if each.source == each.target and each.ms > 1)
    cause = (Cause.RETRANSMISSION, "QUIC's probe, 1 lost") if lost else (Cause.TIMER, "nothing arrived meanwhile")
    assert (wait.cause, wait.detail, wait.ms) == (*cause, 120.0)


@pytest.mark.parametrize(("lost", "delayed"), [((0,), 0), ((4,), 25), ((8, 9), 25), ((), 25)])
def test_what_quic_sends_again_for_an_ack_is_no_question(told, lost, delayed):
    """Some of ten datagrams are lost: the ACK, which may come 25 ms late, brings them again. Otherwise it opens the window."""
    there, back = {"ports": (40000, 443)}, {"ports": (443, 40000)}
    told.ask("client", "web", b"\xc0\0\0\0\1" + bytes(1195), at=0, came=20, **there)
    told.ask("web", "client", b"\xc0\0\0\0\1" + bytes(1195), at=20, came=40, **back)
    told.ask("client", "web", b"\x41" + bytes(99), at=40, came=60, **there)
    for number in range(10):
        payload = b"\x50" + bytes([number]) * 1200
        told.ask("web", "client", payload, at=60, came=None if number in lost else 80, **back)
    at = 80 + delayed
    told.ask("client", "web", b"\x51" + bytes(35), at=at, came=at + 20, **there)
    for number in range(3):
        told.ask("web", "client", b"\x52" + bytes([number]) * 1200, at=at + 20, came=at + 40, **back)
    told.ask("client", "web", b"\x53" + bytes(20), at=at + 40, came=at + 60, **there)
    found = account(told.captures())
    assert adds_up(found)
    window = Cause.WINDOW, "QUIC's congestion or flow control"
    cause, detail = (Cause.RETRANSMISSION, f"QUIC's, {len(lost)} lost") if lost else window
    waited = [(Cause.DELAYED_ACK, "QUIC's", 25.0)] if delayed else []
    assert causes(found)[3:-1] == [(cause, detail, 20.0), *waited, (cause, detail, 20.0)]
    assert not list(found.of(Cause.TIMER))


def test_an_operation_of_quic_ends_with_its_answer_as_far_as_that_is_known(told):
    """With 0-RTT the answer comes before the handshake's end."""
    of_quic(told, lost=False)
    found = [
        account(told.captures(), is_of_request=known).elapsed_ns / 1e6
        for known in (lambda packet: False, lambda packet: packet.length == 601)
    ]
    assert found == [240.0, 200.0]


def test_a_router_forwards_a_message_which_counts_once(told):
    def segment(ports, sequence, acknowledged, flags, payload=b""):
        return struct.pack("!HHIIBBHHH", *ports, sequence, acknowledged, 0x50, flags, 64000, 0, 0) + payload

    def there(inner, at):
        told.forward("client", "web", inner, hops=[("client", "router", at, at + 5.0), ("router", "web", at + 5.0, at + 15.0)])

    def back(inner, at):
        told.forward(
            "web", "client", inner, hops=[("web", "router", at, at + 10.0), ("router", "client", at + 10.0, at + 15.0)]
        )

    there(segment((40000, 80), 100, 0, 2), 0.0)
    back(segment((80, 40000), 500, 101, 18), 15.0)
    there(segment((40000, 80), 101, 501, 16), 30.0)
    there(segment((40000, 80), 101, 501, 24, b"?"), 30.0)
    back(segment((80, 40000), 501, 102, 24, b"!"), 45.0)
    found = account(told.captures())
    assert adds_up(found)
    assert answer(found) == "60 ms: 2 round trips to web (1 TCP handshake, 1 question and answer)"
    assert slopes(found) == {"client-router": 2.0, "router-web": 2.0}
    assert {each.hops for each in found.trips()} == {
        (("client", "router"), ("router", "web")),
        (("web", "router"), ("router", "client")),
    }


def test_tls_after_words_in_plain_text(told):
    """PostgreSQL, SMTP and LDAP begin in plain text: one byte says that TLS may begin."""
    opened(told)
    hello = b"\x16\x03\x01\0\x64\x01\0\0\x60" + bytes(96)
    told.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=b"\0\0\0\x08\x04\xd2\x16\x2f")
    told.say("web", "client", "PA", 501, 109, at=60.0, came=80.0, ports=(80, 40000), payload=b"S")
    told.say("client", "web", "PA", 109, 502, at=80.0, came=100.0, payload=hello)
    answer_ = hello[:5] + b"\2" + hello[6:] + b"\x14\x03\x03\0\1\1" + b"\x17\x03\x03\0\x40" + bytes(64)
    told.say("web", "client", "PA", 502, 214, at=100.0, came=120.0, ports=(80, 40000), payload=answer_)
    found = account(told.captures())
    assert adds_up(found)
    assert [each.detail for each in found.of(Cause.TLS)] == ["ClientHello", "ServerHello, certificate, Finished"]


def test_the_client_is_the_first_that_asked_not_the_first_that_sent(told):
    """What is left of earlier connections comes first: the database closes one."""
    told.say("db", "web", "FA", 9, 9, at=0.0, came=1.0, ports=(3306, 50000))
    told.say("web", "db", "A", 9, 10, at=1.0, came=2.0, ports=(50000, 3306))
    told.say("web", "db", "PA", 7, 7, at=10.0, came=15.0, ports=(50001, 3306), payload=b"q")
    told.say("db", "web", "PA", 7, 8, at=15.0, came=20.0, ports=(3306, 50001), payload=b"a")
    found = account(told.captures())
    assert (found.operation, found.elapsed_ns) == ("what web asked of db", 10_000_000)


def test_a_retransmission_on_a_connection_with_a_later_request_is_no_wait_for_another_one(told):
    """The first of two answers on one connection is lost; the second request had come meanwhile."""
    opened(told)
    told.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=b"1")
    told.say("web", "client", "PA", 501, 102, at=60.0, left=60.0, ports=(80, 40000), payload=bytes(500))
    told.say("web", "client", "PA", 1001, 102, at=60.01, came=80.01, ports=(80, 40000), payload=bytes(500))
    told.say("client", "web", "PA", 102, 501, at=45.0, came=65.0, payload=b"2")
    told.say("client", "web", "A", 103, 501, at=80.01, came=100.01)
    told.say("web", "client", "PA", 501, 102, at=100.01, came=120.01, ports=(80, 40000), payload=bytes(500))
    found = account(told.captures())
    assert adds_up(found)
    assert not [*found.of(Cause.WAITING)]
    assert {each.detail for each in found.of(Cause.RETRANSMISSION)} == {"fast"}


@pytest.mark.parametrize(("length", "cause"), [(35, "HTTP/2's"), (13, "HTTP/2's"), (48, "HTTP/2's"), (33, "")])
def test_an_upload_waits_for_windows_of_http2(told, length, cause):
    """The server answers each 6,000 bytes with a WINDOW_UPDATE of 13 bytes, in a record of TLS 1.3 or plain."""
    opened(told)
    sequence, at = 101, 40.0
    for number in range(4):
        for part in range(4):
            size = 1448 if part < 3 else 500
            told.say("client", "web", "PA", sequence, 501 + number * length, at=at, came=at + 20, payload=bytes(size))
            sequence += size
        back = 501 + number * length
        told.say("web", "client", "PA", back, sequence, at=at + 20, came=at + 40, ports=(80, 40000), payload=bytes(length))
        at += 40.0
    found = account(told.captures())
    assert adds_up(found)
    windows = [each.detail for each in found.of(Cause.WINDOW)]
    assert windows == ([cause] * 6 if cause else [])


@pytest.mark.parametrize(
    ("client", "error", "what"),
    [("db", ExperimentError, "no capture of a host 'db'"), ("web", ToolError, "web asked nothing: there is nothing")],
)
def test_mistakes_are_one_line(told, client, error, what):
    page(told)
    with pytest.raises(error, match=what):
        account(told.captures(), client)


def test_the_rest_is_imported_without_it():
    """Only its doors name the package, in functions: a slownet without it measures, judges and reports."""
    code = """
import sys
from dataclasses import replace
sys.modules["slownet.waits"] = None
import slownet.cli.app, slownet.report.html_page, slownet.api.calls, slownet.runner.inside
import slownet.pytest_plugin.session
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_captures_without_packets(told, tmp_path):
    page(told)
    for each in told.captures():
        for path in (tmp_path / each.main, tmp_path / each.before):
            path.write_bytes(path.read_bytes()[:24])
    with pytest.raises(ToolError, match="the captures have no packet"):
        account([HostCapture("client", (), Outbox(tmp_path), "client.main.pcap", "client.before.pcap")])


@pytest.mark.parametrize("kind", ["main", "before"])
def test_a_link_that_a_lab_left_is_not_followed(told, tmp_path, kind):
    page(told)
    captures = told.captures()
    path = tmp_path / getattr(captures[0], kind)
    elsewhere = tmp_path / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    with pytest.raises(ToolError, match="the capture cannot be read"):
        account(captures)


def test_a_capture_that_is_a_link_by_now_is_not_dissected(told, tmp_path):
    page(told)
    captures = told.captures()
    asked = dissected.Messages(captures)

    def late(packet):
        for each in captures:
            path = tmp_path / each.main
            path.unlink()
            path.symlink_to("/dev/zero")
        return asked(packet)

    account(captures, asked=lambda packet: late(packet) if packet.length else "")
    (note,) = asked.notes
    assert note == dissected.MISSING or "is not dissected" in note


def test_one_capture_is_dissected_for_all_that_passes_a_host(told, monkeypatch):
    """That of the web server has what the client and the database say, too."""
    opened(told)
    told.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=b"?")
    opened(told, at=60.0)
    for at in (60.0, 80.0):
        told.say("web", "db", "PA", 101 + int(at), 501, at=at, came=at + 10, payload=b"q", ports=(50000, 3306))
        told.say("db", "web", "PA", 501 + int(at), 102, at=at + 10, came=at + 20, payload=b"a", ports=(3306, 50000))
    told.say("web", "client", "PA", 501, 102, at=100.0, came=120.0, payload=b"!", ports=(80, 40000))
    read = []
    monkeypatch.setattr(dissected.shutil, "which", lambda name: "/usr/bin/tshark")
    monkeypatch.setattr(
        dissected, "_dissect", lambda program, file, keys: read.append(1) or ((n, f"frame {n}", False) for n in range(99))
    )
    captures = told.captures()
    found = account(captures, asked=(asked := dissected.Messages(captures)))
    said = [each.asked for each in found.trips() if each.size]
    assert len(said) == 6
    assert all(said)
    assert len(read) == 1
    assert asked.notes == []


SHORT = """\
4\tHTTP\tGET / HTTP/1.0 \t\t
9\tHTTP\tHTTP/1.1 200 OK [Packet size limited during capture]\t\t
10\tHTTP\tContinuation[Packet size limited during capture]\t\t
12\tMySQL\tRequest Query[Packet size limited during capture]\tSELECT wp_posts.*\t
14\tMySQL\tResponse [BoundErrorUnreassembled Packet]\t\t
15\tTLSv1.3\tContinuation Data\t\t
"""
"""What tshark 4.0 prints of captures of a WordPress page with 256 bytes a packet."""


def test_messages_of_packets_that_were_not_captured_whole(tmp_path):
    program = tmp_path / "tshark"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{SHORT}END\n")
    program.chmod(0o755)
    with (tmp_path / "tshark").open("rb") as file:
        found = {number: text for number, text, _ in dissected._dissect(str(program), file, b"")}
    assert found == {4: "GET / HTTP/1.0", 9: "HTTP/1.1 200 OK", 12: "SELECT wp_posts.*", 14: "Response"}


def test_a_capture_that_is_cut_off_loses_nothing_before(told):
    page(told)
    captures = told.captures()
    path = next(each.folder.folder / each.main for each in captures if each.host == "client")
    path.write_bytes(path.read_bytes()[:-8])
    found = account(captures)
    assert adds_up(found)
    assert any("cut short" in note for note in found.notes)


def test_a_host_without_a_capture_before_its_queue(told):
    """The queue's time counts as the host's, and the account says so."""
    page(told)
    captures = [replace(each, before=None) if each.host == "web" else each for each in told.captures()]
    found = account(captures)
    assert adds_up(found)
    assert found.remainder_ns == 0
    assert answer(found) == "80 ms: 2 round trips to web (1 TCP handshake, 1 question and answer)"
    assert found.notes == ("web: no capture before the queue, so what a queue delayed counts as the host's",)


@pytest.mark.parametrize(("resets", "elapsed"), [(False, 120), (True, 80)])
def test_an_answer_after_the_client_closed_its_own_direction(told, resets, elapsed):
    """It half-closes and waits for the rest; a client that had closed for good answers data with a RST."""
    opened(told)
    told.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=b"?")
    told.say("web", "client", "PA", 501, 102, at=60.0, came=80.0, ports=(80, 40000), payload=b"1")
    told.say("client", "web", "FA", 102, 502, at=80.0, came=100.0)
    told.say("web", "client", "PA", 502, 103, at=100.0, came=120.0, ports=(80, 40000), payload=b"2")
    told.say("client", "web", "R" if resets else "A", 103, 503, at=120.0, came=140.0)
    found = account(told.captures())
    assert adds_up(found)
    assert found.elapsed_ns == elapsed * 10**6


def test_an_upload_that_is_not_answered_ends_with_its_last_acknowledgement(told):
    opened(told)
    told.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=bytes(1000))
    told.say("client", "web", "FA", 1101, 501, at=40.0, came=60.0)
    told.say("web", "client", "A", 501, 1102, at=60.0, came=80.0, ports=(80, 40000))
    found = account(told.captures())
    assert adds_up(found)
    assert found.elapsed_ns == 80 * 10**6


def test_a_link_that_became_longer_is_not_slow(told):
    """Small packets crossed it in an instant; 200 ms later it has 5 ms, and all packets are large: no byte takes time."""
    opened(told, way=0.0)
    at, sent = 0.0, 101
    for number in range(20):
        size, way = (60, 0.0) if number < 3 else (1200, 5.0)
        at = at + 1.0 if number != 3 else 200.0
        told.say("client", "web", "PA", sent, 501 + number, at=at, came=at + way, payload=bytes(size))
        told.say(
            "web", "client", "PA", 501 + number, sent + size, at=at + way, came=at + 2 * way, ports=(80, 40000), payload=b"!"
        )
        at, sent = at + 2 * way, sent + size
    found = account(told.captures())
    assert adds_up(found)
    assert not list(found.of(Cause.SERIALISATION))
    assert sum(each.ms for each in found.of(Cause.EXCHANGE)) == pytest.approx(17 * 10)


def test_what_arrived_long_before_a_timer_is_not_gone_through(told, monkeypatch):
    """Two transfers of one host, each with timers between its segments: only ACKs, of either connection, are before those."""
    looked, precedes, segments = [], Packet.precedes, 300
    monkeypatch.setattr(Packet, "precedes", lambda packet, sent: looked.append(packet) or precedes(packet, sent))
    for ports in ((40000, 80), (40001, 81)):
        opened(told, ports=ports)
    for number in range(segments):
        for place, ports in enumerate(((40000, 80), (40001, 81))):
            at, begin = 50.0 + 2 * number + place, 101 + MSS * number
            told.say("client", "web", "PA", begin, 501, at=at, came=at + 20, payload=bytes(MSS), ports=ports)
            told.say("web", "client", "A", 501, begin + MSS, at=at + 20, came=at + 39.5, ports=ports[::-1])
    found = account(told.captures(), "client")
    assert adds_up(found)
    assert len(list(found.of(Cause.TIMER))) > segments / 2
    assert len(looked) < 40 * segments


def test_datagrams_that_are_all_alike_are_matched_in_order(told):
    for number in range(50):
        told.number = 0
        told.ask("client", "web", b"same", at=2.0 * number, came=2.0 * number + 5)
    received = trace.read(told.captures()).hosts["web"].received
    assert [each.arrived - each.sent for each in received] == [5_000_000] * 50


def paced(told, *, flags, every=6.0, length=MSS):
    """An answer of twelve segments, one each 6 ms, whose ACKs arrive between two of them."""
    opened(told, window=65535)
    told.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=b"?", window=65535)
    for number in range(12):
        at, begin = 60.0 + every * number, 501 + length * number
        said = flags if number < 11 else "PA"
        told.say("web", "client", said, begin, 102, at=at, came=at + 20, ports=(80, 40000), payload=bytes(length))
        told.say("client", "web", "A", 102, begin + length, at=at + 20, came=at + 43, window=65535)
    return account(told.captures())


def test_segments_of_one_write_that_a_rate_holds_back(told):
    found = paced(told, flags="A")
    assert adds_up(found)
    of_pacing = [each for each in found.of(Cause.WINDOW) if each.source == each.target]
    assert {(each.source, each.detail, each.ms) for each in of_pacing} == {("web", "pacing, 1.93 Mbit/s", 6.0)}
    assert len(of_pacing) == 11
    assert not list(found.of(Cause.TIMER))
    assert "11 x" not in text(found)
    assert "window: pacing, 1.93 Mbit/s, web" in text(found)
    assert answer(found).endswith("66 ms window on web (pacing)")
    assert "web;window;pacing 6000" in set(folded(found.steps))


@pytest.mark.parametrize(("flags", "length"), [("PA", MSS), ("A", 100)])
def test_writes_of_a_program_are_not_paced(told, flags, length):
    """Each segment ends a write, or is not full."""
    found = paced(told, flags=flags, length=length)
    assert [each.ms for each in found.of(Cause.TIMER)] == [6.0] * 11
    assert not [each for each in found.of(Cause.WINDOW) if each.source == each.target]


def test_connections_of_a_program_before_are_not_the_operation(told):
    """A stopped upload ends with resets, for segments that were in a queue yet, before the client opens a connection."""
    for number in range(2):
        begin = 900 + MSS * number
        told.say("web", "client", "A", begin, 7, at=1.0 + number, came=11.0 + number, ports=(5201, 40001), payload=bytes(MSS))
        told.say("client", "web", "R", 7, 0, at=11.0 + number, came=21.0 + number, ports=(40001, 5201))
    opened(told, at=100.0)
    told.say("client", "web", "PA", 101, 501, at=140.0, came=160.0, payload=b"?")
    told.say("web", "client", "PA", 501, 102, at=160.0, came=180.0, ports=(80, 40000), payload=b"!")
    found = account(told.captures())
    assert (found.client, found.elapsed_ns) == ("client", 80_000_000)
    assert not found.beside


@pytest.mark.parametrize("junk", [b"", b"<html>", bytes(4096)])
def test_a_file_that_is_not_a_capture_is_measured_again(told, junk):
    page(told)
    captures = told.captures()
    (told.folder / captures[0].main).write_bytes(junk)
    with pytest.raises(ToolError, match="the capture cannot be read") as caught:
        account(captures)
    assert "measure it again with" in str(caught.value.fix)
    assert "tcpdump" not in str(caught.value)


def test_a_way_that_became_longer_at_the_end_is_not_a_queue(told):
    """The last answer takes 30 ms more than those before, and so does what the server sends after it for reasons of its own."""
    opened(told)
    for number in range(6):
        at, more = 40.0 + 40 * number, 30 * (number == 5)
        told.say("client", "web", "PA", 101 + number, 501 + number, at=at, came=at + 20, payload=b"?")
        told.say(
            "web", "client", "PA", 501 + number, 102 + number, at=at + 20, came=at + 40 + more, ports=(80, 40000), payload=b"!"
        )
    for number in range(5):
        told.ask("web", "client", b"news", at=320.0 + number, came=370.0 + number, ports=(5000, 5001))
    found = account(told.captures(), "client")
    assert adds_up(found)
    assert {each.cause for each in found.steps if each.ns} == {Cause.HANDSHAKE, Cause.EXCHANGE}
    assert found.elapsed_ns == 310_000_000


def test_captures_that_are_cut_off_before_their_first_packet_are_measured_again(told):
    page(told)
    captures = told.captures()
    for name in (name for each in captures for name in (each.main, each.before)):
        (told.folder / name).write_bytes((told.folder / name).read_bytes()[:60])
    with pytest.raises(ToolError, match=r"no packet \(client.before.pcap: the file is cut short") as caught:
        account(captures)
    assert "measure it again with" in str(caught.value.fix)


def test_captures_of_one_host_that_are_cut_off_name_the_file(told):
    """What the client sent is missing, so it seems to have asked nothing."""
    page(told)
    captures = told.captures()
    for name in (name for each in captures if each.host == "client" for name in (each.main, each.before)):
        (told.folder / name).write_bytes((told.folder / name).read_bytes()[:60])
    with pytest.raises(ToolError, match=r"client asked nothing: .* \(client.before.pcap: the file is cut short"):
        account(captures, "client")
    with pytest.raises(ToolError, match="web asked nothing: there is nothing to account for: name another"):
        account(told.captures(), "web")


def test_an_operation_that_takes_no_time_has_no_parts_of_none(told):
    opened(told, way=0.0)
    told.say("client", "web", "PA", 101, 501, at=0.0, came=0.0, payload=b"?")
    told.say("web", "client", "PA", 501, 102, at=0.0, came=0.0, ports=(80, 40000), payload=b"!")
    assert answer(account(told.captures())) == "0 ms: 1 round trip to web of question and answer"


def test_later_flights_are_not_slow_because_readings_of_the_clock_delay_them(told):
    """Each answer of two segments on a way of 100 ms follows the one before by 50 ms, and takes 2 us longer than that."""
    opened(told, way=100.0)
    told.say("client", "web", "PA", 101, 501, at=200.0, came=300.0, payload=b"?")
    for number in range(40):
        at, begin = 300.0 + 50 * number, 501 + 2 * MSS * number
        for place in range(2):
            came = at + 100 + 0.002 * number
            told.say("web", "client", "PA", begin + MSS * place, 102, at=at, came=came, ports=(80, 40000), payload=bytes(MSS))
    found = account(told.captures())
    assert adds_up(found)
    assert sum(each.ns for each in found.of(Cause.SERIALISATION)) + sum(each.ns for each in found.of(Cause.QUEUE)) < 100_000


@pytest.mark.parametrize(("late", "cause"), [(0.025, Cause.COMPUTING), (0.25, Cause.QUEUE)])
def test_a_packet_that_was_due_while_a_program_read_the_clock_waited_in_no_queue(told, late, cause):
    """On a link without a rate: some readings of 1 us may come between, as with the other program of a lab. Not 250."""
    page(told)
    told.say("client", "web", "PA", 119, 516, at=80.0, came=100.0, payload=b"GET / HTTP/1.0\r\n\r\n")
    told.say("web", "client", "PA", 516, 137, at=100.0, came=120.0 + late, ports=(80, 40000), payload=b"HTTP/1.0 200 OK")
    found = account(told.captures())
    assert adds_up(found)
    assert [(each.cause, each.ms) for each in found.steps if each.ms < 1] == [(cause, pytest.approx(late))]


def test_a_short_queue_of_small_packets_stays_one(told):
    """Acknowledgements that leave one after the other: a link of 10 Mbit/s takes 43 us for each."""
    opened(told, way=20.0432)
    at = 40.0864
    told.say("client", "web", "PA", 101, 501, at=at, came=at + 20.0432, payload=b"?")
    at += 20.0432
    for number in range(2):
        came = at + 20.0432 + 0.0432 * number
        told.say("web", "client", "A", 501, 102, at=at, left=came - 20, came=came, ports=(80, 40000), payload=b"+"[:number])
    found = account(told.captures())
    assert adds_up(found)
    assert [each.cause for each in found.steps if each.ms < 1] == [Cause.QUEUE]


def test_a_way_that_became_shorter_afterwards_says_nothing_of_the_time_before(told):
    """A condition ends with its cell, and the connections are closed without it."""
    opened(told)
    told.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=b"?")
    told.say("web", "client", "PA", 501, 102, at=60.0, came=80.0, ports=(80, 40000), payload=b"!")
    for number in range(5):
        at = 90.0 + number
        told.ask("web", "client", b"news", at=at, came=at + 0.01, ports=(5000, 5001))
        told.say("client", "web", "A", 102, 502, at=at + 0.5, came=at + 0.51)
    found = account(told.captures(), "client")
    assert adds_up(found)
    assert not list(found.of(Cause.QUEUE))
    assert found.elapsed_ns == 80_000_000
