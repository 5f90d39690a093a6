"""What people ask a kernel for on hosts: each works, or is named with what brings it. On the wide kernel all of it works.

`make lab-tests` runs this on the base kernel, `make test-wide` on the wide one, `make test-exact` on that of the exact clock.
"""

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from slownet.lab.build import kernel_package
from slownet.lab.build.kernel import WIDE, Kernel
from slownet.lab.host import native
from slownet.lab.run import missing_features

MODULES = Path("/lib/modules")
EXACT_REQUESTS = Path("/run/module_requests")
REQUESTS = next((path for path in [Path("/proc/module_requests")] if path.exists()), EXACT_REQUESTS)
DEVICE = "v0"
pytestmark = pytest.mark.skipif(not native.inside_lab(), reason="about the lab's own kernels")

PRIO = "tc qdisc add dev v0 root handle 1: prio && tc filter add dev v0 parent 1: protocol ip"

EVERYWHERE = """
ip link add new type dummy
ip link add new type bridge vlan_filtering 1 mcast_snooping 1
ip link add new link v0 type vlan id 5
ip link add new link v0 type macvlan mode bridge
ip link add new type vxlan id 42 dstport 4789 remote 10.0.0.2 dev v0
ip tuntap add mode tun new
ip mroute show
ip nexthop add id 1 via 10.0.0.2 dev v0
tc qdisc add dev v0 root handle 1: fq_pie
tc qdisc add dev v0 root handle 1: choke limit 100 bandwidth 10mbit
tc qdisc add dev v0 root handle 1: ets bands 3
tc qdisc add dev v0 root handle 1: cake_mq
tc qdisc add dev v0 clsact && tc filter add dev v0 egress protocol ip flower dst_ip 10.0.0.9 action drop
tc qdisc add dev v0 clsact && tc filter add dev v0 egress protocol ip flower ip_proto tcp action pedit munge ip ttl set 10
tc qdisc add dev v0 clsact && tc filter add dev v0 egress protocol ip flower action vlan push id 5
tc qdisc add dev v0 root handle 1: prio && tc filter add dev v0 parent 1: protocol ip route to 5 flowid 1:3
ip tunnel add new mode sit local 10.0.0.1 remote 10.0.0.2
modprobe tcp_bbr
modprobe sch-netem
modprobe iptable_nat
iptables -A INPUT -m statistic --mode random --probability 0.1 -j DROP
ip6tables -A INPUT -p icmpv6 --icmpv6-type 133 -j DROP
arptables -A INPUT -j DROP
ebtables -A FORWARD -s 02:00:00:00:00:01 -j DROP
nft add table bridge t && nft add chain bridge t c '{ type filter hook forward priority 0; }'
""".strip().splitlines()
"""What both kernels have."""
NOT_ON_EXACT = {
    "tc qdisc add dev v0 root handle 1: cake_mq": "cake_mq",
    "ip tunnel add new mode sit local 10.0.0.1 remote 10.0.0.2": "sit",
}
"""Of these, what the kernel of the exact clock lacks."""

OF_LAB = (
    "nsenter -t 1 -n sh -c 'cd /proc/sys/net/ipv4 && echo {} >tcp_congestion_control && echo cubic >tcp_congestion_control'"
)
"""In the lab's own namespace, as hosts may choose only what tcp_allowed_congestion_control lists."""

WIDE_ALONE = {
    "ip link add new type gre local 10.0.0.1 remote 10.0.0.2 ttl 64": "ip_gre",
    "ip tunnel add new mode gre local 10.0.0.1 remote 10.0.0.2": "ip_gre",
    "ip tunnel add new mode ipip local 10.0.0.1 remote 10.0.0.2": "ipip",
    "ip link add new type gretap local 10.0.0.1 remote 10.0.0.2": "ip_gre",
    "ip link add new type ip6tnl local ::1 remote ::2": "ip6_tunnel",
    "ip link add new type vti local 10.0.0.1 remote 10.0.0.2 key 1": "ip_vti",
    "ip link add new type geneve id 42 remote 10.0.0.2": "geneve",
    "ip link add new type wireguard": "wireguard",
    "ip link add new type vrf table 10": "vrf",
    "ip link add new type bond mode active-backup": "bonding",
    "ip link add new type team": "team",
    "ip link add new link v0 type ipvlan mode l2": "ipvlan",
    "ip link add new link v0 type macsec": "macsec",
    "ip link add new type vcan": "vcan",
    "ip -6 route add 2001:db8:9::/64 encap seg6 mode encap segs 2001:db8::1 dev v0": "seg6",
    "ip route add 10.9.0.0/24 encap mpls 100 via 10.0.0.2": "mpls_iptunnel",
    "sysctl -w net.mpls.platform_labels=1000": "mpls_router",
    "ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 1 mode tunnel enc 'cbc(aes)' 0x00112233445566778899aabbccddeeff":
        "xfrm_user",
    "ip l2tp add tunnel tunnel_id 1 peer_tunnel_id 1 encap udp local 10.0.0.1 remote 10.0.0.2 udp_sport 5000 udp_dport 6000":
        "l2tp_netlink",
    "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)'": "sctp",
    "tc qdisc add dev v0 root handle 1: gred setup DPs 3 default 2": "sch_gred",
    "tc qdisc add dev v0 root handle 1: sfb": "sch_sfb",
    "tc qdisc add dev v0 root handle 1: hhf": "sch_hhf",
    "tc qdisc add dev v0 root handle 1: plug": "sch_plug",
    "tc qdisc add dev v0 root handle 1: qfq": "sch_qfq",
    "tc qdisc add dev v0 root handle 1: etf clockid CLOCK_TAI": "sch_etf",
    f"{PRIO} handle 1 flow hash keys dst divisor 3": "cls_flow",
    "tc qdisc add dev v0 clsact && tc filter add dev v0 egress matchall action nat egress 10.0.0.1 10.0.0.9": "act_nat",
    OF_LAB.format("cdg"): "tcp_cdg",
    OF_LAB.format("nv"): "tcp_nv",
    "iptables -t mangle -A POSTROUTING -j TEE --gateway 10.0.0.2": "xt_TEE",
    "iptables -t mangle -A PREROUTING -p tcp -j TPROXY --on-port 80 --tproxy-mark 1": "xt_TPROXY",
    "iptables -A INPUT -j NFQUEUE --queue-num 0": "xt_NFQUEUE",
    "iptables -A INPUT -m time --timestart 08:00 -j DROP": "xt_time",
    "iptables -A INPUT -m quota --quota 1000 -j ACCEPT": "xt_quota",
    "iptables -A INPUT -m cluster --cluster-total-nodes 2 --cluster-local-node 1 --cluster-hash-seed 1": "xt_cluster",
    "modprobe mpls_router": "mpls_router",
    "modprobe br_netfilter && sysctl -w net.bridge.bridge-nf-call-iptables=0": "br_netfilter",
    "ls /sys/kernel/tracing/events/tcp || mount -t tracefs none /sys/kernel/tracing": "events (tracefs)",
    "mount -t debugfs none /sys/kernel/debug": "debugfs",
    "mount -t bpf none /sys/fs/bpf": "eBPF",
    "nft add table netdev t && nft add chain netdev t c '{ type filter hook ingress device v0 priority 0; }'":
        "nf_tables_netdev",
    "ebtables -A FORWARD -p 802_1Q --vlan-id 5 -j DROP": "ebt_vlan",
    "ip link add new type batadv": "batman_adv",
    "ip link add new type netkit": "netkit",
    "modprobe tipc && python3 -c 'import socket; socket.socket(30, socket.SOCK_RDM)'": "tipc",
    "tc qdisc add dev v0 root handle 1: dualpi2": "sch_dualpi2",
    "tc qdisc add dev v0 root handle 1: mqprio num_tc 2 map 0 1 queues 2@0 2@2 hw 0": "sch_mqprio",
    "tc qdisc add dev v0 root handle 1: taprio num_tc 1 map 0 queues 1@0 base-time 0 sched-entry S 1 1000000 clockid CLOCK_TAI":
        "sch_taprio",
}  # fmt: skip
"""What the wide kernel alone has, and what its lack is named on the base one."""

GONE = {
    "tc qdisc add dev v0 root cbq": "cbq (gone since 6.3)",
    "tc qdisc add dev v0 root dsmark": "dsmark (gone since 6.3)",
    "modprobe tcp_probe": "tcp_probe (gone since 4.16",
    "modprobe no_such_module": "no_such_module",
    "sysctl -w net.ipv4.tcp_low_latency=1": "net.ipv4.tcp_low_latency",
}
"""What neither has, and how that is named."""


@pytest.fixture(scope="module")
def kernel():
    folder = next(MODULES.iterdir())
    if REQUESTS == EXACT_REQUESTS:
        return kernel_package.Kernel(folder / "vmlinuz", folder / "modules.cpio", folder.name, "")
    facts = json.loads((folder / "kernel.json").read_text())
    return Kernel(folder / "linux", facts["release"], facts["source"], facts["kind"])


@pytest.fixture(scope="module")
def numbers():
    return itertools.count()


@pytest.fixture
def host(numbers):
    """Run a command on a host of its own, which has an interface v0 with the address 10.0.0.1."""
    name = f"features{next(numbers)}"
    for words in (f"netns add {name}", f"-n {name} link add {DEVICE} numtxqueues 4 type veth peer name v1"):
        subprocess.run(["ip", *words.split()], check=True)
    for words in (f"addr add 10.0.0.1/24 dev {DEVICE}", f"link set {DEVICE} up", "link set v1 up"):
        subprocess.run(["ip", "-n", name, *words.split()], check=True)
    yield lambda command: subprocess.run(
        ["ip", "netns", "exec", name, "sh", "-c", command], capture_output=True, text=True, check=False
    )
    subprocess.run(["ip", "netns", "delete", name], check=True)


def named(kernel):
    return missing_features.line(REQUESTS.read_text().split(), kernel)


def test_a_host_has_no_interface_that_nobody_asked_for(host):
    """Before any tunnel is asked for: Linux then gives each host one that is down, such as sit0."""
    found = {each["ifname"] for each in json.loads(host("ip -json link").stdout)}
    assert found == {"lo", "v0", "v1"}


@pytest.mark.parametrize("name", ["hybla", "veno", "scalable", "yeah", "lp", "highspeed"])
def test_tcp_has_that_congestion_control(name):
    """In the lab's own namespace: in a host's, Linux permits only what tcp_allowed_congestion_control lists."""
    path = Path("/proc/sys/net/ipv4/tcp_congestion_control")
    before = path.read_text()
    try:
        path.write_text(name)
        assert path.read_text().strip() == name
    finally:
        path.write_text(before)


@pytest.mark.parametrize("command", EVERYWHERE)
def test_both_kernels_have_it(host, kernel, command):
    done = host(command)
    if kernel.kind == kernel_package.EXACT and command in NOT_ON_EXACT:
        assert done.returncode != 0
        assert NOT_ON_EXACT[command] in named(kernel)
    else:
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", WIDE_ALONE)
def test_the_wide_kernel_has_it_and_the_base_kernel_names_it(host, kernel, command):
    done = host(command)
    if kernel.kind == WIDE:
        assert done.returncode == 0, done.stderr
    elif kernel.kind != kernel_package.EXACT or (done.returncode != 0 and not command.startswith("sysctl")):
        assert done.returncode != 0
        assert WIDE_ALONE[command] in named(kernel).partition(": the wide one")[0]


MATCHES = {
    "cmp": "basic match 'cmp(u8 at 9 layer 1 mask 0xff eq 17)'",
    "u32": "basic match 'u32(u32 0x1f90 0xffff at 20)'",
    "nbyte": "basic match 'nbyte(\"secret\" at 28 layer 1)'",
    "meta": "basic match 'meta(priority eq 7)'",
    "mark": "u32 match u32 0 0 at 0 match mark 9 0xff",
    "realm": "route to 5",
}
SEND = """
import socket, sys
for port, priority, mark, payload in ((8080, 7, 9, b"secret"), (99, 0, 0, b"open")):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, priority)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, mark)
    s.sendto(payload, (f"10.0.0.{7 if port == 8080 else 8}", port))
"""


@pytest.mark.parametrize("kind", MATCHES)
def test_a_filter_drops_what_it_matches_and_nothing_else(host, kind):
    """A kernel without such a match takes the filter, and it then matches everything or nothing."""
    mac = "lladdr 02:00:00:00:00:09 dev v0"
    host(f"ip neigh add 10.0.0.7 {mac}; ip neigh add 10.0.0.8 {mac}; ip route add 10.0.0.7/32 dev v0 realm 5")
    done = host(
        f"tc qdisc add dev v0 root handle 1: prio && tc filter add dev v0 parent 1: protocol ip {MATCHES[kind]} action drop"
    )
    assert done.returncode == 0, done.stderr
    assert host(f"{sys.executable} -c '{SEND}'").returncode == 0
    # cmp asks for UDP, which both packets are.
    assert f"dropped {2 if kind == 'cmp' else 1}," in host("tc -s qdisc show dev v0").stdout


@pytest.mark.parametrize("command", GONE)
def test_what_neither_has_is_named_as_that(host, kernel, command):
    done = host(command)
    assert done.returncode != 0
    # Debian's kernel does not write down which sysctls it was asked for; it refuses them.
    assert GONE[command] in named(kernel) or (kernel.kind == kernel_package.EXACT and command.startswith("sysctl"))
