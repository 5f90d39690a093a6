"""IPv6 beside IPv4 in every topology: addresses, routes, names, links with conditions, and captures."""

import socket
import subprocess
import sys
import time

import pytest

from slownet import topologies
from slownet.lab.host import native
from slownet.links.ip import IPV6
from slownet.links.packets import capture as packets
from slownet.net import addresses, ipv6
from slownet.net.namespace import inside
from slownet.net.network import Network
from slownet.net.tcpdump import Capture
from slownet.reproductions.named_pages import FILE, Site
from slownet.tools.ab import ab
from slownet.tools.curl import curl
from slownet.tools.fetch import fetch
from slownet.tools.ping import ping
from slownet.tools.wget import wget
from slownet.tools.wrk import wrk
from slownet.topologies import Chain, TwoHosts

TOPOLOGY = Chain
PORT = 81
SERVE = f"""
import socket
server = socket.create_server(("", {PORT}), family=socket.AF_INET6)
print(flush=True)
server.accept()[0].recv(9)
"""


@pytest.fixture(scope="module", autouse=True)
def over_ipv6(net):
    net.add_ipv6()


@pytest.fixture(scope="module")
def site(net, over_ipv6, tmp_path_factory):
    with Site(net["server"], tmp_path_factory.mktemp("site"), "[::]:80") as found:
        yield found


def echoed(net, address, count=3):
    family = "-6" if ":" in address else "-4"
    return net["client"].popen(["ping", family, "-nq", "-i", "0.2", "-c", str(count), address], text=True).communicate()[0]


@pytest.mark.parametrize("name", topologies.known())
def test_the_hosts_of_each_topology_reach_each_other(name):
    with Network(topologies.find(name)) as network:
        network.add_ipv6()
        network.add_ipv6()  # once more is not an error


def test_a_link_treats_ipv6_as_it_treats_ipv4(net):
    with net.link("r1", "r2").set(rtt="30ms"):
        times = echoed(net, ipv6.of(net["server"].IP())).splitlines()[-1].split("=")[1].split("/")
    assert float(times[0]) == pytest.approx(30, abs=2)
    with net.link("r1", "r2").set(loss="100%", ping=False):
        assert "100% packet loss" in echoed(net, ipv6.of(net["server"].IP()))


def test_a_link_is_verified_over_ipv6(net):
    with net.link("r1", "r2").set(rate="64kbit", ping=IPV6):
        found = net.verified[-1].rtt_ms.min
    # Frames of 14 + 40 + 8 + 56 bytes there and back; over IPv4 they have 20 bytes less, and take 5 ms less.
    assert found == pytest.approx(2 * 8 * 118 / 64, abs=0.1 if native.cpu_is_free() else 1)


def test_no_report_of_multicast_groups_comes_later(tmp_path):
    with Network(TOPOLOGY) as network:
        network.add_ipv6()
        with network.capture("client", path=tmp_path / "pcap"):
            time.sleep(3)  # the kernel's own interval is a second, twice
    assert packets.frames(tmp_path / "pcap") == []


def test_an_mtu_below_the_least_takes_ipv6_off_until_it_is_added_again():
    with Network(TwoHosts) as network:
        network.add_ipv6()
        (address,) = addresses.ipv6(network["client"])
        for mtu, kept in ((IPV6.least_mtu, [address]), (IPV6.least_mtu - 1, [])):
            with network.link("client", "server").set(mtu=mtu):
                assert list(addresses.ipv6(network["client"])) == kept
            assert list(addresses.ipv6(network["client"])) == kept
        network.add_ipv6()
        assert list(addresses.ipv6(network["client"])) == [address]


def test_a_seeded_loss_draws_for_ipv6_as_for_ipv4(net):
    received = []
    for address in (net["server"].IP(), ipv6.of(net["server"].IP())):
        with net.link("r1", "r2").set(loss="30%", seed=7, ping=False):
            received.append(echoed(net, address, 40).splitlines()[-2].split(",")[1])
    assert received[0] == received[1] != " 40 received"


def test_programs_find_both_addresses_by_name_ipv6_first(net):
    # getaddrinfo's order is that of RFC 6724, by which a client of today tries IPv6 first
    find = "import socket; print(*(each[4][0] for each in socket.getaddrinfo('server', 80, type=socket.SOCK_STREAM)))"
    found = net["client"].popen([sys.executable, "-c", find], text=True).communicate()[0]
    assert found.split() == [ipv6.of(net["server"].IP()), net["server"].IP()]


@pytest.mark.parametrize(
    "measure",
    [
        lambda client, url: ab(client, url, requests=2),
        lambda client, url: curl(client, [url]),
        lambda client, url: fetch(client, url, requests=2),
        wget,
        lambda client, url: wrk(client, url, seconds=1),
        lambda client, url: ping(client, ipv6.of("10.0.2.2"), count=2, interval=0.01),
    ],
    ids=["ab", "curl", "fetch", "wget", "wrk", "ping"],
)
@pytest.mark.usefixtures("site")
def test_tools_take_an_ipv6_address(net, measure):
    with net.link("r1", "r2").set(rtt="10ms"):  # wrk asks for a second, without a delay thousands of times
        assert measure(net["client"], f"http://[{ipv6.of(net['server'].IP())}]/{FILE}").metrics()


def test_a_capture_of_ipv6_is_read_as_one_of_ipv4(net, tmp_path):
    capture = Capture(net["client"], "client-eth0", tmp_path / "pcap", filter=f"tcp port {PORT}")
    with net["server"].popen([sys.executable, "-c", SERVE], stdout=subprocess.PIPE) as server, capture, inside(net["client"]):
        try:
            assert server.stdout.readline()
            with socket.create_connection((ipv6.of(net["server"].IP()), PORT)) as connection:
                connection.sendall(b"question")
            server.communicate(timeout=10)
        finally:
            server.kill()
    (segments,) = packets.connections(tmp_path / "pcap")
    assert [each.data for each in segments if each.length] == [b"question"]
    assert all(each.length == len(each.data) for each in segments)
