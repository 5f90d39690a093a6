"""Names that are resolved over the network: what a lookup costs, and that hosts files answer again afterwards."""

import subprocess
import sys
import time

import pytest
from scapy.layers.dns import DNS
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapReader

from slownet import ClientWebDb, Command, ServiceError
from slownet.net.namespace import inside
from slownet.net.network import Network
from slownet.services.names import NameServer

WEB, DB = "10.0.0.2", "10.0.0.3"
RTT_MS = 20
NEAR_MS = 0.3
"""What programs and links add to round trips where the CPU is free."""
TIMED = "import socket, time; began = time.monotonic(); {}; print(1000 * (time.monotonic() - began))"
LOOKUP = "assert ('{}', 80) in [each[4][:2] for each in socket.getaddrinfo('{}', 80)]"
UNKNOWN = """
import socket, time
began = time.monotonic()
try:
    socket.getaddrinfo("nowhere", 80)
except socket.gaierror as error:
    assert error.errno == socket.EAI_NONAME
print(1000 * (time.monotonic() - began))
"""
WORKER = """
import socket, sys, time
for line in sys.stdin:
    began = time.monotonic()
    socket.getaddrinfo(line.strip(), 80)
    print(1000 * (time.monotonic() - began), flush=True)
"""


def took(net, code, host="client"):
    """Return the milliseconds that a program on a host prints."""
    with net[host].popen([sys.executable, "-c", code]) as process:
        output, errors = process.communicate()
    assert process.returncode == 0, errors
    return float(output)


def lookup(net, name="web", address=WEB):
    return took(net, TIMED.format(LOOKUP.format(address, name)))


@pytest.fixture(scope="module")
def page(net, tmp_path_factory):
    """A server on `web`, port 8000."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "index.html").write_text("a page")
    with Command(net["web"], [sys.executable, "-m", "http.server", "8000"], folder, port=8000, cwd=folder) as server:
        yield server


@pytest.fixture
def far(net):
    """The name server's host, a round trip away."""
    with net.link("db", "switch").set(rtt=f"{RTT_MS}ms"):
        yield net["db"]


def fetched_ms(net, url):
    began = time.monotonic()
    with net["client"].popen(["wget", "-qO-", url]) as process:
        assert process.communicate()[0] == b"a page"
    return 1000 * (time.monotonic() - began)


def test_a_page_by_name_costs_one_round_trip_to_the_name_server_more(net, page, tmp_path):
    points = {"web": {}, WEB: {}}
    with NameServer(net["db"], tmp_path) as names:
        for rtt in (0, 10, 40, 80):
            with net.link("db", "switch").set(rtt=f"{rtt}ms"):
                for name, found in points.items():
                    found[rtt] = fetched_ms(net, f"http://{name}:8000/")
        assert "query[A] web" in names.log.read_text()
    for name, round_trips in (("web", 1), (WEB, 0)):
        at_once = points[name][0]
        assert points[name] == {rtt: pytest.approx(at_once + round_trips * rtt, abs=NEAR_MS) for rtt in points[name]}


def test_both_families_are_asked_for_at_once_or_one_after_the_other(net, far, tmp_path):
    for options, round_trips in (((), 1), (["single-request"], 2)):
        path = tmp_path / f"{round_trips}.pcap"
        with (
            NameServer(far, tmp_path, options=options),
            net.capture("client", path=path, filter="udp port 53"),
        ):
            assert lookup(net) == pytest.approx(round_trips * RTT_MS, abs=NEAR_MS)
        with RawPcapReader(str(path)) as frames:
            messages = [Ether(data)[DNS] for data, _ in frames]
        assert [(each.qr, each.qd[0].qtype, each.ancount) for each in messages] == (
            [(0, 1, 0), (0, 28, 0), (1, 1, 1), (1, 28, 0)] if round_trips == 1 else
            [(0, 1, 0), (1, 1, 1), (0, 28, 0), (1, 28, 0)]
        )  # fmt: skip


def test_what_it_knows(net, far, tmp_path):
    with NameServer(far, tmp_path, aliases={"shop.example": "web", "www.shop.example": "web"}):
        assert lookup(net, "www.shop.example") == pytest.approx(RTT_MS, abs=NEAR_MS)
        assert lookup(net, "db", DB) == pytest.approx(RTT_MS, abs=NEAR_MS)
        back = TIMED.format(f"assert socket.gethostbyaddr('{WEB}')[0::2] == ('web', ['{WEB}'])")
        assert took(net, back) == pytest.approx(RTT_MS, abs=NEAR_MS)
        assert took(net, UNKNOWN) == pytest.approx(RTT_MS, abs=NEAR_MS)
        assert took(net, TIMED.format(LOOKUP.format(WEB, "web")), host="db") < NEAR_MS  # beside the server


def test_ipv6(net, far, tmp_path):
    with inside(net["web"]):
        subprocess.run(["sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=0"], check=True)
        subprocess.run(["ip", "address", "add", "fd00::2/64", "dev", "web-eth0"], check=True)
    try:
        with NameServer(far, tmp_path):
            assert lookup(net, address="fd00::2") == pytest.approx(RTT_MS, abs=NEAR_MS)
            assert took(net, TIMED.format("assert socket.gethostbyaddr('fd00::2')[0] == 'web'")) >= RTT_MS
    finally:
        with inside(net["web"]):
            subprocess.run(["sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1"], check=True)


def test_programs_that_run_change_over_and_back(net, far, tmp_path):
    assert lookup(net) < NEAR_MS
    worker = net["client"].popen([sys.executable, "-c", WORKER], stdin=subprocess.PIPE, text=True)

    def asked():
        worker.stdin.write("web\n")
        worker.stdin.flush()
        return float(worker.stdout.readline())

    with worker:
        assert asked() < NEAR_MS
        with NameServer(far, tmp_path):
            assert asked() == pytest.approx(RTT_MS, abs=NEAR_MS)
        assert asked() < NEAR_MS
        worker.stdin.close()
    assert lookup(net) < NEAR_MS


def test_a_network_has_one_at_a_time(net, far, tmp_path):
    with NameServer(far, tmp_path) as first:
        with pytest.raises(
            ServiceError, match="cannot be configured to ask it, host 'web': a network has one name server at a time"
        ):
            NameServer(net["web"], tmp_path).start()
        assert lookup(net) == pytest.approx(RTT_MS, abs=NEAR_MS)
        assert "query[A] web" in first.log.read_text()
    with NameServer(net["web"], tmp_path):
        assert lookup(net) < NEAR_MS
    assert lookup(net) < NEAR_MS


def test_hosts_that_have_files_of_their_own_have_them_again_afterwards(net, far, tmp_path):
    """As those of a compose project, whose hosts know different names."""
    own = tmp_path / "hosts"
    own.write_text(f"{DB} only-here web\n")
    with Network(ClientWebDb) as network:
        network["client"].namespace.files["/etc/hosts"] = own
        with NameServer(network["db"], tmp_path):
            assert lookup(network) < NEAR_MS  # web's own address
        assert lookup(network, "only-here", DB) < NEAR_MS
        assert lookup(network, "web", DB) < NEAR_MS
        assert own.read_text() == f"{DB} only-here web\n"


@pytest.mark.parametrize("alias", ["wbe", ""])
def test_an_alias_of_no_host(net, alias, tmp_path):
    with pytest.raises(ServiceError, match=rf"the alias 'shop' is for '{alias}', which is not a host"):
        NameServer(net["db"], tmp_path, aliases={"shop": alias}).start()
    assert lookup(net) < NEAR_MS


def test_a_port_that_is_taken(net, tmp_path):
    with NameServer(net["db"], tmp_path / "first") as first:
        with pytest.raises(ServiceError, match="port 53 is taken, so dnsmasq cannot have it, host 'db'"):
            NameServer(net["db"], tmp_path / "second").start()
        lookup(net)
        assert "query[A] web" in first.log.read_text()
    assert lookup(net) < NEAR_MS
