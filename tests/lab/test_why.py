"""Accounts of operations whose truth is known, because they were made so, on the lab's kernel at free CPU."""

import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from why_scenarios import (
    ANSWER,
    READINGS_MS,
    TRUTHS,
    answers,
    ask,
    kernel_of,
    losing,
    ms,
    right,
    running,
    same,
    says,
    serving,
    why,
)

import slownet
from slownet.model.errors import ExperimentError, ToolError
from slownet.net import interface_captures, sleeping_calls
from slownet.services.https import certificate
from slownet.topologies import ClientWebDb
from slownet.waits import timers
from slownet.waits.account import Cause

TOPOLOGY = ClientWebDb
HALF_A_TRIP = 20
"""ms: a wait with another name is a round trip of 40 ms; the kernel counts in ticks of 4 ms."""
pytestmark = pytest.mark.usefixtures("free")


def test_a_question_and_a_handshake(far, tmp_path):
    with serving(far["web"], ANSWER):
        found = why(far, tmp_path, ask(far))
    answers(found, 80, "2 round trips to web (1 TCP handshake, 1 question and answer)")


def test_a_program_that_sleeps_35_ms(far, tmp_path):
    with serving(far["web"], "c.recv(99); time.sleep(0.035); c.sendall(b'!'); c.close()"):
        found = why(far, tmp_path, ask(far))
    right(found, Cause.TIMER, 35, READINGS_MS)
    assert {each.source for each in found.of(Cause.TIMER)} == {"web"}


def test_a_client_that_sleeps_between_two_questions(far, tmp_path):
    with serving(far["web"], "\n    while c.recv(99): c.sendall(b'!')"):
        found = why(far, tmp_path, ask(far, "s.sendall(b'?'); s.recv(9); time.sleep(0.035); s.sendall(b'?'); s.recv(9)"))
    right(found, Cause.TIMER, 35, READINGS_MS)
    assert {each.source for each in found.of(Cause.TIMER)} == {"client"}
    right(found, Cause.EXCHANGE, 80, READINGS_MS)


def test_three_questions_to_another_host(far, tmp_path):
    address = far["db"].IP()
    asks = f"d = socket.create_connection(('{address}', 3306)); [(d.sendall(b'q'), d.recv(9)) for _ in range(3)]"
    with (
        serving(far["db"], "\n    while c.recv(99): c.sendall(b'a')", port=3306),
        serving(far["web"], f"c.recv(99); {asks}; c.sendall(b'!'); c.close(); d.close()"),
    ):
        found = why(far, tmp_path, ask(far))
    trips = [{each.source, each.target} for each in found.trips()]
    assert trips.count({"web", "db"}) == 10  # with the lookup of the neighbour's address
    right(found, Cause.NEIGHBOUR, 10, 0.1)
    right(found, Cause.EXCHANGE, 70, 0.2)
    right(found, Cause.HANDSHAKE, 50, 0.2)


def test_an_ack_that_comes_before_the_answer_is_not_its_cause(far, tmp_path):
    """An answer is two segments. The ACK of the second follows the next question by 5 us; the server answers 30 us later."""
    answers = "[time.monotonic() for _ in range(30)]; c.sendall(b'!'); [time.monotonic() for _ in range(5)]; c.sendall(b'+')"
    nodelay = "setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)"
    quick = "s.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)"
    asks = f"s.sendall(b'?')\nfor n in range(5): s.recv(1); s.sendall(b'?'); {quick}; s.recv(1)\ns.recv(1)"
    with serving(far["web"], f"c.{nodelay}\n    while c.recv(1): {answers}"):
        found = why(far, tmp_path, ask(far, asks, before=f"s.{nodelay}"))
    right(found, Cause.EXCHANGE, 6 * 40, READINGS_MS)
    assert ms(found, Cause.WINDOW) == 0


def test_a_lost_syn(far, tmp_path):
    with (
        serving(far["web"], ANSWER),
        losing(far["web"], "tcp dport 80 tcp flags & (syn | ack) == syn"),
    ):
        found = why(far, tmp_path, ask(far))
    right(found, Cause.RETRANSMISSION, 1030, 30, "SYN")


FILLED = """
import socket, sys
filler = socket.create_connection(("{web}", 80)); print(flush=True); sys.stdin.readline()
s = socket.create_connection(("{web}", 80)); s.sendall(b"?"); s.recv(9); s.close()
"""


def test_a_syn_that_finds_the_queue_of_connections_full(far, tmp_path):
    """The server's queue has room for one connection, and the server sleeps: the kernel counts a SYN that it drops."""
    late = "s.listen(0); print('up', flush=True); time.sleep(0.5)"
    serve = (
        "import socket, time\ns = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(('', 80))"
    )
    serve += f"\n{late}\nwhile True:\n    c, _ = s.accept(); c.settimeout(0.1)\n    try: c.recv(9); c.sendall(b'!')"
    serve += "\n    except TimeoutError: pass\n    c.close()"
    with running(far["web"], serve):
        found = why(far, tmp_path, FILLED.format(web=far["web"].IP()), meanwhile=lambda: None, whole=True)
    right(found, Cause.RETRANSMISSION, 1030, 30, "SYN, web's queue of connections was full")
    assert any("full queue of new connections" in each for each in found.notes)


QUIC = """
import socket
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.connect(("{address}", 443))
u.send(b"\\xc0\\0\\0\\0\\1" + bytes(1195)); u.recv(2000)
for limit in (0.12, 0.24, 0.48):
    u.settimeout(limit); u.send(b"\\x41" + bytes(99))
    try:
        u.recv(2000); break
    except TimeoutError: pass
u.send(b"\\x42" + bytes(20))
"""
"""Packets as those of QUIC (RFC 9000, 17): one that opens a connection, then short ones, with the timer of a probe; the
last one ends it."""


def test_a_question_of_quic_that_the_servers_filter_drops(far, tmp_path):
    """It has been captured at the server's interface: that it was lost, only the server's kernel knows."""
    with (
        running(far["web"], DATAGRAMS.format(port=443, answer="u.sendto(d, a)")),
        losing(far["web"], "udp dport 443 ip length 128", hook="input"),
    ):
        found = why(far, tmp_path, QUIC.format(address=far["web"].IP()))
    right(found, Cause.RETRANSMISSION, 120, READINGS_MS, "QUIC's probe, web had dropped one")
    assert "web dropped packets that had arrived: 1 by a filter" in found.notes


def test_the_timer_of_a_program_that_uses_quic_is_no_probe(far, tmp_path):
    """Nothing is lost: it asks a second question after 120 ms."""
    program = QUIC.format(address=far["web"].IP()).replace("u.recv(2000); break", "import time; u.recv(2000); time.sleep(0.12)")
    with running(far["web"], DATAGRAMS.format(port=443, answer="u.sendto(d, a)")):
        found = why(far, tmp_path, program)
    right(found, Cause.TIMER, 2 * 120, READINGS_MS)
    assert ms(found, Cause.RETRANSMISSION) == 0


def test_a_lost_tail(far, tmp_path):
    """The whole question is one segment, and it is lost: the tail probe, or what its timer is limited to, sends it again."""
    with serving(far["web"], ANSWER), losing(far["web"], "tcp dport 80 ip length 53"):
        found = why(far, tmp_path, ask(far))
    right(found, Cause.RETRANSMISSION, 40 + 200, 20)


def test_one_of_many_segments_lost_is_sent_again_fast(far, tmp_path):
    with (
        serving(far["web"], "n = 0\n    while n < 14480: n += len(c.recv(99999))\n    c.sendall(b'!'); c.close()"),
        losing(far["web"], "tcp dport 80 ip length 1500"),
    ):
        found = why(far, tmp_path, ask(far, "s.sendall(bytes(14480)); s.recv(9)"))
    right(found, Cause.RETRANSMISSION, 40, 12)
    assert {each.detail[:4] for each in found.of(Cause.RETRANSMISSION)} == {"fast"}


def test_slow_start(far, tmp_path):
    with serving(far["web"], "c.recv(99); c.sendall(bytes(50000)); c.close()"):
        found = why(far, tmp_path, ask(far, "s.sendall(b'?')\nwhile s.recv(99999): pass"))
    right(found, Cause.WINDOW, 80, 0.5, "slow start")
    same(
        [each.detail for each in found.of(Cause.WINDOW)][::2],
        ["slow start, 10 segments in flight", "slow start, 20 segments in flight"],
    )


def sent_through(far, tmp_path, buffer, size):
    """Return the account of a download of so many bytes whose server has a send buffer; the kernel takes twice that."""
    limits = f"c.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, {buffer})"
    with serving(far["web"], f"c.recv(99); {limits}; c.sendall(bytes({size})); c.close()"):
        return why(far, tmp_path, ask(far, "s.sendall(b'?')\nwhile s.recv(99999): pass"))


def test_a_send_buffer_of_8_kb(far, tmp_path):
    """Less than the first window fits, so no window limits; 16 kB at most a round trip are 40 kB in three at least."""
    found = sent_through(far, tmp_path, 8192, 40_000)
    assert ms(found, Cause.WINDOW, "send buffer") >= 2 * 40
    same(set(phases(found)), {"send buffer"})
    assert kernel_of(tmp_path, "web").connections[0].receive_limited_us == 0


@pytest.mark.parametrize(("buffer", "segments"), [(8192, 7), (16_384, 14)])
def test_a_small_send_buffer_after_a_loss(far, tmp_path, buffer, segments):
    """After recovery the window is larger than what fits, or soon is: congestion avoidance adds half a segment a round trip."""
    with losing(far["client"], "tcp sport 80 ip length 1500"):
        found = sent_through(far, tmp_path, buffer, 300_000)
    full = [each for each in found.of(Cause.WINDOW) if each.detail.startswith("send buffer") and each.trip]
    assert {each.detail for each in full} == {f"send buffer, {1448 * segments:,} bytes in flight"}
    avoidance = (segments - 7) / 0.53  # RFC 9438, 4.3
    assert len(full) / 2 >= 300_000 / (1448 * segments) - avoidance - 5
    assert phases(found)[-1] == "send buffer"


def test_slow_start_up_to_a_send_buffer(far, tmp_path):
    """Of 32 kB, of which the kernel makes 64: ten segments fit, and twenty, but no forty with what each costs in memory."""
    found = sent_through(far, tmp_path, 32_768, 150_000)
    right(found, Cause.WINDOW, 2 * 40, READINGS_MS, "slow start")
    assert ms(found, Cause.WINDOW, "send buffer") >= 40
    same(set(phases(found)), {"slow start", "send buffer"})


def test_a_receive_buffer_of_8_kb(far, tmp_path):
    small = "s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)"
    with serving(far["web"], "c.recv(99); c.sendall(bytes(40000)); c.close()"):
        found = why(far, tmp_path, ask(far, "s.sendall(b'?')\nwhile s.recv(99999): pass", before=small))
    assert ms(found, Cause.WINDOW, "receive") >= 120
    assert ms(found, Cause.WINDOW, "slow start") == ms(found, Cause.WINDOW, "send buffer") == 0
    right(found, Cause.WINDOW, kernel_of(tmp_path, "web").connections[0].receive_limited_us / 1000, HALF_A_TRIP, "receive")


def test_the_receive_window_limits_as_long_as_the_kernel_counts(far, tmp_path):
    """An upload through slow start into the receive window: tcp_info's rwnd_limited is what the account gives that window."""
    with serving(far["web"], UPLOAD):
        found = why(far, tmp_path, ask(far, "s.sendall(bytes(300000)); s.recv(9)"))
    right(found, Cause.WINDOW, kernel_of(tmp_path, "client").connections[0].receive_limited_us / 1000, HALF_A_TRIP, "receive")


def test_nagle_and_a_delayed_ack(far, tmp_path):
    """The first exchange is quick; in the second one the second small write waits for the ACK, which waits for a timer."""
    with serving(far["web"], "\n    while len(c.recv(1)) and len(c.recv(1)): c.sendall(b'!')"):
        found = why(far, tmp_path, ask(far, "for n in range(2): s.sendall(b'a'); s.sendall(b'b'); s.recv(9)"))
    assert 40 <= ms(found, Cause.NAGLE, "the ACK was delayed") <= 60
    assert ms(found, Cause.NAGLE) >= 80


def test_a_cork(far, tmp_path):
    cork = "s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)"
    with serving(far["web"], ANSWER):
        found = why(far, tmp_path, ask(far, "s.sendall(b'?'); s.recv(9)", before=cork))
    right(found, Cause.TIMER, 244, 5, "as long as TCP_CORK")


def test_a_full_queue(far, tmp_path):
    """Sixty thousand bytes of another connection are ahead of the answer on a link of 10 Mbit/s."""
    with far.link("web", "switch").set(rate="10mbit", queue="500p"):
        flood = "u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
        flood += "; [u.sendto(bytes(1000), (c.getpeername()[0], 9)) for _ in range(60)]"
        with serving(far["web"], f"c.recv(99); {flood}; c.sendall(b'!'); c.close()"):
            found = why(far, tmp_path, ask(far))
    right(found, Cause.QUEUE, 60 * 1042 * 8 / 10_000, 1.5)


def test_serialisation(far, tmp_path):
    with (
        far.link("web", "switch").set(rate="10mbit"),
        serving(far["web"], "c.recv(99); c.sendall(bytes(1448)); c.recv(9); c.close()"),
    ):
        found = why(far, tmp_path, ask(far, "s.sendall(b'?'); s.recv(2000)"))
    right(found, Cause.SERIALISATION, 1514 * 8 / 10_000, 0.3)


POOL = """
import socket, threading
d = socket.create_connection(("{db}", 3306))
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("", 80)); s.listen(64); print("up", flush=True)
lock = threading.Lock()
def serve(c):
    c.recv(9)
    with lock:
        d.sendall(b"q"); d.recv(9)
    c.sendall(b"!"); c.close()
while True:
    threading.Thread(target=serve, args=(s.accept()[0],)).start()
"""
TWO_AT_ONCE = """
import socket, time
s, t = (socket.create_connection(("{web}", 80)) for _ in range(2))
s.sendall(b"?"); time.sleep(0.02); t.sendall(b"?"); s.recv(9); t.recv(9)
"""


def test_a_pool_of_one(far, tmp_path):
    """The web server has one connection to its database, which takes 100 ms: the second question is 20 ms later."""
    with (
        serving(far["db"], "\n    while c.recv(99): time.sleep(0.1); c.sendall(b'a')", port=3306),
        running(far["web"], POOL.format(db=far["db"].IP())),
    ):
        found = why(far, tmp_path, TWO_AT_ONCE.format(web=far["web"].IP()), whole=True)
    (waited,) = found.of(Cause.WAITING)
    assert waited.source == "web"
    right(found, Cause.WAITING, 90, 1)
    assert {each.source for each in found.of(Cause.TIMER)} == {"client", "db"}


DATAGRAMS = """
import socket, time
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind(("", {port})); print("up", flush=True)
count = 0
while True:
    d, a = u.recvfrom(2048); count += 1; {answer}
"""


def test_a_dead_name_server(far, tmp_path):
    """The first server is not there, the second one answers after the resolver's second."""
    program = f"""
import socket
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(1)
question = bytes([0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]) + b"\\3web\\0\\0\\1\\0\\1"
for server in ("{far["db"].IP()}", "{far["web"].IP()}"):
    u.sendto(question, (server, 53))
    try:
        u.recv(512); break
    except TimeoutError: pass
"""
    with (
        running(far["web"], DATAGRAMS.format(port=53, answer="u.sendto(d, a)")),
        running(far["db"], DATAGRAMS.format(port=53, answer="pass")),
    ):
        found = why(far, tmp_path, program)
    right(found, Cause.NAME, 1000, 2, "no answer came")
    right(found, Cause.NAME, 1040, 2)


def test_a_refused_connection(far, tmp_path):
    program = f"import socket\ntry: socket.create_connection(('{far['web'].IP()}', 81))\nexcept ConnectionRefusedError: pass"
    found = why(far, tmp_path, program)
    right(found, Cause.HANDSHAKE, 40, 0.1)


def test_a_kept_connection(far, tmp_path):
    with serving(far["web"], "\n    while c.recv(99): c.sendall(b'!')"):
        found = why(far, tmp_path, ask(far, "for n in range(20): s.sendall(b'?'); s.recv(9)"))
    answers(found, 840, "21 round trips to web (20 question and answer, 1 TCP handshake)")


def test_a_new_connection_for_each_question(far, tmp_path):
    address = far["web"].IP(), 80
    program = f"import socket\nfor n in range(5):\n    s = socket.create_connection({address})"
    program += "; s.sendall(b'?'); s.recv(9); s.close()"
    with serving(far["web"], ANSWER):
        last, all_of_them = (why(far, tmp_path / str(whole), program, whole=whole) for whole in (False, True))
    answers(last, 80, "2 round trips to web (1 TCP handshake, 1 question and answer)")
    answers(all_of_them, 400, "10 round trips to web (5 TCP handshake, 5 question and answer)")


def test_a_delayed_ack_without_nagle(far, tmp_path):
    """The server waits until its first bytes are acknowledged (SIOCOUTQ), and the client, which has no answer, delays that."""
    serve = (
        "c.recv(99); c.sendall(b'!'); c.recv(99); import fcntl, struct; c.sendall(b'a')\n"
        "    while struct.unpack('i', fcntl.ioctl(c, 0x5411, bytes(4)))[0]: time.sleep(0.0005)\n"
        "    c.sendall(b'b'); c.close()"
    )
    with serving(far["web"], serve):
        found = why(far, tmp_path, ask(far, "s.sendall(b'?'); s.recv(9); s.sendall(b'?')\nwhile s.recv(9): pass"))
    assert found.elapsed_ns >= 160 * 10**6


def test_a_tail_of_many_segments_lost(far, tmp_path):
    """The last of ten full segments is lost: nothing tells of it, and the tail probe sends it again."""
    serve = "n = 0\n    while n < 14480: n += len(c.recv(99999))\n    c.sendall(b'!'); c.close()"
    with serving(far["web"], serve), losing(far["web"], "tcp dport 80 tcp flags & psh == psh ip length 1500"):
        found = why(far, tmp_path, ask(far, "s.sendall(bytes(14480)); s.recv(9)"))
    right(found, Cause.RETRANSMISSION, 240, 10, "tail probe")
    right(found, Cause.RETRANSMISSION, 40, 0.1, "until the ACK")


def test_a_timeout_after_a_lost_tail_probe(far, tmp_path):
    with (
        serving(far["web"], ANSWER),
        losing(
            far["web"],
            "tcp dport 80 ip length 53 limit rate 1/day burst 1 packets drop; add rule ip lost c tcp dport 80 ip length 53",
        ),
    ):
        found = why(far, tmp_path, ask(far))
    same([each.detail for each in found.of(Cause.RETRANSMISSION)], ["tail probe", "timeout"])


def test_a_lost_syn_ack(far, tmp_path):
    """Both ends send it again after a second: the client's SYN arrives first, and brings another SYN-ACK."""
    with serving(far["web"], ANSWER), losing(far["client"], "tcp sport 80 tcp flags & (syn | ack) == (syn | ack)"):
        found = why(far, tmp_path, ask(far))
    right(found, Cause.RETRANSMISSION, 980, 40)  # the SYN-ACK had crossed the link


def test_a_proxy_between(far, tmp_path):
    relay = f"d = socket.create_connection(('{far['db'].IP()}', 81)); d.sendall(c.recv(99))"
    relay += "; c.sendall(d.recv(99)); c.close(); d.close()"
    with serving(far["db"], ANSWER, port=81), serving(far["web"], relay):
        found = why(far, tmp_path, ask(far))
    right(found, Cause.EXCHANGE, 50, 0.2)
    same(ms(found, Cause.TIMER) + ms(found, Cause.WAITING), 0)


def test_what_ran_beside_has_slack(far, tmp_path):
    """Two connections at once: the one to the web server, 10 ms nearer than the database, had 10 ms to spare."""
    program = f"""
import socket
s, t = socket.socket(), socket.socket()
s.setblocking(False); t.setblocking(False)
for each, to in ((s, ("{far["web"].IP()}", 80)), (t, ("{far["db"].IP()}", 80))):
    try: each.connect(to)
    except BlockingIOError: pass
import select
waiting = {{s, t}}
select.select([], [t], []); t.send(b"?"); select.select([], [s], []); s.send(b"?")
s.setblocking(True); s.recv(9); t.setblocking(True); t.recv(9)
"""
    with serving(far["web"], ANSWER), serving(far["db"], ANSWER):
        found = why(far, tmp_path, program)
    (beside,) = found.beside
    assert (beside.target, beside.slack_ns) == ("web", pytest.approx(10 * 10**6, abs=READINGS_MS * 10**6))


def test_an_upload_in_the_window_of_http2(far, tmp_path):
    """The server allows 64 kB, and as many more with each of four WINDOW_UPDATE frames of 13 bytes."""
    update = "bytes.fromhex('000004080000000000') + (65536).to_bytes(4, 'big')"
    serve = (
        f"\n    for n in range(4): c.recv(65536, socket.MSG_WAITALL); c.sendall({update})\n    c.sendall(b'!' * 20); c.close()"
    )
    upload = "\nfor n in range(4): s.sendall(bytes(65536)); s.recv(13, socket.MSG_WAITALL)\ns.recv(20, socket.MSG_WAITALL)"
    with serving(far["web"], serve):
        found = why(far, tmp_path, ask(far, upload))
    right(found, Cause.WINDOW, 3 * 40, 1, "HTTP/2's")
    assert ms(found, Cause.TIMER) == ms(found, Cause.QUEUE) == 0


def test_the_window_of_ssh(far, tmp_path):
    """Like a copy by scp: 32 kB each time that the other end has made room, in messages of 36 bytes."""
    serve = "\n    for n in range(5): c.recv(32768, socket.MSG_WAITALL); c.sendall(bytes(36))\n    c.close()"
    copy = "\nfor n in range(5): s.sendall(bytes(32768)); s.recv(36, socket.MSG_WAITALL)"
    with serving(far["web"], serve, port=22):
        found = why(far, tmp_path, ask(far, copy, port=22))
    right(found, Cause.WINDOW, 4 * 40, 1, "SSH's")


SECURE = """
import ssl
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain("{certificate}", "{key}")
"""


@pytest.mark.parametrize(("version", "trips"), [("TLSv1_2", 2), ("TLSv1_3", 1)])
def test_a_handshake_of_tls(far, tmp_path, version, trips):
    """RFC 5246 needs two round trips before the question, RFC 8446 one."""
    public, private = certificate(tmp_path)
    serve = "c = context.wrap_socket(c, server_side=True); c.recv(99); c.sendall(b'!'); c.close()"
    lines = (
        "import ssl; context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT); context.check_hostname = False",
        f"context.verify_mode = ssl.CERT_NONE; context.maximum_version = ssl.TLSVersion.{version}",
        "s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)",
        "s = context.wrap_socket(s); s.sendall(b'?'); s.recv(9)",
    )
    with serving(far["web"], serve, port=443, options=SECURE.format(certificate=public, key=private)):
        found = why(far, tmp_path, ask(far, "\n".join(lines), port=443))
    right(found, Cause.TLS, 40 * trips, 0.5)
    right(found, Cause.HANDSHAKE, 40, 0.5)
    right(found, Cause.EXCHANGE, 40, 0.5)


@pytest.fixture
def unknown(far):
    """The client does not know the server's address; as it is usual here, it does afterwards."""
    client, address = far["client"], far["web"].IP()
    interface = client.defaultIntf().name
    with client.popen(["ip", "neigh", "del", address, "dev", interface]) as done:
        done.wait()
    yield
    words = ["ip", "neigh", "replace", address, "lladdr", far["web"].MAC(), "dev", interface, "nud", "permanent"]
    with client.popen(words) as done:
        done.wait()


@pytest.mark.usefixtures("unknown")
def test_a_neighbour_whose_address_is_not_known(far, tmp_path):
    with serving(far["web"], ANSWER):
        found = why(far, tmp_path, ask(far))
    right(found, Cause.NEIGHBOUR, 40, 0.2, "ARP")


@pytest.mark.usefixtures("unknown")
def test_a_neighbour_that_answers_the_second_question(far, tmp_path):
    with serving(far["web"], ANSWER), losing(far["web"], "arp operation request", family="arp", hook="input"):
        found = why(far, tmp_path, ask(far))
    right(found, Cause.NEIGHBOUR, 1000, 35, "no answer came")


BACKOFF = """
import socket
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for limit in (0.25, 0.5, 1):
    u.settimeout(limit); u.sendto(b"?", ("{address}", 4000))
    try:
        u.recv(9); break
    except TimeoutError: pass
"""


def test_a_program_that_asks_again_over_udp(far, tmp_path):
    """The server ignores the first question; the program's limit is 250 ms, then 500 ms, as a backoff is."""
    with running(far["web"], DATAGRAMS.format(port=4000, answer="count < 3 or u.sendto(d, a)")):
        found = why(far, tmp_path, BACKOFF.format(address=far["web"].IP()))
    assert [each.ms for each in found.of(Cause.TIMER)] == [pytest.approx(250, abs=1), pytest.approx(500, abs=1)]
    assert {(each.source, each.detail) for each in found.of(Cause.TIMER)} == {("client", "between two messages that it sent")}


def test_a_proxy_with_a_kept_connection(far, tmp_path):
    """The proxy asks the database on a connection that it has already: no handshake there."""
    relay = "d.sendall(c.recv(99)); c.sendall(d.recv(99)); c.close()"
    opened = f"d = socket.create_connection(('{far['db'].IP()}', 81)); d.sendall(b'?'); d.recv(9)"
    with (
        serving(far["db"], "\n    while c.recv(99): c.sendall(b'!')", port=81),
        serving(far["web"], relay, options=opened),
    ):
        found = why(far, tmp_path, ask(far))
    rest = "2 round trips to web (1 TCP handshake, 1 question and answer), "
    answers(found, 90, rest + "1 round trip between db and web of question and answer")


def test_a_queue_in_the_middle(far, tmp_path):
    """The rate is the switch's, not the server's: what waits there has left the server at once."""
    flood = "u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
    flood += "; [u.sendto(bytes(1000), (c.getpeername()[0], 9)) for _ in range(60)]"
    with (
        far.link("client", "switch").set(rtt="40ms", rate_down="10mbit", queue="500p"),
        serving(far["web"], f"c.recv(99); {flood}; c.sendall(b'!'); c.close()"),
    ):
        found = why(far, tmp_path, ask(far))
    right(found, Cause.QUEUE, 60 * 1042 * 8 / 10_000, 1.5)


def test_a_delay_that_has_changed_is_no_queue(far, tmp_path):
    """The link's delay grows from 40 to 100 ms between two questions of ten: the later ones cross a longer way."""
    asks = "for n in range(20): s.sendall(b'?'); s.recv(9); n == 9 and (print(flush=True), sys.stdin.readline())"
    with serving(far["web"], "\n    while c.recv(99): c.sendall(b'!')"):
        found = why(far, tmp_path, ask(far, asks), meanwhile=lambda: far.link("client", "switch").set(rtt="100ms"))
    assert ms(found, Cause.QUEUE) + ms(found, Cause.SERIALISATION) <= READINGS_MS
    right(found, Cause.EXCHANGE, 10 * 40 + 10 * 100, 1)


def test_pages_of_connections_side_by_side(far, tmp_path):
    """Three pages of three connections each, a second apart: the account is that of the last one."""
    program = f"""
import socket, time
for page in range(3):
    some = [socket.create_connection(("{far["web"].IP()}", 80)) for _ in range(3)]
    for each in some: each.sendall(b"?")
    for each in some: each.recv(9); each.close()
    time.sleep(1)
"""
    with serving(far["web"], ANSWER):
        last, all_of_them = (why(far, tmp_path / str(whole), program, whole=whole) for whole in (False, True))
    assert last.elapsed_ns == pytest.approx(160 * 10**6, abs=10**6)
    assert all_of_them.elapsed_ns == pytest.approx(2480 * 10**6, abs=10**6)


def test_a_command_and_a_block_are_accounted_for_from_within(far):
    """Both at once: two captures of an interface do not disturb each other."""
    with serving(far["web"], "\n    while c.recv(99): c.sendall(b'!')"), slownet.why(far) as whole:
        one = slownet.why(far["client"], [sys.executable, "-c", ask(far)])
        other = slownet.why(far["client"], [sys.executable, "-c", ask(far)])
    for found in (one, other):
        first = str(found).partition("\n")[0]
        assert says(first, 80, "2 round trips to web (1 TCP handshake, 1 question and answer)")
        assert "1 ms of round trip less: client-switch saves 2 ms, web-switch saves 2 ms" in str(found)
    assert ms(whole.account, Cause.HANDSHAKE) == ms(whole.account, Cause.EXCHANGE) == pytest.approx(80, abs=READINGS_MS)
    assert {each.source for each in whole.account.of(Cause.TIMER)} <= {"client"}


def test_a_block_without_packets_and_mistakes_are_errors(net):
    with pytest.raises(ToolError, match="no packet"), slownet.why(net):
        pass
    with slownet.why(net) as found:
        with pytest.raises(ExperimentError, match="at the end of the with block"):
            _ = found.account
        slownet.ping(net["client"], net["web"].IP(), count=1)
    assert [each.source for each in found.account.trips()] == ["client", "web"]
    with pytest.raises(ExperimentError, match="'client' is not a host of a network"):
        slownet.why("client", ["true"])
    with pytest.raises(ToolError, match="nothing-of-this-name is not installed"):
        slownet.why(net["client"], ["nothing-of-this-name"])


@pytest.mark.parametrize("kind", ["clsact", "ingress"])
def test_a_filter_of_a_programs_own_stays(far, tmp_path, kind):
    """A clsact is shared; with an ingress the interface is captured once, and what its queue delays counts as the host's."""
    interface = far["web"].defaultIntf().name
    side = "egress" if kind == "clsact" else "ingress"
    rule = f"filter add dev {interface} {side} protocol ip prio 7000 matchall action ok"
    for words in (f"qdisc add dev {interface} {kind}", rule):
        with far["web"].popen(["tc", *words.split()]) as done:
            assert done.wait() == 0
    try:
        with serving(far["web"], ANSWER):
            found = why(far, tmp_path, ask(far))
        shown = far["web"].popen(["tc", "filter", "show", "dev", interface, side], text=True).communicate()[0]
    finally:
        with far["web"].popen(["tc", "qdisc", "del", "dev", interface, kind]) as done:
            assert done.wait() == 0
    assert "pref 7000" in shown
    assert shown.count("pref") <= 2  # tc shows a filter and its handle
    assert found.elapsed_ns == pytest.approx(80 * 10**6, abs=READINGS_MS * 10**6)
    assert any("web: no capture before the queue" in each for each in found.notes) == (kind == "ingress")


TIMED = """
import socket, time
begin = time.monotonic_ns()
s = socket.create_connection(("{web}", 80)); s.sendall(b"?")
while s.recv(99999): pass
print(time.monotonic_ns() - begin)
"""


def test_captures_do_not_change_what_is_measured(far, tmp_path):
    """A page through a queue takes as long with captures as without.

    Within a tenth of what one packet takes on the link: each reading of a clock takes 1 us when the CPU is free, and what else
    lives in the lab, and how many segments one recv() returns, may make for some dozens of them.
    """
    program = [sys.executable, "-c", TIMED.format(web=far["web"].IP())]

    def measured():
        return int(far["client"].popen(program, text=True).communicate()[0])

    with (
        far.link("web", "switch").set(rate="10mbit", queue="500p"),
        serving(far["web"], "c.recv(99); c.sendall(bytes(200_000)); c.close()"),
    ):
        without = measured()
        with interface_captures.capturing(interface_captures.find(far, ["hosts"]), tmp_path, "000", started := []):
            captured = measured()
    assert all(each.before.packets for each in started if each.node is far["web"])
    packet_ns = 1514 * 8 * 100
    assert captured == pytest.approx(without, abs=packet_ns / 10)


def test_a_host_has_the_addresses_that_ip_shows(far):
    """Also those of a second interface, which is down, and an IPv6 one; not loopback's."""
    host = far["web"]
    commands = (
        "ip link add other type dummy", "sysctl -qw net.ipv6.conf.other.disable_ipv6=0", "ip addr add 10.9.8.7/24 dev other",
        "ip addr add fd00::7/64 dev other nodad",
    )  # fmt: skip
    try:
        for words in commands:
            with host.popen(words.split(), stderr=subprocess.PIPE, text=True) as done:
                _, complaint = done.communicate()
            assert not done.returncode, complaint
        with host.popen(["ip", "-o", "addr"], text=True) as done:
            shown = done.communicate()[0]
        words = [line.split() for line in shown.splitlines()]
        assert sorted(interface_captures.addresses(host)) == sorted(
            each[3].partition("/")[0] for each in words if each[1] != "lo"
        )
        assert {"10.9.8.7", "fd00::7", host.IP()} <= set(interface_captures.addresses(host))
    finally:
        with host.popen(["ip", "link", "del", "other"]) as done:
            done.wait()


PYTHON = Path(sys.executable).name


@pytest.fixture
def traced(far, monkeypatch):
    """Programs that start from now on are under strace; returns what gives an account the names of their calls."""
    monkeypatch.setenv(sleeping_calls.VARIABLE, "1")
    sleeping_calls.taken(0, 0)
    return lambda found: timers.named(found, sleeping_calls.taken(0, sys.maxsize))


def details(found, cause):
    return {each.detail for each in found.of(cause) if each.ms > 1}


@pytest.mark.parametrize(
    ("waits", "name"),
    [
        ("time.sleep(0.035)", "sleep of 35 ms"),
        ("[time.sleep(0.01) for _ in range(3)]", "3 x sleep of 10 ms"),
        ("import select; select.select([], [], [], 0.035)", "select with limit 35 ms"),
        ("import select; select.poll().poll(35)", "poll with limit 35 ms"),
        ("import select; select.epoll().poll(0.035)", "epoll_wait with limit 35 ms"),
        ("import threading; threading.Event().wait(0.035)", "futex with limit 35 ms"),
        (
            "import signal; signal.signal(14, lambda *a: 0); signal.setitimer(0, 0.035); signal.pause()",
            "setitimer after 35 ms",
        ),
    ],
)
def test_a_timer_has_its_process_and_call(far, traced, tmp_path, waits, name):
    with serving(far["web"], f"c.recv(99); {waits}; c.sendall(b'!'); c.close()"):
        found = traced(why(far, tmp_path, ask(far)))
    same(details(found, Cause.TIMER), {f"{PYTHON}: {name}"})


def test_a_backoff_is_named_step_by_step(far, traced, tmp_path):
    with running(far["web"], DATAGRAMS.format(port=4000, answer="count < 3 or u.sendto(d, a)")):
        found = traced(why(far, tmp_path, BACKOFF.format(address=far["web"].IP())))
    limits = [each.detail for each in found.of(Cause.TIMER) if each.ms > 1]
    same(limits, [f"{PYTHON}: poll with limit 250 ms", f"{PYTHON}: poll with limit 500 ms"])


LOCKED = """
import fcntl, socket, os, threading, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("", 80)); s.listen(64); print("up", flush=True)
while True:
    c, _ = s.accept()
    if os.fork():
        c.close()
        continue
    c.recv(9)
    with open("{file}", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        time.sleep(0.1)
    c.sendall(b"!"); c.close()
    os._exit(0)
"""


def test_a_lock_is_told_from_a_sleep(far, traced, tmp_path):
    """The second question, 20 ms later, waits 80 ms for the lock of the first one, and then sleeps."""
    with running(far["web"], LOCKED.format(file=tmp_path / "lock")):
        found = traced(why(far, tmp_path, TWO_AT_ONCE.format(web=far["web"].IP()), whole=True))
    (name,) = (each.detail for each in found.steps if each.source == each.target == "web" and each.ms > 1)
    waited = re.fullmatch(rf"{PYTHON}: lock flock for ([\d.]+) ms, sleep of 100 ms", name)
    assert waited, name
    assert float(waited[1]) == pytest.approx(80, abs=READINGS_MS)  # the client's sleep and the server's end 50 us late or less


BROKER = """
import socket
def listening(port):
    s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("", port)); s.listen(9); return s
subscribers, publishers = listening(80), listening(81)
print("up", flush=True)
to, _ = subscribers.accept()
of, _ = publishers.accept()
while message := of.recv(99): to.sendall(message)
"""
PUBLISHER = """
import socket, time
s = socket.create_connection(("{address}", 81)); print("up", flush=True)
while True: time.sleep(0.05); s.sendall(b"news")
"""


def test_a_message_that_a_broker_passes_on_is_its_publishers(far, tmp_path):
    """The subscriber waits on a connection of its own for what another host sends every 50 ms: no timer of the broker."""
    subscribe = "print(flush=True); sys.stdin.readline(); [s.recv(99) for _ in range(3)]"
    with running(far["web"], BROKER), ExitStack() as stack:
        publish = running(far["db"], PUBLISHER.format(address=far["web"].IP()))
        found = why(far, tmp_path, ask(far, subscribe), meanwhile=lambda: stack.enter_context(publish))
    same({each.source for each in found.of(Cause.TIMER) if each.ms > 1}, {"db"})
    assert {(each.source, each.target) for each in found.trips()} >= {("db", "web"), ("web", "client")}
    assert found.remainder_ns == 0


def phases(found):
    return [each.detail.partition(",")[0] for each in found.of(Cause.WINDOW)]


UPLOAD = "n = 0\n    while n < 300000: n += len(c.recv(99999))\n    c.sendall(b'!'); c.close()"


def test_the_window_after_a_loss_is_not_called_slow_start(far, tmp_path):
    """The first segment is lost: its window recovers, and what comes then is congestion avoidance."""
    with serving(far["web"], UPLOAD), losing(far["web"], "tcp dport 80 ip length 1500"):
        found = why(far, tmp_path, ask(far, "s.sendall(bytes(300000)); s.recv(9)"))
    same(set(phases(found)) - {"recovery after a loss"}, {"congestion avoidance after a loss"})


def test_the_window_after_a_timeout_is_slow_start_again(far, tmp_path):
    """All of the first window is lost, its tail probe, too: one segment after the timeout, then two..."""
    rules = "tcp dport 80 ip length > 60 limit rate 1/day burst 11 packets drop; add rule ip lost c tcp dport 81"
    with serving(far["web"], UPLOAD), losing(far["web"], rules):
        found = why(far, tmp_path, ask(far, "s.sendall(bytes(300000)); s.recv(9)"))
    assert "timeout" in {each.detail for each in found.of(Cause.RETRANSMISSION)}
    assert "slow start" not in phases(found)
    assert "slow start after a timeout" in phases(found)


def test_a_window_without_a_loss_is_slow_start(far, tmp_path):
    with serving(far["web"], UPLOAD):
        found = why(far, tmp_path, ask(far, "s.sendall(bytes(300000)); s.recv(9)"))
    same(set(phases(found)), {"slow start", "receive window"})


SO_MAX_PACING_RATE = 47
"""Linux's number, which Python's socket module lacks."""


def downloaded(far, tmp_path, serve, before=""):
    with serving(far["web"], f"c.recv(99); {serve}; c.close()", before=before):
        return why(far, tmp_path, ask(far, "s.sendall(b'?')\nwhile s.recv(99999): pass"))


def test_a_pacing_rate_is_no_timer_of_the_program(far, tmp_path):
    """2 Mbit/s carry 7 segments in a round trip. Linux does not pace the first ten; the twenty others need 19 times a segment's
    time, of which the first may be half of it, as the kernel credits half of a segment after a rest.
    """
    rate = 250_000
    found = downloaded(
        far, tmp_path, f"c.setsockopt(socket.SOL_SOCKET, {SO_MAX_PACING_RATE}, {rate}); c.sendall(bytes(30 * 1448))"
    )
    one = 1448 / rate * 1000
    assert 18 * one <= ms(found, Cause.WINDOW, "pacing") <= 19 * one + READINGS_MS
    right(found, Cause.TIMER, 0, READINGS_MS)
    rates = [
        float(each.detail.split()[1]) for each in found.of(Cause.WINDOW) if each.detail.startswith("pacing") and each.ms > 1
    ]
    assert sorted(rates)[len(rates) // 2] == pytest.approx(8 * rate / 1e6, rel=0.01)


def test_a_program_that_sends_in_intervals_is_no_pacing(far, tmp_path):
    """The same times of a program of its own: a write of one full segment each 6 ms."""
    found = downloaded(far, tmp_path, "[(c.sendall(bytes(1448)), time.sleep(0.006)) for _ in range(20)]")
    assert ms(found, Cause.WINDOW, "pacing") == 0
    right(found, Cause.TIMER, 20 * 6, 8)


def test_bbr_paces(far, tmp_path):
    """BBR sends 300 kB at the rate of a link of 10 Mbit/s, which takes 251 ms: it paces, and no timer is a program's."""
    bbr = "s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'bbr')"
    with far.link("web", "switch").set(rate="10mbit", queue="500p"):
        found = downloaded(far, tmp_path, "c.sendall(bytes(300000))", before=bbr)
    assert ms(found, Cause.WINDOW, "pacing") > 50
    assert ms(found, Cause.TIMER) == 0


FAST_OPEN = """
import socket
def asked():
    s = socket.socket()
    s.sendto(b"?", socket.MSG_FASTOPEN, ("{web}", 80)); s.recv(9); s.close()
"""


@pytest.fixture
def fast_open(far):
    """The web server's host grants cookies of TCP Fast Open."""

    def switch(value):
        with far["web"].popen(["sysctl", "-qw", f"net.ipv4.tcp_fastopen={value}"]) as done:
            assert done.wait() == 0

    switch(3)
    with serving(far["web"], ANSWER, before="s.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 9)"):
        yield FAST_OPEN.format(web=far["web"].IP())
    switch(1)


def test_the_cookie_of_tcp_fast_open_takes_no_time(far, fast_open, tmp_path):
    """The first connection asks for the cookie, with the handshake (RFC 7413); the second question goes with its SYN."""
    found = why(far, tmp_path, fast_open + "asked(); asked()", whole=True)
    right(found, Cause.HANDSHAKE, 40, READINGS_MS)
    right(found, Cause.EXCHANGE, 80, READINGS_MS)
    first, _, _, _, fifth, _ = [each.detail for each in found.trips()]
    same((first, fifth), ("SYN, which asks for a cookie", "in the SYN, by TCP Fast Open"))
    answers(why(far, tmp_path / "last", fast_open + "asked(); asked()"), 40, "1 round trip to web of question and answer")


def test_the_scenarios_are_thirty_and_all_are_right(request):
    """Prints each scenario: its name, what is true by theory, and what the account of it says."""
    asked_for = {each.originalname for each in request.session.items if each.module is request.module}
    if {name for name in vars(request.module) if name.startswith("test_")} - asked_for:
        pytest.skip("a part of the scenarios was asked for")
    for each in TRUTHS:
        print(each)
    assert len({each.name for each in TRUTHS}) >= 30
    assert not [each for each in TRUTHS if not each.is_right]
