"""The probes against links that are true, and against links that were changed behind the network's back."""

import socket

import pytest
from scapy.layers.inet import ICMP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoReply, ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import Ether

from slownet.calibration.carried import carried
from slownet.calibration.cases import Case, choose, matrix
from slownet.calibration.judge import OWN_FREE_CPU_S, OWN_S, judge
from slownet.calibration.probe_run import ends, measure, prepare
from slownet.calibration.probes import OURS, PROBES
from slownet.lab.host import native
from slownet.links.ip import IPV4, IPV6
from slownet.links.packets import capture as packets
from slownet.net.network import Network
from slownet.topologies import TwoHosts


@pytest.fixture(scope="module")
def pairs():
    """A network for each version of IP: an MTU of 576 takes IPv6 off."""
    with Network(TwoHosts) as first, Network(TwoHosts) as second:
        found = {IPV4: first, IPV6: second}
        for ip, network in found.items():
            prepare(network, ip)
        yield found


def measured(pairs, case, *meddling):
    """The rows of a case; the lines of tc and ip are run after its link was set."""
    pair = pairs[case.ip]
    with pair.link("client", "server").set(ping=case.ip, **case.fields):
        for line in meddling:
            output, errors, status = pair["client"].pexec(line)
            assert status == 0, errors or output
        numbers = PROBES[case.probe](ends(pair), case)
        if meddling:  # as it was, or the network would not find what it left
            pair.link("client", "server").set(ping=False, **case.fields)
    return judge([(case, numbers)], native.cpu_is_free())


@pytest.fixture(scope="module")
def true(pairs):
    """The rows of a case whose link is as it was set, true(case): measured once."""
    found = {}

    def rows(case):
        key = case.ip, case.probe, case.name
        if key not in found:
            found[key] = measured(pairs, case)
        return found[key]

    return rows


def title(each):
    return f"{each.ip} {each.name}" if isinstance(each, Case) else ""


BOTH = [*choose(matrix(), quick=True), *choose(matrix(ip=IPV6), quick=True)]


@pytest.mark.parametrize("case", BOTH, ids=title)
def test_a_true_link_is_ok(true, case):
    rows = true(case)
    assert rows
    assert all(row.ok for row in rows), rows


@pytest.mark.parametrize(("over_ipv4", "over_ipv6"), list(zip(matrix(), matrix(ip=IPV6), strict=True)), ids=title)
def test_a_row_over_ipv6_equals_that_over_ipv4(true, over_ipv4, over_ipv6):
    free = native.cpu_is_free()
    if not free and over_ipv4.rate:
        pytest.skip("the CPU may not carry the rate")
    for one, other in zip(true(over_ipv4), true(over_ipv6), strict=True):
        assert (one.what, one.unit, one.alone) == (other.what, other.unit, other.alone)
        if one.alone and one.unit != "ms":  # frames of the same EtherType, and the same seed
            assert one.measured == other.measured
        elif one.alone:  # equal but for the steps of the clock: two measurements over IPv4 differ as much
            assert one.measured == pytest.approx(other.measured, abs=1000 * (OWN_FREE_CPU_S if free else OWN_S))
        # Each is as far from what theory says for its own headers as the rule of IPv4's row allows.
        assert one.low - one.stated <= other.error <= one.high - one.stated


CABLE = "tc qdisc change dev client-eth0 root handle 51: netem limit 100000"
BOTTLENECK = "tc qdisc change dev client-eth0 parent 51: handle 52: netem limit"
MEDDLING = [
    (Case("", "spread", {"delay": "50ms", "jitter": "5ms", "seed": 1}, 4000), f"{CABLE} delay 50ms 4ms"),
    (Case("", "numbers", {"loss": "5%", "seed": 1}, 10_000), f"{CABLE} loss 7%"),
    (Case("", "numbers", {"loss": "5%", "seed": 1}, 10_000), f"{CABLE} loss gemodel 0.66% 12.5%"),
    (Case("", "numbers", {"loss": "5% in bursts of 8", "seed": 1}, 40_000), f"{CABLE} loss gemodel 1.32% 25%"),
    (Case("", "numbers", {"duplicate": "10%", "seed": 1}, 10_000), f"{CABLE} duplicate 8%"),
    (Case("", "damage", {"corrupt": "10%", "seed": 1}, 10_000), f"{CABLE} corrupt 8%"),
    (Case("", "early", {"delay": "50ms", "reorder": "25%", "seed": 1}, 4000), f"{CABLE} delay 50ms reorder 15%"),
    (Case("", "crossing", {"rate": "2Mbit"}, 5), f"{BOTTLENECK} 10 rate 1.5Mbit"),
    (Case("", "fill", {"rate": "10Mbit", "queue": "100 packets"}, 600), f"{BOTTLENECK} 110 rate 10Mbit"),
    (Case("", "kept", {"delay": "200ms", "queue": "50 packets"}, 600), f"{CABLE.replace('100000', '51')} delay 200ms"),
    *(
        (Case("", probe, fields, count, ip=ip), line)
        for ip in (IPV4, IPV6)
        for probe, fields, count, line in (
            ("echo", {"delay": "5ms"}, 11, f"{CABLE} delay 5.5ms"),
            ("transfer", {"rate": "2Mbit"}, 250_000, f"{BOTTLENECK} 10 rate 2.1Mbit"),
            ("largest", {"mtu": 1400}, 1, "ip link set client-eth0 mtu 1300"),
            ("largest", {"mtu": 1400}, 1, "ip link set client-eth0 mtu 1500"),
        )
    ),
]


@pytest.mark.parametrize(("case", "line"), MEDDLING, ids=title)
def test_a_link_that_somebody_changed_is_not_ok(pairs, case, line):
    assert not all(row.ok for row in measured(pairs, case, line))


def test_the_same_seed_draws_the_same(pairs):
    case = Case("", "numbers", {"loss": "5% in bursts of 8", "seed": 5}, 5000)
    assert measured(pairs, case) == measured(pairs, case)


SENT = {IPV4: (ICMP, "chksum", 1448), IPV6: (ICMPv6EchoRequest, "cksum", 1428)}
"""Scapy's layer of an echo request, its checksum, and the payload of a full TCP segment at MTU 1500 with timestamps."""


@pytest.mark.parametrize("ip", [IPV4, IPV6], ids=str)
def test_every_packet_is_of_the_version_of_ip(ip, tmp_path, capfd):
    """Packets as tcpdump sees them, from the start of the calibration: no other version, ARP, neighbour discovery or MLD."""
    chosen = choose(matrix(ip=ip), ["delay", "loss", "rate", "aqm", "queue", "mtu"], quick=True)
    with Network(TwoHosts) as network:
        prepare(network, ip)
        with network.capture("client", path=tmp_path / "pcap", filter=f"not ether proto {OURS}", snaplen=128):
            measure(network, chosen, ip)
    assert capfd.readouterr().out.count("numbers") >= len(chosen)
    crossed = [frame for _, frame in packets.frames(tmp_path / "pcap")]
    assert {frame[Ether].type for frame in crossed} == {ip.ethertype}
    protocols = {ip.protocol(bytes(frame[Ether].payload)) for frame in crossed}
    assert protocols == {ip.icmp, socket.IPPROTO_TCP, socket.IPPROTO_UDP}
    assert max(packets.carried(frame) for frame in crossed if TCP in frame) == SENT[ip][2]
    assert max(frame[UDP].len for frame in crossed if UDP in frame) + ip.header == 1400
    if ip is IPV6:
        assert all(ICMPv6EchoRequest in frame or ICMPv6EchoReply in frame for frame in crossed if frame[IPv6].nh == ip.icmp)


@pytest.mark.parametrize("ip", [IPV4, IPV6], ids=str)
def test_an_echo_request_has_the_checksum_that_scapy_computes(pairs, ip, tmp_path):
    with pairs[ip].capture("server", path=tmp_path / "pcap"):
        measured(pairs, Case("delay", "echo", {"delay": "1ms"}, 5, ip=ip))
    layer, checksum, _ = SENT[ip]
    requests = [frame for _, frame in packets.frames(tmp_path / "pcap") if layer in frame]
    assert len(requests) > 5
    for request in requests:
        again = request.copy()
        again[layer].delfieldval(checksum)
        assert bytes(again) == bytes(request)


@pytest.mark.charged  # without that there is no ceiling
@pytest.mark.parametrize("ip", [IPV4, IPV6], ids=str)
def test_a_rate_that_the_cpu_carries_is_found(pairs, ip):
    # A neighbour on the machine makes the same work cost more CPU time from one moment to the next: a ceiling for each try.
    tries = [half_of_what_is_carried(pairs, ip) for _ in range(3)]
    assert any(all(row.ok for row in rows) for _, rows in tries), tries


def half_of_what_is_carried(pairs, ip):
    pair = pairs[ip]
    most = carried(pair.link("client", "server"), pair["client"], pair["server"], ip)
    return most, measured(pairs, Case("", "transfer", {"rate": f"{int(most / 2)}bit"}, 2_000_000, ip=ip))
