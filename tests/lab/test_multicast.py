"""A host that joins a group says so, and a switch that snoops learns it."""

import contextlib
import socket
import struct
import subprocess
import sys

import pytest

from slownet.lab.host.native import inside_lab

GROUP, PORT = "239.1.2.3", 5007
JOIN = f"""
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", {PORT}))
s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("{GROUP}") + socket.inet_aton("10.0.0.2"))
s.settimeout(30)
print("joined", flush=True)
count = 0
try:
    while True:
        s.recv(100)
        count += 1
except TimeoutError:
    print(count)
"""
SEND = f"""
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(3):
    s.sendto(b"x", ("{GROUP}", {PORT}))
"""
LISTEN = """
import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
s.bind(("mbr-2", 3))
s.settimeout(4)
print("listens", flush=True)
try:
    while True:
        packet = s.recv(2000)
        if packet[0] >> 4 == 4 and packet[9] == 2:
            print(packet.hex(), flush=True)
except TimeoutError:
    pass
"""
pytestmark = pytest.mark.skipif(not inside_lab(), reason="about the lab's own kernels")


def ip(*words):
    subprocess.run(["ip", *words], check=True)


@pytest.fixture
def bridge():
    """Two hosts on a bridge that snoops and asks who is in which group; run code on one of them, or (0) on the bridge."""
    names = ("mcast1", "mcast2")
    ip("link", "add", "mbr", "type", "bridge", "mcast_snooping", "1", "mcast_querier", "1", "mcast_igmp_version", "3")
    ip("link", "set", "mbr", "up")
    for number, name in enumerate(names, 1):
        ip("netns", "add", name)
        ip("link", "add", f"mbr-{number}", "type", "veth", "peer", "name", f"h{number}-e", "netns", name)
        ip("link", "set", f"mbr-{number}", "master", "mbr", "up")
        ip("-n", name, "addr", "add", f"10.0.0.{number}/24", "dev", f"h{number}-e")
        ip("-n", name, "link", "set", f"h{number}-e", "up")
        ip("-n", name, "route", "add", "239.0.0.0/8", "dev", f"h{number}-e")
    with contextlib.ExitStack() as running:
        yield lambda number, code: running.enter_context(
            subprocess.Popen(
                [*(["ip", "netns", "exec", names[number - 1]] if number else []), sys.executable, "-c", code],
                stdout=subprocess.PIPE, text=True,
            )
        )  # fmt: skip
    for name in names:
        ip("netns", "delete", name)
    ip("link", "delete", "mbr")


def groups_of_reports(text):
    """The groups that IGMPv3 reports in a text of packets name."""
    found = set()
    for packet in map(bytes.fromhex, text.split()):
        igmp = packet[(packet[0] & 15) * 4 :]
        if igmp[0] == 0x22 and struct.unpack("!H", igmp[6:8])[0]:
            found.add(socket.inet_ntoa(igmp[12:16]))
    return found


def test_a_join_is_reported_and_a_bridge_that_snoops_learns_it(bridge):
    listener = bridge(0, LISTEN)
    assert listener.stdout.readline() == "listens\n"
    member = bridge(2, JOIN)
    assert member.stdout.readline() == "joined\n"
    reports = listener.stdout.read()
    assert GROUP in groups_of_reports(reports)
    learned = subprocess.run(["bridge", "mdb", "show"], capture_output=True, text=True, check=True).stdout
    assert f"port mbr-2 grp {GROUP}" in learned
    assert f"port mbr-1 grp {GROUP}" not in learned
    bridge(1, SEND).wait()
    assert member.stdout.read() == "3\n"


def test_a_program_may_route_multicast():
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_IGMP) as router:
        router.setsockopt(socket.IPPROTO_IP, 200, 1)  # MRT_INIT, as smcroute, pimd and mrouted say
