"""Captures: no packet is missing at the start or at the end."""

import json
import socket
import subprocess

import pytest
from scapy.layers.inet import IP
from scapy.utils import PcapReader, RawPcapReader
from traffic import Datagrams, start

from slownet.model.errors import ExperimentError, ToolError

HEADERS = 14 + 20 + 8  # Ethernet, IP, UDP
OURS = "udp and dst port 5002"
SHOTS = """
import socket, sys
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(500):
    sender.sendto(number.to_bytes(4, "big") + bytes(50), (sys.argv[1], 5002))
"""


def numbers(path):
    """Return the numbers of the datagrams in a file, and when each was captured."""
    with RawPcapReader(str(path)) as packets:  # dissecting thousands of packets would take seconds
        second = 1e9 if packets.nano else 1e6  # with nano, `usec` holds nanoseconds
        found = [(frame, meta.sec + meta.usec / second) for frame, meta in packets]
    assert all(frame[23] == socket.IPPROTO_UDP for frame, _ in found)
    return [(int.from_bytes(frame[HEADERS : HEADERS + 4], "big"), seen) for frame, seen in found]


@pytest.mark.parametrize("count", [1, 3000])
def test_every_packet_from_the_first_to_the_last(net, tmp_path, count):
    for attempt in range(3):
        with net.capture("client", "client-eth0", tmp_path / f"{attempt}.pcap", filter=OURS) as capture:
            came = Datagrams(net["client"], net["web"], count, burst=100, pause=0.002, quiet=0.01).end()
        assert len(came) == count
        assert [number for number, _ in numbers(capture.path)] == list(range(count))
        assert (capture.packets, capture.dropped) == (count, 0)
        read = subprocess.run(["tcpdump", "-n", "-r", capture.path], capture_output=True, text=True, check=True)
        assert len(read.stdout.splitlines()) == count


def test_it_ends_at_once_after_a_burst(net, tmp_path):
    """Check the last packets, which are still in the kernel's buffer when the block ends."""
    with net.capture("web", path=tmp_path / "burst.pcap", filter=OURS) as capture:
        assert start(net["client"], SHOTS, net["web"].IP()).wait() == 0
    assert [number for number, _ in numbers(capture.path)] == list(range(500))


def test_a_switchs_port_and_a_link_see_the_same(net, tmp_path):
    with (
        net.link("client", "switch").set(rtt="20ms"),
        net.capture("switch", "switch-eth1", tmp_path / "port.pcap", filter=OURS) as port,
        net.link("client", "switch").capture(tmp_path / "link.pcap", filter=OURS) as link,
    ):
        Datagrams(net["client"], net["web"], 20, quiet=0.05).end()
    at_port, at_client = numbers(port.path), numbers(link.path)
    assert [number for number, _ in at_port] == [number for number, _ in at_client] == list(range(20))
    # a capture sees packets when they leave the host, after the delay
    assert all(abs(there - here) < 0.005 for (_, there), (_, here) in zip(at_port, at_client, strict=True))


def test_only_the_beginnings_of_packets(net, tmp_path):
    with net.capture("client", path=tmp_path / "short.pcap", filter=OURS, snaplen=60) as capture:
        Datagrams(net["client"], net["web"], 5, size=1000, quiet=0.01).end()
    with PcapReader(str(capture.path)) as packets:
        found = list(packets)
    assert [(len(bytes(each)), each.wirelen, each[IP].len) for each in found] == [(60, 1014, 1000)] * 5


def test_all_of_a_hosts_interfaces(net, tmp_path):
    with net.capture("client", "any", tmp_path / "any.pcap", filter="icmp") as capture:
        net["client"].cmd(f"ping -c 2 -i 0.01 {net['web'].IP()}; ping -c 1 127.0.0.1")
    assert capture.packets == 4 + 2


def test_nothing_is_left_running(net, tmp_path):
    with pytest.raises(ZeroDivisionError), net.capture("client", path=tmp_path / "x.pcap"):
        print(1 / 0)
    assert subprocess.run(["pgrep", "-x", "tcpdump"], capture_output=True, check=False).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "options", "error", "line"),
    [
        (("client", "client-eth1"), {}, ExperimentError, "client has no interface 'client-eth1': did you mean 'client-eth0'?"),
        (("switch", "any"), {}, ExperimentError, "switch has no interface 'any': choose from switch-eth1, "),
        (("cleint",), {}, ExperimentError, "no host 'cleint' in ClientWebDb: did you mean 'client'?"),
        (("client",), {"filter": "tpc port 80"}, ToolError, "tcpdump: can't parse filter expression: syntax error"),
        (("client",), {"snaplen": 0}, ExperimentError, "a snaplen of 0 keeps nothing"),
        (("client", None, "/proc/nothing/x.pcap"), {}, ToolError, "cannot capture to /proc/nothing/x.pcap: No such file"),
    ],
)
def test_a_mistake_is_one_line(net, tmp_path, monkeypatch, arguments, options, error, line):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error) as caught, net.capture(*arguments, **options):
        pytest.fail("it captured")
    assert str(caught.value).startswith(line)
    assert len(str(caught.value).splitlines()) == 1


def test_the_same_names_on_another_network(net, tmp_path):
    """Capture on a port that has another name on the machine."""
    from slownet.net.network import Network
    from slownet.topologies import ClientWebDb

    with Network(ClientWebDb) as second, second.capture("switch", "switch-eth1", tmp_path / "2.pcap", filter="icmp") as capture:
        net["client"].cmd(f"ping -c 3 -i 0.01 {net['web'].IP()}")
        second["client"].cmd(f"ping -c 1 {second['web'].IP()}")
    assert capture.packets == 2
    assert json.dumps(capture.to_json(tmp_path)) == json.dumps(
        {"file": "2.pcap", "interface": "switch-eth1", "packets": 2, "dropped": 0}
    )
