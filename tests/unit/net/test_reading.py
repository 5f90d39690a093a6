"""The kernel's counters: captured netlink messages, next to tc's output at the time."""

from types import SimpleNamespace

import pytest

from slownet.model.errors import ExperimentError
from slownet.net import interface_captures, kernel_counters, tcpdump
from slownet.net.counting import flow
from slownet.net.kernel_counters import Interface, Qdisc

# {"kind":"tbf","handle":"53:","parent":"51:", ... "bytes":4816,"packets":8,"drops":0,"overlimits":1,"requeues":0,
#  "backlog":0,"qlen":0}
TBF = (
    "000000000300000000005300000051000100000008000100746266002c00020028000100000100000000000068890900000000000000000000000000"
    "48760000f82401000000000005000c00000000003000070014000100d01200000000000008000000000000001800030000000000000000000000000000"
    "000000010000002c000300d0120000000000000800000000000000010000000000000000000000000000000000000000000000"
)
NOQUEUE = (
    "000000000100000000000000ffffffff020000000c0001006e6f71756575650005000c00000000003000070014000100000000000000000000000000"
    "000000001800030000000000000000000000000000000000000000002c00030000000000000000000000000000000000000000000000000000000000"
    "000000000000000000000000"
)


def test_a_qdisc():
    found = kernel_counters._qdisc(bytes.fromhex(TBF))
    assert found == Qdisc(3, "tbf", "53:", "51:", False, 8, 4816, 0, 1, 0, 0, 0)
    assert kernel_counters._qdisc(bytes.fromhex(NOQUEUE)) == Qdisc(1, "noqueue", "0:", "ffff:", True, 0, 0, 0, 0, 0, 0, 0)


def test_a_chain_is_its_root_and_the_sum_of_what_a_root_does_not_know():
    interface = Interface(3, "client-eth0", "", 90, 100, 9000, 10_000, 0, 2)
    chain = [
        Qdisc(3, "netem", "51:", "ffff:", True, 100, 10_000, 7, 0, 0, 4, 400),
        Qdisc(3, "tbf", "53:", "51:", False, 100, 10_000, 5, 30, 1, 3, 300),
        Qdisc(3, "pfifo", "62:", "53:", False, 100, 10_000, 5, 2, 1, 3, 300),
    ]
    whole = flow(interface, chain)
    assert (whole.sent_packets, whole.sent_bytes, whole.dropped) == (100, 10_000, 7 + 2)
    assert (whole.overlimits, whole.requeues, whole.backlog_packets, whole.backlog_bytes) == (32, 2, 4, 400)
    assert list(whole.qdiscs) == ["netem 51:", "tbf 53:", "pfifo 62:"]
    assert whole.qdiscs["tbf 53:"].dropped == 5


def test_what_tcpdump_says_on_its_way_and_at_its_end():
    asked = "tcpdump: 1 packet captured, 12 packets received by filter, 0 packets dropped by kernel\n"
    ended = "\n12 packets captured\n13 packets received by filter\n1 packet dropped by kernel\n"
    assert tcpdump._counts(asked) == {"captured": 1, "received by filter": 12, "dropped by kernel": 0}
    assert tcpdump._counts(ended) == {"captured": 12, "received by filter": 13, "dropped by kernel": 1}


def test_what_was_captured_before_stays(tmp_path):
    assert interface_captures._fresh(tmp_path, "000-h1-eth0") == tmp_path / "000-h1-eth0.pcap"
    (tmp_path / "000-h1-eth0.pcap").touch()
    assert interface_captures._fresh(tmp_path, "000-h1-eth0") == tmp_path / "000-h1-eth0-2.pcap"


def test_interfaces_are_found_by_name():
    def node(name, interfaces):
        found = {each: SimpleNamespace(name=each) for each in ["lo", *interfaces]}
        one = SimpleNamespace(name=name, nameToIntf=found, intfList=lambda: list(found.values()))
        for each in found.values():
            each.node = one
        return one

    h1, s1 = node("h1", ["h1-eth0", "h1-eth1"]), node("s1", ["s1-eth1"])
    net = SimpleNamespace(hosts=[h1], switches=[s1])
    assert interface_captures.find(net, ["s1-eth1", "hosts"]) == [(s1, "s1-eth1"), (h1, "h1-eth0"), (h1, "h1-eth1")]
    assert interface_captures.find(net, []) == []
    with pytest.raises(ExperimentError, match="no interface 'h1-eht0', --capture: did you mean 'h1-eth0'"):
        interface_captures.find(net, ["h1-eht0"])
