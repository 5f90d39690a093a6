"""Services on the network of another host: `network_mode`."""

import pytest

from slownet.compose import project_topology, reader
from slownet.compose.model import of_json
from slownet.compose.project_topology import Compose
from slownet.model.errors import ComposeError

TEXT = """
services:
  side: {image: x, network_mode: "service:web", links: ["db:data"], extra_hosts: [mail=10.0.0.99]}
  deeper: {image: x, network_mode: "service:side"}
  web: {image: x, expose: [80]}
  db: {image: x, network_mode: bridge}
  media: {image: x, network_mode: host, expose: [90], extra_hosts: [far=10.0.0.98]}
"""


@pytest.fixture
def read(tmp_path):
    def read(text):
        (tmp_path / "compose.yaml").write_text(text)
        return reader.read([tmp_path / "compose.yaml"], machine={})

    return read


def test_the_hosts_that_services_run_on(read, tmp_path):
    found = read(TEXT)
    assert {each.name: each.host for each in found.services} == {
        "web": "web", "db": "db", "side": "web", "deeper": "web", "media": "client",
    }  # fmt: skip
    assert [each.name for each in found.services if each.name in ("web", "side", "deeper")] == ["web", "side", "deeper"]
    assert found.hosts == ("client", "web", "db")
    assert sorted(Compose(tmp_path / "compose.yaml").hosts()) == ["client", "db", "web"]
    line = "media is on the host client: ports of other services are on their own hosts"
    assert found.warnings == (f"{tmp_path}/compose.yaml:7:21: {line}",)
    assert of_json(found.to_json()) == found


def test_the_names_that_their_hosts_know(read):
    found, addresses = read(TEXT), {"client": "10.0.0.1", "web": "10.0.0.2", "db": "10.0.0.3"}

    def known(host):
        lines = project_topology.hosts_file(host, found, addresses).replace("\t", " ").splitlines()
        return lines[lines.index("10.0.0.1 client") + 1 :]

    assert known("web") == ["10.0.0.2 web", "10.0.0.3 db", "10.0.0.3 data", "10.0.0.99 mail"]
    assert known("db") == ["10.0.0.2 web", "10.0.0.3 db"]
    assert known("client") == ["10.0.0.2 web", "10.0.0.3 db", "10.0.0.98 far"]


A = "services:\n  a: {image: x, network_mode: "
WRONG = {
    "none": (A + "none}\n", "network_mode none of a is not possible in a lab", "write host, service:NAME, or leave it out"),
    "a container": (A + "'container:b'}\n", "network_mode container:b of a is not possible", "write host, service:NAME"),
    "no service": (A + "'service:bb'}\n  b: {image: x}\n", "a depends on bb, which does not exist", "did you mean 'b'?"),
    "itself": (A + "'service:a'}\n", "the services wait for each other: a -> a", "take out one"),
    "a circle": (
        A + "'service:b'}\n  b: {image: x, network_mode: 'service:a'}\n",
        "the services wait for each other",
        "take out",
    ),
    "networks": (A + "host, networks: [default]}\n", "a has both network_mode and networks", "leave one of them out"),
    "an address": (
        A + "host, mac_address: '02:42:ac:11:00:03'}\n",
        "mac_address of a, which has the network of client",
        "leave",
    ),
    "a condition": (
        A + "'service:b', x-slownet: LTE}\n  b: {image: x}\n",
        "x-slownet of a, which has the network of b",
        "leave",
    ),
    "replicas": (A + "'service:b'}\n  b: {image: x, scale: 2}\n", "a has the network of b, and there are 2 of b", "have one"),
    "replicas of itself": (A + "host, scale: 3}\n", "a has the network of client, and there are 3 of a", "have one replica"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_mistake_is_one_line(case, read, tmp_path):
    text, what, fix = WRONG[case]
    with pytest.raises(ComposeError) as error:
        read(text)
    assert error.value.what.startswith(what)
    assert error.value.where.startswith(f"{tmp_path}/compose.yaml:")
    assert error.value.fix.startswith(fix)
