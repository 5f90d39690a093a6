"""Addresses and MTUs that the networks of compose files state."""

import pytest

from slownet.compose import project_topology, reader
from slownet.compose.project_topology import Compose
from slownet.model.errors import ComposeError

LAN = """
services:
  a: {image: x, networks: {lan: {ipv4_address: 172.28.0.2}}}
  b: {image: x, networks: {lan: {aliases: [www]}, back: }}
  c: {image: x, networks: [back]}
  d: {image: x, networks: {back: {mac_address: 02:42:AC:1C:00:0A}}}
networks:
  lan:
    internal: true
    ipam: {driver: default, config: [{subnet: 172.28.0.0/16, gateway: 172.28.0.9, aux_addresses: {x: 172.28.0.1}}]}
  back:
"""


@pytest.fixture
def read(tmp_path):
    def read(text):
        (tmp_path / "compose.yaml").write_text(text)
        return reader.read([tmp_path / "compose.yaml"], machine={})

    return read


def test_services_have_the_stated_addresses_or_the_next(read):
    found = read(LAN)
    assert {each.name: each.addresses for each in found.services} == {
        "a": {"lan": ("172.28.0.2/16",)}, "b": {"back": ("172.18.0.2/16",), "lan": ("172.28.0.3/16",)},
        "c": {"back": ("172.18.0.3/16",)}, "d": {"back": ("172.18.0.4/16",)},
    }  # fmt: skip
    assert found.network.client == ("172.28.0.9/16", "172.18.0.1/16")


def test_networks_without_a_subnet_get_one_if_a_service_is_in_several(read):
    found = read("services: {a: {image: x}, b: {image: x, networks: [n, m]}}\nnetworks: {n: , m: , default: }\n")
    assert {each.name: each.addresses for each in found.services} == {
        "a": {}, "b": {"m": ("172.19.0.2/16",), "n": ("172.18.0.2/16",)},
    }  # fmt: skip
    taken = "networks: {n: , m: {ipam: {config: [{subnet: 172.18.0.0/15}]}}}\n"
    found = read(f"services: {{b: {{image: x, networks: [n, m]}}}}\n{taken}")
    assert found["b"].addresses == {"m": ("172.18.0.2/15",), "n": ("172.20.0.2/16",)}


def test_services_that_networks_keep_apart_are_said(read, tmp_path):
    line = "a and c share no network: they do not know each other's names, but their addresses are not kept apart"
    assert read(LAN).warnings == (f"{tmp_path}/compose.yaml:5:6: {line}",)
    assert read(LAN.replace("c: {image: x, networks: [back]}", "c: {image: x, networks: [back, lan]}")).warnings != ()
    assert read(LAN.replace("[back]", "[lan]").replace("{back: {mac", "{lan: {mac")).warnings == ()


def test_the_first_address_of_a_host(read, tmp_path):
    read(LAN)
    topology = Compose(tmp_path / "compose.yaml")
    assert {name: topology.nodeInfo(name)["ip"] for name in topology.hosts()} == {
        "client": "10.0.0.1/24", "a": "172.28.0.2/16", "b": "172.18.0.2/16", "c": "172.18.0.3/16", "d": "172.18.0.4/16",
    }  # fmt: skip
    assert topology.nodeInfo("d")["mac"] == "02:42:ac:1c:00:0a"
    assert topology.nodeInfo("a")["mac"] == "02:42:ac:1c:00:02"
    assert topology.facts()["addresses"]["b"] == {"back": ("172.18.0.2/16",), "lan": ("172.28.0.3/16",)}


def test_names_have_the_addresses_of_the_network(read):
    found = read(LAN)
    addresses = {"client": "10.0.0.1", "a": "172.28.0.2", "b": "172.18.0.2", "c": "172.18.0.3", "d": "172.18.0.4"}
    assert "172.28.0.3\tb www\n" in project_topology.hosts_file("a", found, addresses)
    assert "172.18.0.2\tb\n" in project_topology.hosts_file("c", found, addresses)
    assert "172.28.0.2\ta\n" in project_topology.hosts_file("client", found, addresses)


def test_a_range_for_addresses_that_are_not_stated(read):
    found = read(
        "services: {a: {image: x, networks: [n]}, b: {image: x, networks: {n: {ipv4_address: 10.5.0.7}}}}\n"
        "networks: {n: {ipam: {config: [{subnet: 10.5.0.0/24, ip_range: 10.5.0.128/25}]}}}\n"
    )
    assert (found["a"].addresses, found["b"].addresses) == ({"n": ("10.5.0.130/24",)}, {"n": ("10.5.0.7/24",)})


def test_a_subnet_of_slownets_own_addresses(read, tmp_path):
    read("services: {a: {image: x}}\nnetworks: {default: {ipam: {config: [{subnet: 10.0.0.0/16}]}}}\n")
    topology = Compose(tmp_path / "compose.yaml")
    assert (topology.nodeInfo("client")["ip"], topology.nodeInfo("a")["ip"]) == ("10.255.255.1/24", "10.0.0.2/16")


def test_ipv6(read):
    found = read(
        "services: {a: {image: x, networks: {n: {ipv6_address: 'fd28::a'}}}, b: {image: x, networks: [n, m]}}\n"
        "networks: {n: {enable_ipv6: true, ipam: {config: [{subnet: 'fd28::/64'}]}}, m: {enable_ipv6: true}}\n"
    )
    assert found["a"].addresses == {"n": ("172.18.0.2/16", "fd28::a/64")}
    assert found["b"].addresses == {"m": ("172.19.0.2/16", "fd00:0:0:2::2/64"), "n": ("172.18.0.3/16", "fd28::2/64")}
    known = project_topology.hosts_file("a", found, {"client": "10.0.0.1", "a": "172.18.0.2", "b": "172.19.0.2"})
    lines = ["172.18.0.2 a", "fd28::a a", "172.18.0.3 b", "fd28::2 b"]
    assert known.replace("\t", " ").splitlines()[-4:] == lines


def test_the_mtu_of_a_network(read):
    options = "driver_opts: {com.docker.network.driver.mtu: '1400'}"
    found = read(
        f"services: {{a: {{image: x, networks: [n]}}, b: {{image: x}}, c: {{image: x, networks: [n, default]}}}}\n"
        f"networks: {{n: {{{options}}}, default: }}\n"
    )
    assert [each.mtu for each in found.services] == [1400, None, 1400]
    assert found.network.client_mtu == 1400
    line, _ = found.warnings
    assert line.partition(": ")[2] == "c has the MTU 1400 in all its networks: their interfaces are on one cable"


def test_jumbo_frames_need_them_everywhere(read):
    options = "driver_opts: {com.docker.network.driver.mtu: 9000}"
    text = f"services: {{a: {{image: x, networks: [n]}}}}\nnetworks: {{n: {{{options}}}}}\n"
    assert read(text).network.client_mtu == 9000
    assert read(text.replace("services: {", "services: {b: {image: x}, ")).network.client_mtu == 1500


WRONG = {
    "no subnet": ("{ipv4_address: 10.1.0.2}", "{}", "a states the address 10.1.0.2, and the network 'n' no subnet", "add ipam"),
    "outside": (
        "{ipv4_address: 10.1.0.2}",
        "{subnet: 10.2.0.0/16}",
        "the address 10.1.0.2 of a is not in the subnet",
        "change",
    ),
    "gateway's": (
        "{ipv4_address: 10.2.0.1}",
        "{subnet: 10.2.0.0/16}",
        "the address 10.2.0.1 of a is that of the gateway",
        "another",
    ),
    "broadcast": (
        "{ipv4_address: 10.2.255.255}",
        "{subnet: 10.2.0.0/16}",
        "the address 10.2.255.255 of a is not a host's",
        "another",
    ),
    "no address": ("{ipv4_address: 10.2.0}", "{subnet: 10.2.0.0/16}", "'10.2.0' is no IPv4 address", "172.28.0.10"),
    "no IPv6": (
        "{ipv6_address: 'fd28::2'}",
        "{subnet: 'fd28::/64'}",
        "a states the address fd28::2, and the network 'n' no",
        "fd28::/64",
    ),
    "unclear subnet": ("{}", "{subnet: 10.2.0.1/16}", "unclear subnet '10.2.0.1/16'", "172.28.0.0/16"),
    "no subnet in it": ("{}", "{gateway: 10.2.0.1}", "a configuration of the network 'n' lacks a subnet", "add subnet:"),
    "gateway outside": (
        "{}",
        "{subnet: 10.2.0.0/16, gateway: 10.3.0.1}",
        "the gateway 10.3.0.1 is not in the subnet",
        "choose",
    ),
    "range outside": ("{}", "{subnet: 10.2.0.0/16, ip_range: 10.3.0.0/24}", "the ip_range 10.3.0.0/24 is not in", "choose"),
    "small": ("{}", "{subnet: 10.2.0.0/31}", "no address is left for b in 10.2.0.0/31", "larger subnet"),
    "Ethernet address": ("{mac_address: 02-42}", "{}", "'02-42' is not an Ethernet address", "02:42:ac:11:00:0a"),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_address_that_no_host_can_have(case, read):
    stated, config, what, fix = WRONG[case]
    with pytest.raises(ComposeError) as error:
        read(
            f"services:\n  a: {{image: x, networks: {{n: {stated}}}}}\n  b: {{image: x, networks: [n]}}\n"
            f"networks: {{n: {{ipam: {{config: [{config}]}}}}}}\n"
        )
    assert error.value.what.startswith(what)
    assert "compose.yaml:" in error.value.where
    assert fix in error.value.fix


def test_one_address_of_two_services(read):
    with pytest.raises(ComposeError, match=r"the address 10\.2\.0\.5 of b is that of a in the network 'n'"):
        read(
            "services: {a: {image: x, networks: &n {n: {ipv4_address: 10.2.0.5}}}, b: {image: x, networks: *n}}\n"
            "networks: {n: {ipam: {config: [{subnet: 10.2.0.0/16}]}}}\n"
        )


def test_subnets_that_overlap(read):
    with pytest.raises(ComposeError, match=r"the subnet 10\.2\.3\.0/24 of the network 'm' overlaps 10\.2\.0\.0/16 of 'n'"):
        read(
            "services: {a: {image: x, networks: [n, m]}}\n"
            "networks: {n: {ipam: {config: [{subnet: 10.2.0.0/16}]}}, m: {ipam: {config: [{subnet: 10.2.3.0/24}]}}}\n"
        )


def test_an_mtu_that_no_link_can_have(read):
    with pytest.raises(ComposeError, match=r"the network 'default' has an MTU of '60', .*: write 68 to 65535"):
        read("services: {a: {image: x}}\nnetworks: {default: {driver_opts: {com.docker.network.driver.mtu: 60}}}\n")


# ---- replicas ----

WEBS = """
services:
  web: {image: x, deploy: {replicas: 2}, networks: {default: {aliases: [www]}}}
  asker: {image: x, links: ['web:w']}
"""


def test_replicas_are_hosts_and_their_name_has_all_addresses(read):
    found = read(WEBS)
    assert found.hosts == ("client", "web-1", "web-2", "asker")
    addresses = {name: f"10.0.0.{number}" for number, name in enumerate(found.hosts, start=1)}
    one, two = "10.0.0.2 web-1 web www", "10.0.0.3 web-2 web www"
    for host, lines in {"client": [one, two], "asker": [two, one]}.items():  # in turn, host by host
        text = project_topology.hosts_file(host, found, addresses).replace("\t", " ").splitlines()
        assert [line for line in text if " web-" in line] == lines
    assert "10.0.0.2\tw\n10.0.0.3\tw\n" in project_topology.hosts_file("asker", found, addresses)


@pytest.mark.parametrize("text", ["scale: 2", "scale: '2', deploy: {replicas: 2}", "deploy: {replicas: 2, mode: replicated}"])
def test_how_replicas_are_stated(text, read):
    assert [each.name for each in read(f"services: {{web: {{image: x, {text}}}}}\n").services] == ["web-1", "web-2"]


def test_no_replica_is_no_host(read):
    found = read("services: {web: {image: x, scale: 0}, asker: {image: x, depends_on: [web]}}\n")
    assert [each.name for each in found.services] == ["asker"]
    assert found["asker"].depends_on == ()


def test_replicas_with_one_address(read):
    with pytest.raises(ComposeError, match="web has several replicas, and one ipv4_address"):
        read(
            "services: {web: {image: x, scale: 2, networks: {default: {ipv4_address: 10.2.0.5}}}}\n"
            "networks: {default: {ipam: {config: [{subnet: 10.2.0.0/16}]}}}\n"
        )
