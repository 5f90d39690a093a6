"""The network of a project: hosts, addresses, names and conditions."""

import pytest

from slownet.compose import project_topology
from slownet.compose.project_topology import Compose
from slownet.links.conditions.link import Condition
from slownet.net import check_topology

TEXT = """
x-slownet: LTE
services:
  web:
    image: shop:1
    depends_on: [elasticsearch]
    networks: {front: {aliases: [www]}, back: }
    links: ["elasticsearch:search"]
    extra_hosts: {mail: 10.0.0.99, machine: host-gateway}
  elasticsearch:
    image: shop:1
    container_name: es
    sysctls: {net.core.somaxconn: 5}
    networks: [back]
    x-slownet: {rtt: 10ms}
  alone:
    image: shop:1
networks: {front: , back: }
"""


@pytest.fixture
def topology(tmp_path):
    (tmp_path / "compose.yaml").write_text(TEXT)
    return Compose(tmp_path / "compose.yaml")


def test_each_service_is_a_host_on_the_switch(topology):
    assert topology.project.hosts == ("client", "elasticsearch", "alone", "web")
    assert {name: topology.nodeInfo(name)["ip"] for name in topology.hosts()} == {
        "client": "10.0.0.1/24", "elasticsearch": "172.18.0.2/16", "alone": "10.0.0.3/24", "web": "172.18.0.3/16",
    }  # fmt: skip
    assert sorted(topology.links()) == [(name, "switch") for name in ("alone", "client", "elasticsearch", "web")]


def test_a_containers_cable_is_called_eth0(topology):
    check_topology.check(topology)
    assert {name: topology.linkInfo(name, "switch").get("intfName1") for name in ("client", "elasticsearch", "web")} == {
        "client": None, "elasticsearch": "eth0", "web": "eth0",
    }  # fmt: skip
    assert topology.nodeInfo("alone")["mac"] == "02:42:0a:00:00:03"


def test_links_have_the_conditions_that_the_file_states(topology):
    assert topology.conditions == {
        ("client", "switch"): Condition.parse(rtt="70ms", rate="12Mbit"),
        ("elasticsearch", "switch"): Condition.parse(rtt="10ms"),
    }  # fmt: skip


ADDRESSES = {"client": "10.0.0.1", "elasticsearch": "172.18.0.2", "alone": "10.0.0.3", "web": "172.18.0.3"}
ES, WEB = "172.18.0.2 elasticsearch es", "172.18.0.3 web"


@pytest.mark.parametrize(
    ("host", "lines"),
    [
        ("client", [ES, "10.0.0.3 alone", f"{WEB} www"]),
        ("web", [ES, f"{WEB} www", "172.18.0.2 search", "10.0.0.99 mail", "10.0.0.1 machine"]),
        ("elasticsearch", [ES, WEB]),
        ("alone", ["10.0.0.3 alone"]),
    ],
)
def test_names_are_known_in_the_networks_that_services_share(host, lines, topology):
    found = project_topology.hosts_file(host, topology.project, ADDRESSES).replace("\t", " ").splitlines()
    own = "::1 localhost ip6-localhost ip6-loopback"
    assert (found[0], found[1] == own) == ("127.0.0.1 localhost", host != "client")
    assert found[found.index("10.0.0.1 client") :] == ["10.0.0.1 client", *lines]


def test_what_a_run_records(topology, tmp_path):
    assert topology.facts() == {
        "project": topology.project.name, "files": [str(tmp_path / "compose.yaml")],
        "conditions": {"client": {"condition": "LTE"}, "elasticsearch": {"rtt": "10ms"}},
        "services": dict.fromkeys(("elasticsearch", "alone", "web"), "shop:1"),
        "addresses": {
            "elasticsearch": {"back": ("172.18.0.2/16",)}, "web": {"back": ("172.18.0.3/16",), "front": ("172.19.0.2/16",)},
        },
        "sysctls": {"elasticsearch": {"net.core.somaxconn": "5"}},
    }  # fmt: skip
