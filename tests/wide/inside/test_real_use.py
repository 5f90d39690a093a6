"""What people build with the wide kernel's features, between two hosts that are 10 ms apart: it does what its documents say.

`make test-wide` runs this in a lab with the wide kernel. Expected numbers follow from headers' sizes and settings, as comments
say; at free CPU nothing else takes time.
"""

import itertools
import json
import re
import subprocess
import sys

import pytest

from slownet.lab.host import native

pytestmark = pytest.mark.skipif(not native.inside_lab(), reason="about the lab's wide kernel")
ONE_WAY_MS, RATE_MBIT = 5, 20
ETHERNET, IPV4, UDP, TCP = 14, 20, 8, 20 + 12
"""Bytes of headers; TCP's with time stamps."""


def run(*words, check=True):
    return subprocess.run(words, capture_output=True, text=True, check=check).stdout


class Host:
    """A network namespace, in which commands run."""

    def __init__(self, name):
        self.name = name
        run("ip", "netns", "add", name)
        self("ip link set lo up")

    def start(self, command, **how):
        return subprocess.Popen(["ip", "netns", "exec", self.name, "sh", "-c", command], text=True, **how)

    def __call__(self, command, fails=False):
        done = subprocess.run(
            ["ip", "netns", "exec", self.name, "sh", "-c", command], capture_output=True, text=True, check=False
        )
        assert (done.returncode != 0) == fails, f"{command}: {done.stderr or done.stdout}"
        return done.stdout

    def pings(self, words, fails=False):
        """Return the round trips of pings in ms; the first one, which waits for addresses and keys, is left out."""
        output = self(f"ping -n -i 0.2 -c 4 -W 2 {words}", fails)
        return [float(each) for each in re.findall(r"time=([\d.]+) ms", output)][1:]


@pytest.fixture(scope="module")
def numbers():
    return itertools.count()


@pytest.fixture
def hosts(numbers):
    """Make hosts by the number that is asked for."""
    made = []

    def make(count):
        made.extend(Host(f"wide{next(numbers)}") for _ in range(count))
        return made[-count:]

    yield make
    for host in made:
        run("ip", "netns", "delete", host.name)


def connect(one, other, subnet, names=("e0", "e0"), queues=1, delay_ms=ONE_WAY_MS):
    """Connect two hosts by a link with a delay, and give both ends addresses: .1 and .2."""
    run(
        *f"ip link add {names[0]} netns {one.name} numtxqueues {queues} type veth".split(),
        *f"peer name {names[1]} netns {other.name} numtxqueues {queues}".split(),
    )
    for number, (host, name) in enumerate(zip((one, other), names, strict=True), 1):
        host(f"ethtool -K {name} tso off gso off gro off")
        host(f"ip addr add {subnet}.{number}/24 dev {name} && ip link set {name} up")
        host(f"tc qdisc add dev {name} root handle 1: netem delay {delay_ms}ms rate {RATE_MBIT}mbit limit 2000")


@pytest.fixture
def pair(hosts):
    one, other = hosts(2)
    connect(one, other, "10.0.0")
    return one, other


def throughput(client, server, address, streams=1):
    """Return the Mbit/s of TCP's payload that arrived, after slow start."""
    with server.start("exec iperf3 -s -1", stdout=subprocess.DEVNULL):
        server("until ss -Htnl 'sport = 5201' | grep -q .; do sleep 0.1; done")
        said = client(f"iperf3 -J -O 3 -t 5 -P {streams} -c {address}")
    return json.loads(said)["end"]["sum_received"]["bits_per_second"] / 1e6


def ms(delay=ONE_WAY_MS, size=98):
    """Return a ping's round trip: two delays, and the time of a frame on the link each way."""
    return pytest.approx(2 * (delay + size * 8 / RATE_MBIT / 1000), abs=0.1)


def test_wireguard(pair):
    one, other = pair
    keys = []
    for number, host in enumerate(pair, 1):
        host(f"umask 077; wg genkey > /tmp/wide-{host.name}.key")
        keys.append(host(f"wg pubkey < /tmp/wide-{host.name}.key").strip())
        host(f"ip link add wg0 type wireguard && ip addr add 10.9.0.{number}/24 dev wg0 && ip link set wg0 up")
    for number, host in enumerate(pair, 1):
        host(
            f"wg set wg0 listen-port 51820 private-key /tmp/wide-{host.name}.key peer {keys[2 - number]} "
            f"allowed-ips 10.9.0.{3 - number}/32 endpoint 10.0.0.{3 - number}:51820"
        )
    assert one.pings("10.9.0.2") == [ms(size=ETHERNET + IPV4 + UDP + 32 + 96)] * 3  # 84 bytes are padded to 96
    # A packet of 1,420 bytes gets 32 bytes of WireGuard, and UDP's and IP's headers.
    assert throughput(one, other, "10.9.0.2") == pytest.approx(
        RATE_MBIT * (1420 - IPV4 - TCP) / (ETHERNET + IPV4 + UDP + 32 + 1420), rel=0.01
    )
    assert "latest handshake" in one("wg show")
    other("wg set wg0 peer " + keys[0] + " remove")
    assert one.pings("10.9.0.2", fails=True) == []


def test_gre(pair):
    for number, host in enumerate(pair, 1):
        host(f"ip tunnel add gre1 mode gre local 10.0.0.{number} remote 10.0.0.{3 - number} ttl 64")
        host(f"ip addr add 10.9.0.{number}/24 dev gre1 && ip link set gre1 up")
    one, _ = pair
    assert one.pings("10.9.0.2") == [ms(size=98 + 24)] * 3
    # 24 bytes for IP and GRE: 1,476 of 1,500 are left, of which IP and ICMP take 28.
    one("ping -M do -s 1448 -c 1 10.9.0.2")
    one("ping -M do -s 1449 -c 1 10.9.0.2", fails=True)


def test_vrf_keeps_two_customers_with_the_same_addresses_apart(hosts):
    router, red, blue = hosts(3)
    for number, (name, customer, delay) in enumerate((("red", red, 5), ("blue", blue, 15)), 1):
        router(f"ip link add {name} type vrf table {number} && ip link set {name} up")
        connect(router, customer, "10.0.0", (f"to-{name}", "e0"), delay_ms=delay)
        router(f"ip link set to-{name} master {name}")
    assert router.pings("-I red 10.0.0.2") == [ms(5)] * 3
    assert router.pings("-I blue 10.0.0.2") == [ms(15)] * 3


def test_ipsec(pair):
    one, other = pair
    aead = "aead 'rfc4106(gcm(aes))' 0x00112233445566778899aabbccddeeff00112233 128"
    for host in pair:
        for source, target, spi in (("10.0.0.1", "10.0.0.2", 1), ("10.0.0.2", "10.0.0.1", 2)):
            host(f"ip xfrm state add src {source} dst {target} proto esp spi {spi} mode transport {aead}")
            way = "out" if (host is one) == (spi == 1) else "in"
            host(
                f"ip xfrm policy add src {source} dst {target} dir {way} "
                f"tmpl src {source} dst {target} proto esp mode transport"
            )
    # ESP's header (8), the vector (8), 64 bytes of ICMP and 2 of the trailer padded to 68, and 16 that prove it.
    assert one.pings("10.0.0.2") == [ms(size=ETHERNET + IPV4 + 8 + 8 + 68 + 16)] * 3
    assert "4(packets)" in one("ip -s xfrm state list spi 1")
    other("ip xfrm state delete dst 10.0.0.2 proto esp spi 1")
    assert one.pings("10.0.0.2", fails=True) == []
    assert re.search(r"XfrmInNoStates\s+[1-9]", other("cat /proc/net/xfrm_stat"))


def test_mpls(hosts):
    one, router, other = hosts(3)
    connect(one, router, "10.0.1", ("e0", "left"))
    connect(router, other, "10.0.2", ("right", "e0"))
    router("sysctl -w net.mpls.platform_labels=1000 net.mpls.conf.left.input=1 net.mpls.conf.right.input=1")
    router("ip -f mpls route add 100 via inet 10.0.2.2 && ip -f mpls route add 200 via inet 10.0.1.1")
    one("ip route add 10.0.2.0/24 encap mpls 100 via 10.0.1.2")
    other("ip route add 10.0.1.0/24 encap mpls 200 via 10.0.2.1")
    # It is not an IP router: without labels nothing is forwarded.
    assert router("cat /proc/sys/net/ipv4/ip_forward").strip() == "0"
    assert len(one.pings("10.0.2.2")) == 3
    router("ip -f mpls route del 100")
    assert one.pings("10.0.2.2", fails=True) == []


def test_segment_routing_goes_by_the_router_that_it_names(hosts):
    one, first, second, other = hosts(4)
    for host in (one, first, second, other):
        host("sysctl -w net.ipv6.conf.all.forwarding=1 net.ipv6.conf.all.seg6_enabled=1 net.ipv6.conf.default.accept_dad=0")
    for number, (router, delay) in enumerate(((first, 5), (second, 15)), 1):
        connect(one, router, f"10.0.{number}", (f"to-{number}", "left"), delay_ms=delay)
        connect(router, other, f"10.1.{number}", ("right", f"to-{number}"), delay_ms=delay)
        for host, name, end in ((one, f"to-{number}", 1), (router, "left", 2)):
            host(f"sysctl -w net.ipv6.conf.{name}.seg6_enabled=1 && ip addr add fd00:{number}::{end}/64 dev {name} nodad")
        for host, name, end in ((router, "right", 1), (other, f"to-{number}", 2)):
            host(f"sysctl -w net.ipv6.conf.{name}.seg6_enabled=1 && ip addr add fd01:{number}::{end}/64 dev {name} nodad")
        router(f"ip -6 route add fd00:a::/64 via fd00:{number}::1 && ip -6 route add fd00:b::/64 via fd01:{number}::2")
        router(f"ip -6 route add fd00:{number}0::1/128 encap seg6local action End dev left")
        one(f"ip -6 route add fd00:{number}0::/64 via fd00:{number}::2")
    one("ip addr add fd00:a::1/128 dev lo")
    other("ip addr add fd00:b::1/128 dev lo && ip -6 route add fd00:a::/64 via fd01:1::1")
    one("ip -6 route add fd00:b::/64 via fd00:1::2 src fd00:a::1")
    near = one.pings("-I fd00:a::1 fd00:b::1")
    one("ip -6 route replace fd00:b::/64 encap seg6 mode inline segs fd00:20::1 dev to-2 src fd00:a::1")
    far = one.pings("-I fd00:a::1 fd00:b::1")
    # It goes over the far router, 15 and not 5 ms on each of two links, and comes back over the near one.
    assert [there - here for there, here in zip(far, near, strict=True)] == [pytest.approx(20, abs=0.2)] * 3


def test_a_bond_goes_over_to_its_second_link(hosts):
    pair = one, other = hosts(2)
    connect(one, other, "10.0.1", ("near", "near"), delay_ms=5)
    connect(one, other, "10.0.2", ("far", "far"), delay_ms=15)
    for number, host in enumerate(pair, 1):
        host("ip link add bond0 type bond mode active-backup miimon 100")
        for name in ("near", "far"):
            host(f"ip addr flush dev {name} && ip link set {name} down && ip link set {name} master bond0")
            host(f"ip link set {name} up")
        host(
            f"ip addr add 10.0.0.{number}/24 dev bond0 && ip link set bond0 up && ip link set bond0 type bond active_slave near"
        )
    assert one.pings("10.0.0.2") == [ms(5)] * 3
    other("ip link set near down")
    one("sleep 1")
    assert one.pings("10.0.0.2") == [ms(15)] * 3


@pytest.mark.parametrize(("kind", "mode", "addresses"), [("macvlan", "bridge", 2), ("ipvlan", "l2", 1)])
def test_containers_on_one_cable(hosts, kind, mode, addresses):
    one, other, *inner = hosts(4)
    connect(one, other, "10.0.0")
    for number, host in enumerate(inner, 10):
        one(f"ip link add inner{number} link e0 type {kind} mode {mode}")
        one(f"ip link set inner{number} netns {host.name}")
        host(f"ip addr add 10.0.0.{number}/24 dev inner{number} && ip link set inner{number} up")
    for number in (10, 11):
        assert other.pings(f"10.0.0.{number}") == [ms()] * 3
    assert all(each < 0.1 for each in inner[0].pings("10.0.0.11"))
    seen = set(re.findall(r"10\.0\.0\.1[01] .*lladdr (\S+)", other("ip neigh")))
    assert len(seen) == addresses


def test_macsec(pair):
    one, other = pair
    macs = [json.loads(host("ip -json link show e0"))[0]["address"] for host in pair]
    for number, host in enumerate(pair):
        host("ip link add sec0 link e0 type macsec encrypt on")
        host(f"ip macsec add sec0 tx sa 0 pn 1 on key 0{number + 1} {str(number + 1) * 32}")
        host(f"ip macsec add sec0 rx port 1 address {macs[1 - number]}")
        host(f"ip macsec add sec0 rx port 1 address {macs[1 - number]} sa 0 pn 1 on key 0{2 - number} {str(2 - number) * 32}")
        host(f"ip addr add 10.9.0.{number + 1}/24 dev sec0 && ip link set sec0 up")
    # 16 bytes of SecTAG with its channel identifier, 16 of proof; it leaves 1,468 of 1,500.
    assert one.pings("10.9.0.2") == [ms(size=98 + 32)] * 3
    assert json.loads(one("ip -json link show sec0"))[0]["mtu"] == 1468
    other(f"ip macsec set sec0 rx port 1 address {macs[0]} sa 0 off")
    assert one.pings("10.9.0.2", fails=True) == []


def test_a_transparent_proxy_takes_connections_to_others(pair):
    one, other = pair
    one("ip route add 10.5.0.0/16 via 10.0.0.2")
    other("ip rule add fwmark 1 lookup 100 && ip route add local default dev lo table 100")
    other("iptables -t mangle -A PREROUTING -p tcp -d 10.5.0.0/16 -j TPROXY --on-port 8080 --tproxy-mark 1")
    proxy = (
        "import socket\n"
        "s = socket.socket(); s.setsockopt(socket.SOL_IP, 19, 1); s.bind(('0.0.0.0', 8080)); s.listen()\n"
        "print('listens', flush=True)\n"
        "c, who = s.accept(); c.sendall(repr((c.getsockname(), who[0])).encode()); c.close()\n"
    )
    client = "import socket; print(socket.create_connection(('10.5.6.7', 99), 5).recv(99).decode())"
    with other.start(f'exec {sys.executable} -c "{proxy}"', stdout=subprocess.PIPE) as running:
        assert running.stdout.readline() == "listens\n"
        said = one(f'{sys.executable} -c "{client}"')
    assert said.strip() == "(('10.5.6.7', 99), '10.0.0.1')"


def test_a_queue_that_no_program_reads_drops_unless_it_may_be_passed_by(pair):
    one, other = pair
    other("iptables -A INPUT -p icmp -j NFQUEUE --queue-num 0")
    assert one.pings("10.0.0.2", fails=True) == []
    other("iptables -F INPUT && iptables -A INPUT -p icmp -j NFQUEUE --queue-num 0 --queue-bypass")
    assert one.pings("10.0.0.2") == [ms()] * 3


def test_cake_mq_has_a_cake_for_each_queue(hosts):
    """Debian 13's tc (iproute2 6.15) knows cake_mq and dualpi2 by their names alone, so both have the kernel's own settings."""
    one, other = hosts(2)
    connect(one, other, "10.0.0", queues=4)
    one("tc qdisc del dev e0 root && tc qdisc add dev e0 root handle 1: cake_mq")
    assert one.pings("10.0.0.2") == [pytest.approx(ONE_WAY_MS, abs=0.1)] * 3
    assert set(re.findall(r"qdisc (\w+) 0: parent 1:(\d)", one("tc qdisc show dev e0"))) == {
        ("cake", str(n)) for n in range(1, 5)
    }


def under_load(one, other):
    """Return the round trips of pings, in ms, beside one TCP connection that has had two seconds."""
    with other.start("exec iperf3 -s -1", stdout=subprocess.DEVNULL):
        other("until ss -Htnl 'sport = 5201' | grep -q .; do sleep 0.1; done")
        with one.start("exec iperf3 -t 12 -c 10.0.2.2", stdout=subprocess.DEVNULL):
            return [float(each) for each in re.findall(r"time=([\d.]+) ms", one("sleep 4; ping -n -i 0.1 -c 60 10.0.2.2"))]


def test_dualpi2_keeps_its_queue_at_15_ms(hosts):
    """In a router: a sender keeps few packets in a queue of its own (TCP small queues)."""
    one, router, other = hosts(3)
    connect(one, router, "10.0.1", ("e0", "left"))
    connect(router, other, "10.0.2", ("right", "e0"))
    router("sysctl -w net.ipv4.ip_forward=1")
    one("ip route add 10.0.2.0/24 via 10.0.1.2")
    other("ip route add 10.0.1.0/24 via 10.0.2.1")
    shaped = (
        "tc qdisc add dev right root handle 1: htb default 1 && tc class add dev right parent 1: classid 1:1 htb rate 5mbit"
    )
    router(f"tc qdisc del dev right root && {shaped} && tc qdisc add dev right parent 1:1 handle 2: pfifo limit 100")
    long = under_load(one, other)
    router("tc qdisc replace dev right parent 1:1 handle 3: dualpi2")
    short = under_load(one, other)
    # 100 packets of 1,514 bytes are 242 ms at 5 Mbit/s, and CUBIC fills more than half of that after it has backed off to 0.7.
    assert sum(long) / len(long) > 0.5 * 242
    assert 5 < sum(short) / len(short) - 3 * ONE_WAY_MS < 2 * 15


def test_taprio_opens_its_gates_by_the_clock(hosts):
    one, other = hosts(2)
    connect(one, other, "10.0.0", queues=2)
    one(
        "tc qdisc del dev e0 root && tc qdisc add dev e0 root handle 1: taprio num_tc 2 map 0 1 queues 1@0 1@1 base-time 0 "
        "sched-entry S 01 10000000 sched-entry S 02 10000000 clockid CLOCK_TAI"
    )
    output = one("ping -n -i 0.0213 -c 200 10.0.0.2")
    waits = [float(each) - ONE_WAY_MS for each in re.findall(r"time=([\d.]+) ms", output)]
    # The gate of what has no priority is shut for 10 of each 20 ms: half of the packets wait, 5 ms in the mean, at most 10.
    assert len(waits) == 200
    assert min(waits) < 0.5
    assert 9 < max(waits) < 10.5
    assert sum(waits) / len(waits) == pytest.approx(2.5, abs=0.6)
