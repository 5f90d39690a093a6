"""A triangle of routers between a client and a server, and the routing daemons that run on them: FRR's and BIRD.

client ── r1 ───────── r2 ── server
           └─── r3 ────┘
"""

import shutil
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mininet.link import TCLink
from mininet.node import Node
from mininet.topo import Topo

from slownet import ServiceError
from slownet.net.tool import run
from slownet.services.service import Service

NUMBERS = {"r1": 1, "r2": 2, "r3": 3}
LANS = {"r1": "10.1.0.0/24", "r2": "10.2.0.0/24"}
SERVER = "10.2.0.10"
CONVERGED_S = 300
PROTOCOLS = (11, 12, 186, 188, 189)
"""What the kernel knows routes by that daemons made: zebra, BIRD, BGP, OSPF, RIP (linux/rtnetlink.h)."""
DAEMONS = Path("/usr/lib/frr")
RUN = Path("/run/frr")


class Router(Node):
    """A host that forwards packets."""

    def config(self, **params):
        """Configure it, and switch forwarding on."""
        result = super().config(**params)
        self.pexec(["sysctl", "-qw", "net.ipv4.ip_forward=1"])
        return result


class Triangle(Topo):
    """A client behind r1 and a server behind r2, which have a link of their own and a detour over r3."""

    def build(self):
        """Add the hosts, routers and links."""
        client = self.addHost("client", ip="10.1.0.10/24", defaultRoute="via 10.1.0.1")
        server = self.addHost("server", ip=f"{SERVER}/24", defaultRoute="via 10.2.0.2")
        routers = {name: self.addHost(name, cls=Router, ip=None) for name in NUMBERS}
        for host, name in ((client, "r1"), (server, "r2")):
            self.addLink(routers[name], host, cls=TCLink, params1={"ip": f"{between(name, name)}/24"})
        for one, other in (("r1", "r2"), ("r1", "r3"), ("r2", "r3")):
            ends = {"params1": {"ip": f"{between(one, other)}/24"}, "params2": {"ip": f"{between(other, one)}/24"}}
            self.addLink(routers[one], routers[other], cls=TCLink, **ends)


def between(router, other):
    """Return a router's address on its link to another one; to itself: in the network behind it."""
    first, last = sorted((NUMBERS[router], NUMBERS[other]))
    network = f"10.{first}.0" if first == last else f"10.{first}{last}.0"
    return f"{network}.{NUMBERS[router]}"


def interface(net, router, other):
    """Return the name of a router's interface to another one."""
    return net[router].connectionsTo(net[other])[0][0].name


class Frr(Service):
    """FRR's daemons on one router, configured by vtysh.

    mgmtd has to listen before the others start, as in Debian's own script: without it zebra tries every 10 ms to notify it.
    """

    name = "frr"
    deadline_s = 30

    def __init__(self, host, directory, daemons, config):
        super().__init__(host, directory)
        self.daemons, self.config = ("mgmtd", "zebra", *daemons), config
        self.space = f"slownet-{host.name}"
        self._configured = False

    def prepare(self):
        """Make the folder of their sockets, and the configuration."""
        if not DAEMONS.is_dir():
            raise ServiceError(
                f"there is no {DAEMONS}", f"host '{self.host.name}'", 'write packages = ["frr"] into pyproject.toml'
            )
        self._configured = False
        shutil.rmtree(RUN / self.space, ignore_errors=True)
        (RUN / self.space).mkdir(parents=True)
        for folder in (RUN, RUN / self.space):
            shutil.chown(folder, "frr", "frr")
        (self.state / "frr.conf").write_text(self.config)

    def command(self):
        """Return a shell that ends when one of them ends."""
        first, *others = (f"{DAEMONS}/{name} -N {self.space} -P 0 --log stdout &" for name in self.daemons)
        listens = f"until [ -S {RUN / self.space}/mgmtd_be.sock ]; do sleep 0.01; done;"
        return ["bash", "-c", " ".join([first, listens, *others, "wait -n"])]

    def answers(self):
        """Return whether all listen and are configured."""
        if not all((RUN / self.space / f"{name}.vty").exists() for name in self.daemons):
            return False
        if not self._configured:
            run(self.host, ["vtysh", "-N", self.space, "-f", str(self.state / "frr.conf")])
            self._configured = True
        return True

    def stop(self):
        """End them, and remove their sockets."""
        super().stop()
        shutil.rmtree(RUN / self.space, ignore_errors=True)


class Bird(Service):
    """BIRD on one router."""

    name = "bird"
    deadline_s = 30

    def __init__(self, host, directory, config):
        super().__init__(host, directory)
        self.config = config

    def prepare(self):
        """Write the configuration."""
        (self.state / "bird.conf").write_text(self.config)

    def command(self):
        """Return the command line."""
        return ["bird", "-f", "-c", str(self.state / "bird.conf"), "-s", str(self.state / "ctl"), "-P", str(self.state / "pid")]

    def answers(self):
        """Return whether it listens."""
        return (self.state / "ctl").exists()


def _frr(net, name, lines):
    number = NUMBERS[name]
    return f"hostname {name}\n" + lines.format(id=f"{number}.{number}.{number}.{number}", asn=65000 + number)


def _ospf(net, name, more=""):
    interfaces = "".join(f"interface {each}\n ip ospf area 0\n{more}" for each in net[name].intfNames())
    return _frr(net, name, f"{interfaces}router ospf\n ospf router-id {{id}}\n")


BGP = " no bgp ebgp-requires-policy\n no bgp network import-check\n"


def _bgp(net, name, mrai_s=0):
    others = [each for each in NUMBERS if each != name]
    peers = "".join(f" neighbor {between(each, name)} remote-as {65000 + NUMBERS[each]}\n" for each in others)
    own = f"  network {LANS[name]}\n" if name in LANS else ""
    more = "".join(f" neighbor {between(each, name)} advertisement-interval {mrai_s}\n" for each in others if mrai_s)
    family = f" address-family ipv4 unicast\n{own} exit-address-family\n"
    return _frr(net, name, f"router bgp {{asn}}\n bgp router-id {{id}}\n{BGP}{peers}{more}{family}")


def _rip(net, name):
    return _frr(net, name, "router rip\n network 10.0.0.0/8\n")


def _bird(net, name, protocols):
    number = NUMBERS[name]
    return (
        f"log stderr all;\nrouter id {number}.{number}.{number}.{number};\nprotocol device {{}}\n"
        "protocol kernel { ipv4 { export where source != RTS_DEVICE; }; }\n" + protocols
    )


def _bird_ospf(net, name):
    return _bird(net, name, 'protocol ospf v2 { ipv4 { import all; }; area 0 { interface "r*" { }; }; }\n')


def _bird_bgp(net, name):
    lans = ", ".join(LANS.values())
    peers = "".join(
        f"protocol bgp {each} {{ local as {65000 + NUMBERS[name]}; neighbor {between(each, name)} as {65000 + NUMBERS[each]};"
        f" ipv4 {{ import all; export where net ~ [ {lans} ]; }}; }}\n"
        for each in NUMBERS
        if each != name
    )  # fmt: skip
    return _bird(net, name, f"protocol direct {{ ipv4; }}\n{peers}")


KINDS = {
    "OSPF": lambda net, name, folder: Frr(net[name], folder, ["ospfd"], _ospf(net, name)),
    "OSPF and BFD": lambda net, name, folder: Frr(net[name], folder, ["ospfd", "bfdd"], _ospf(net, name, " ip ospf bfd\n")),
    "OSPF (BIRD)": lambda net, name, folder: Bird(net[name], folder, _bird_ospf(net, name)),
    "BGP": lambda net, name, folder: Frr(net[name], folder, ["bgpd"], _bgp(net, name)),
    "BGP (BIRD)": lambda net, name, folder: Bird(net[name], folder, _bird_bgp(net, name)),
    "RIP": lambda net, name, folder: Frr(net[name], folder, ["ripd"], _rip(net, name)),
}


WITH_MRAI = {
    f"BGP, MRAI {mrai_s}": lambda net, name, folder, mrai_s=mrai_s: Frr(net[name], folder, ["bgpd"], _bgp(net, name, mrai_s))
    for mrai_s in (0, 15, 30)
}


def announce(net, router, network):
    """Let a router's bgpd announce a network."""
    lines = ["configure terminal", f"router bgp {65000 + NUMBERS[router]}", "address-family ipv4 unicast", f"network {network}"]
    run(net[router], ["vtysh", "-N", f"slownet-{router}", *(word for line in lines for word in ("-c", line))])


def routes(net, router, lan):
    """Return where a router sends packets for a network, an address; empty without a route."""
    words = run(net[router], ["ip", "-4", "route", "show", lan]).stdout.split()
    return words[words.index("via") + 1] if "via" in words else ""


def converged(net):
    """Return whether both LANs are reached over the direct link, and from r3, too."""
    direct = (routes(net, "r1", LANS["r2"]), routes(net, "r2", LANS["r1"]))
    return direct == (between("r2", "r1"), between("r1", "r2")) and all(routes(net, "r3", lan) for lan in LANS.values())


def forget(router):
    """Remove the routes that daemons may have left in the kernel; those of zebra go with its nexthops."""
    run(router, ["ip", "nexthop", "flush"], check=False)
    for number in PROTOCOLS:
        run(router, ["ip", "-4", "route", "flush", "proto", str(number)], check=False)


@contextmanager
def routed(net, kind, folder):
    """Start a kind of routing on all routers, and wait until it has converged."""
    with ExitStack() as stack:
        for name in NUMBERS:
            forget(net[name])
            stack.enter_context((KINDS | WITH_MRAI)[kind](net, name, folder))
        deadline = time.monotonic() + CONVERGED_S
        while not converged(net):
            if time.monotonic() > deadline:
                raise ServiceError(f"{kind} has not converged after {CONVERGED_S} s", fix=f"see the logs in {folder}")
            time.sleep(1)
        yield
