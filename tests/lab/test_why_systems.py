"""Accounts of what systems of several programs do, whose truth is known by construction, at free CPU."""

import sys

import pytest
from why_scenarios import ANSWER, READINGS_MS, answers, ask, losing, ms, right, running, same, serving, why

from slownet import MariaDB, Redis
from slownet.net import sleeping_calls
from slownet.topologies import ClientWebDb
from slownet.waits import timers
from slownet.waits.account import Cause

TOPOLOGY = ClientWebDb
pytestmark = pytest.mark.usefixtures("free")


THREADS = """
import queue, socket, threading, time
def listening(port):
    s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("", port)); s.listen(64); return s
{before}
def serve(c):
    {serve}
s = listening({port}); print("up", flush=True)
while True:
    threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
"""


def threads(host, serve, *, port=80, before=""):
    """Run a TCP server whose connections each have a thread of their own."""
    return running(host, THREADS.format(serve=serve, port=port, before=before))


SLOW_ROWS = "\n    while c.recv(99): time.sleep(0.1); c.sendall(b'a')"
AT_ONCE = """
import socket
some = [socket.create_connection(("{web}", 80)) for _ in range({count})]
for each in some: each.sendall(b"?")
for each in some: each.recv(9)
"""


@pytest.mark.parametrize(("callers", "turns"), [(3, 1), (5, 2)])
def test_a_pool_of_two(far, tmp_path, callers, turns):
    """A query takes 110 ms with its way. Of three callers, one has to wait for a connection; of five, the last waits twice."""
    pool = f"pool = queue.Queue()\nfor _ in range(2): pool.put(socket.create_connection(('{far['db'].IP()}', 3306)))"
    serve = "c.recv(9); d = pool.get(); d.sendall(b'q'); d.recv(9); pool.put(d); c.sendall(b'!'); c.close()"
    with threads(far["db"], SLOW_ROWS, port=3306), threads(far["web"], serve, before=pool):
        found = why(far, tmp_path, AT_ONCE.format(web=far["web"].IP(), count=callers), whole=True)
    right(found, Cause.WAITING, turns * 110, READINGS_MS)
    same({each.source for each in found.of(Cause.WAITING)}, {"web"})
    right(found, Cause.TIMER, 100, READINGS_MS)


def test_nagle_and_a_delayed_ack_behind_a_proxy(far, tmp_path):
    """The proxy passes on two pieces as they come, a millisecond apart, and its socket waits for the database's ACK: a delay of
    40 ms and a round trip.
    """
    opened = f"d = socket.create_connection(('{far['db'].IP()}', 81))"
    serve = "\n    for n in range(2): d.sendall(c.recv(9)); d.sendall(c.recv(9)); c.sendall(d.recv(9))\n    c.close()"
    nodelay = "s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)"
    asks = "for n in range(2): s.sendall(b'a'); time.sleep(0.001); s.sendall(b'b'); s.recv(9)"
    with (
        serving(far["db"], "\n    while len(c.recv(1)) and len(c.recv(1)): c.sendall(b'!')", port=81),
        serving(far["web"], serve, options=opened),
    ):
        found = why(far, tmp_path, ask(far, asks, before=nodelay))
    assert 40 <= ms(found, Cause.NAGLE, "the ACK was delayed") <= 45
    same({frozenset((each.source, each.target)) for each in found.of(Cause.NAGLE) if each.trip}, {frozenset(("web", "db"))})


SESSION = """
import pymysql, time
from pathlib import Path
db = pymysql.connect(host="{db}", user="{user}", password="{password}", database="wordpress")
c = db.cursor()
"""
UPDATE = "c.execute('UPDATE wp_options SET autoload=autoload WHERE option_id=1')"


def test_a_row_that_another_session_locks_for_50_ms(far, tmp_path):
    """The web server's session commits 50 ms later. What the client's UPDATE takes beyond a round trip is a wait."""
    login = {"db": far["db"].IP(), "user": "wordpress", "password": "wordpress"}
    opened, took = tmp_path / "opened", tmp_path / "took"
    locks = f"{UPDATE}; print('up', flush=True)\nwhile not Path('{opened}').exists(): time.sleep(0.001)\n"
    locks += "time.sleep(0.05); db.commit(); time.sleep(99)"
    asks = f"Path('{opened}').touch(); begin = time.monotonic()\n{UPDATE}; took = time.monotonic() - begin"
    asks += f"; Path('{took}').write_text(str(took))"
    with (
        MariaDB(far["db"], tmp_path / "db"),
        running(far["web"], SESSION.format(**login) + locks),
    ):
        found = why(far, tmp_path, SESSION.format(**login) + asks)
    right(found, Cause.WAITING, 1000 * float(took.read_text()) - 50, READINGS_MS)
    same({each.source for each in found.of(Cause.WAITING)}, {"db"})
    right(found, Cause.TIMER, 0, READINGS_MS)


NAMES = """
import socket
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(("", 53)); print("up", flush=True)
known = {{"shop": "{web}"}}
while True:
    d, a = u.recvfrom(512)
    at, labels = 12, []
    while d[at]: labels.append(d[at + 1:at + 1 + d[at]].decode()); at += 1 + d[at]
    kind, name = d[at + 2], ".".join(labels)
    head, question = d[:2], d[12:at + 5]
    if name not in known: u.sendto(head + b"\\x81\\x83\\0\\1\\0\\0\\0\\0\\0\\0" + question, a)
    elif kind != 1: u.sendto(head + b"\\x81\\x80\\0\\1\\0\\0\\0\\0\\0\\0" + question, a)
    else:
        record = b"\\xc0\\x0c\\0\\1\\0\\1\\0\\0\\0\\1\\0\\4" + socket.inet_aton(known[name])
        u.sendto(head + b"\\x81\\x80\\0\\1\\0\\1\\0\\0\\0\\0" + question + record, a)
"""


def test_search_domains(far, tmp_path):
    """The resolver tries two domains before the name itself: three lookups of 50 ms, then the page's two round trips."""
    (tmp_path / "resolv.conf").write_text(f"nameserver {far['db'].IP()}\nsearch a.example b.example\noptions ndots:2\n")
    program = (
        "import os, socket, subprocess\n"
        f"os.unshare(os.CLONE_NEWNS); subprocess.run(['mount', '--make-rprivate', '/'], check=True)\n"
        f"subprocess.run(['mount', '--bind', '{tmp_path}/resolv.conf', '/etc/resolv.conf'], check=True)\n"
        "s = socket.create_connection(('shop', 80)); s.sendall(b'?'); s.recv(9)"
    )
    with running(far["db"], NAMES.format(web=far["web"].IP())), serving(far["web"], ANSWER):
        found = why(far, tmp_path, program)
    right(found, Cause.NAME, 150, READINGS_MS)
    right(found, Cause.EXCHANGE, 40, READINGS_MS)


AGAIN_LATER = """c.recv(999); n += 1
    c.sendall(b"HTTP/1.1 503 Busy\\r\\nRetry-After: 2\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n" if n < 2 else
        b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok"); c.close()"""


def shell(*words):
    return f"import subprocess; subprocess.run({list(words)}, check=True, stdout=subprocess.DEVNULL)"


def test_a_client_that_comes_again_after_the_time_that_the_server_states(far, tmp_path):
    """curl waits two seconds; each attempt is a handshake and a question."""
    with serving(far["web"], AGAIN_LATER, before="n = 0"):
        found = why(far, tmp_path, shell("curl", "-s", "--retry", "3", f"http://{far['web'].IP()}/"), whole=True)
    right(found, Cause.TIMER, 2000, 10)
    same({each.source for each in found.of(Cause.TIMER) if each.ms > 1}, {"client"})
    right(found, Cause.HANDSHAKE, 80, READINGS_MS)
    right(found, Cause.EXCHANGE, 80, READINGS_MS)


CHUNKS = """c.recv(999); c.sendall(b"HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n")
    for n in range(4): time.sleep(0.03); c.sendall(b"5\\r\\nhello\\r\\n")
    c.sendall(b"0\\r\\n\\r\\n"); c.close()"""


@pytest.mark.parametrize("nodelay", [True, False])
def test_a_reply_in_chunks_between_which_the_server_sleeps(far, tmp_path, nodelay):
    """With TCP_NODELAY, one round trip and four times 30 ms on the server. Without it, each chunk waits for the ACK of the one
    before, which takes 40 ms: two are under way so, until the last chunks leave with the end.
    """
    serve = f"c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, {int(nodelay)}); {CHUNKS}"
    with serving(far["web"], serve):
        found = why(far, tmp_path, shell("curl", "-s", f"http://{far['web'].IP()}/"))
    right(found, Cause.TIMER, 120 if nodelay else 0, READINGS_MS)
    right(found, Cause.NAGLE, 0 if nodelay else 120, READINGS_MS)
    right(found, Cause.WINDOW, 0, READINGS_MS)
    right(found, Cause.EXCHANGE, 40, READINGS_MS)


def test_redis_in_a_pipeline(far, tmp_path):
    """A hundred commands at once are one round trip, one after the other a hundred."""
    program = (
        f"import redis; r = redis.Redis(host='{far['db'].IP()}', protocol=2, lib_name=None, lib_version=None)\n"
        "p = r.pipeline(transaction=False)\n"
        "for n in range(100): p.set(f'key:{n}', n)\n"
        "p.execute()\n"
        "for n in range(10): r.get(f'key:{n}')"
    )
    with Redis(far["db"], tmp_path / "redis"):
        found = why(far, tmp_path, program)
    answers(found, 600, "12 round trips to db (11 question and answer, 1 TCP handshake)")


STREAM = """
import concurrent.futures, grpc, time
def told(request, context):
    for n in range(5):
        time.sleep(0.023)
        yield b"x" * 100
handler = grpc.method_handlers_generic_handler("s.S", {"Told": grpc.unary_stream_rpc_method_handler(told)})
server = grpc.server(concurrent.futures.ThreadPoolExecutor(2)); server.add_generic_rpc_handlers((handler,))
server.add_insecure_port("0.0.0.0:50051"); server.start(); print("up", flush=True)
server.wait_for_termination()
"""


def test_a_grpc_stream(far, tmp_path):
    """The server sleeps 23 ms before each of five messages."""
    program = (
        f"import grpc; channel = grpc.insecure_channel('{far['web'].IP()}:50051')\n"
        "assert len(list(channel.unary_stream('/s.S/Told')(b'?'))) == 5"
    )
    with running(far["web"], STREAM):
        found = why(far, tmp_path, program)
    right(found, Cause.TIMER, 115, READINGS_MS)
    answers(found, 235, "3 round trips to web (2 question and answer, 1 TCP handshake), 115 ms timer of the program on web")


FTP = """
import socket
def listening(port):
    s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("", port)); s.listen(9); return s
control, data = listening(21), listening(2121)
print("up", flush=True)
while True:
    c, _ = control.accept(); c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    def say(line): c.sendall(line + b"\\r\\n")
    say(b"220 ready")
    for line in c.makefile("rb"):
        verb = line.split()[0]
        if verb == b"USER": say(b"331 password")
        elif verb == b"PASS": say(b"230 in")
        elif verb == b"EPSV": say(b"229 Entering Extended Passive Mode (|||2121|)")
        elif verb == b"TYPE": say(b"200 ok")
        elif verb == b"RETR":
            d, _ = data.accept(); say(b"150 comes"); d.sendall(bytes(10_000)); d.close(); say(b"226 done")
        elif verb == b"QUIT": say(b"221 bye"); break
        else: say(b"500 what")
    c.close()
"""


def test_ftp_with_its_two_connections(far, tmp_path):
    """A greeting comes when the handshake has arrived; then USER, PASS, TYPE, EPSV, the other connection's handshake, RETR."""
    program = (
        f"import ftplib, socket; f = ftplib.FTP(); f.connect('{far['web'].IP()}', 21); f.af = socket.AF_INET6\n"
        "f.login('a', 'b'); f.retrbinary('RETR it', lambda data: None)"
    )
    with running(far["web"], FTP):
        found = why(far, tmp_path, program, whole=True)
    answers(found, 320, "8 round trips to web (5.5 question and answer, 2.5 TCP handshake)")
    same(len(found.beside), 1)


def test_a_syn_lost_behind_a_proxy(far, tmp_path):
    relay = f"d = socket.create_connection(('{far['db'].IP()}', 81)); d.sendall(c.recv(99))"
    relay += "; c.sendall(d.recv(99)); c.close(); d.close()"
    with (
        serving(far["db"], ANSWER, port=81),
        serving(far["web"], relay),
        losing(far["db"], "tcp dport 81 tcp flags & (syn | ack) == syn"),
    ):
        found = why(far, tmp_path, ask(far))
    right(found, Cause.RETRANSMISSION, 1030, 30, "SYN")
    same({each.source for each in found.of(Cause.RETRANSMISSION) if each.ms > 20}, {"web"})
    right(found, Cause.EXCHANGE, 50, READINGS_MS)


def test_curl_waits_a_second_for_100_continue(far, tmp_path):
    """A server that does not know Expect says nothing: curl sends its megabyte after a second."""
    serve = (
        "\n    n = 0"
        "\n    while n < 1100000: n += len(c.recv(99999))"
        "\n    c.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n'); c.close()"
    )
    (tmp_path / "body").write_bytes(bytes(1_100_000))
    program = shell(
        "curl", "-s", "-H", "Expect: 100-continue", "--data-binary", f"@{tmp_path}/body", f"http://{far['web'].IP()}/"
    )
    with serving(far["web"], serve):
        found = why(far, tmp_path, program)
    right(found, Cause.TIMER, 1000 - 40, 60)
    same({each.source for each in found.of(Cause.TIMER) if each.ms > 1}, {"client"})


def test_a_client_that_polls_until_it_is_ready(far, tmp_path):
    """The client asks each 100 ms; the fourth answer is the one."""
    asks = "\nwhile True:\n    s.sendall(b'?')\n    if s.recv(9) == b'y': break\n    time.sleep(0.1)"
    with serving(far["web"], "\n    for n in range(4): c.recv(9); c.sendall(b'y' if n == 3 else b'n')\n    c.close()"):
        found = why(far, tmp_path, ask(far, asks))
    right(found, Cause.TIMER, 300, READINGS_MS)
    right(found, Cause.EXCHANGE, 160, READINGS_MS)


@pytest.fixture
def traced(far, monkeypatch):
    """Programs that start from now on are under strace; returns what gives an account the names of their calls."""
    monkeypatch.setenv(sleeping_calls.VARIABLE, "1")
    sleeping_calls.taken(0, 0)
    return lambda found: timers.named(found, sleeping_calls.taken(0, sys.maxsize))


@pytest.mark.parametrize("callers", [2, 4])
def test_a_server_that_takes_one_connection_at_a_time(far, traced, tmp_path, callers):
    """A connection limit of one: the last question waits in the listen queue until those before are served, 70 ms each."""
    with serving(far["web"], "c.recv(9); time.sleep(0.07); c.sendall(b'!'); c.close()"):
        found = traced(why(far, tmp_path, AT_ONCE.format(web=far["web"].IP(), count=callers), whole=True))
    right(found, Cause.WAITING, 70 * (callers - 1), READINGS_MS)
    right(found, Cause.TIMER, 70, READINGS_MS)


def test_a_server_that_serves_all_at_once(far, traced, tmp_path):
    """Each connection has its thread, and sleeps as long as it is asked for: none waits for another."""
    program = (
        "import socket\n"
        f"some = [socket.create_connection(('{far['web'].IP()}', 80)) for _ in range(3)]\n"
        "for each, ms in zip(some, (b'30', b'60', b'90')): each.sendall(ms)\n"
        "for each in some: each.recv(9)"
    )
    with threads(far["web"], "time.sleep(int(c.recv(9)) / 1000); c.sendall(b'!'); c.close()"):
        found = traced(why(far, tmp_path, program, whole=True))
    right(found, Cause.TIMER, 90, READINGS_MS)
    right(found, Cause.WAITING, 0, READINGS_MS)


def test_the_slower_of_two_questions_decides(far, tmp_path):
    """The web server asks two databases' ports at once: one sleeps 30 ms, the other 80."""
    asks = (
        f"c.recv(9); two = [socket.create_connection(('{far['db'].IP()}', port)) for port in (81, 82)]; "
        "[d.sendall(b'q') for d in two]; [d.recv(9) for d in two]; c.sendall(b'!'); c.close()"
    )
    slow = "c.recv(9); time.sleep({}); c.sendall(b'a'); c.close()"
    with (
        serving(far["db"], slow.format(0.03), port=81),
        serving(far["db"], slow.format(0.08), port=82),
        threads(far["web"], asks),
    ):
        found = why(far, tmp_path, ask(far))
    right(found, Cause.TIMER, 80, READINGS_MS)
    same({each.connection.partition(" ")[0] for each in found.of(Cause.TIMER) if each.ms > 1}, {f"{far['db'].IP()}:82"})
