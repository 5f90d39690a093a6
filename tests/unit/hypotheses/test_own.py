"""Topologies, services and tools of the author's own in hypothesis files."""

import pytest

from slownet.compose.project_topology import Compose
from slownet.hypotheses import file, own
from slownet.model.errors import ComposeError, ExperimentError
from slownet.tools.register import TOOLS

MINE = """
from mininet.topo import Topo


class Pair(Topo):
    def build(self):
        self.addLink(self.addHost("client"), self.addHost("web"))


def shop(net, directory):
    return ("shop", net, directory)


def checkout(net, service, queries=1):
    return {"checkout_ms": (service, queries)}


def alone(net, queries=1):
    return {"alone_ms": queries}


def none():
    pass
"""
TEXT = """
question = "?"
topology = "mine.py:Pair"
service = "mine.py:shop"
tool = "mine.py:checkout"
unit = "ms"
[options]
queries = 3
[conditions]
link = ["client", "web"]
rtt = ["0ms", "10ms"]
[[prediction]]
claim = "bound"
metric = "checkout_ms"
at_most = "1s"
"""


@pytest.fixture
def read(tmp_path):
    """read(old, new) -> the hypothesis of the text with a change."""
    (tmp_path / "mine.py").write_text(MINE)

    def read(old="", new=""):
        assert old in TEXT
        (tmp_path / "h.toml").write_text(TEXT.replace(old, new, 1) if old else TEXT)
        return file.read(tmp_path / "h.toml")

    return read


def test_they_are_found_beside_the_file(read, tmp_path):
    experiment = read().experiment()
    assert experiment.unit == "ms"
    assert experiment.topology().hosts() == ["client", "web"]
    assert experiment.service("net", tmp_path) == ("shop", "net", tmp_path)


@pytest.mark.parametrize(("written", "operations"), [("", None), ("warm_up = 12\n", 12), ("warm_up = 0\n", 0)])
def test_a_file_may_state_the_warm_up(read, written, operations):
    assert read('unit = "ms"\n', f'unit = "ms"\n{written}').experiment().warm_up == operations


@pytest.mark.parametrize("value", ["-1", "2.5", "true", '"10"'])
def test_a_warm_up_that_is_no_number_is_one_line_with_its_place(read, value):
    with pytest.raises(ExperimentError, match=r"h.toml:7:1: write a whole number of operations from 0$"):
        read('unit = "ms"\n', f'unit = "ms"\nwarm_up = {value}\n')


def test_a_tool_gets_network_service_and_options(read, tmp_path):
    tool = own.tool("mine.py:checkout", tmp_path, has_service=True)
    assert tool.names == ("queries",)
    assert tool.run("net", "shop", {"queries": 3}) == {"checkout_ms": ("shop", 3)}
    alone = own.tool("mine.py:alone", tmp_path, has_service=False)
    assert alone.run("net", None, {"queries": 2}) == {"alone_ms": 2}


def test_a_tool_of_slownets_may_measure_a_service_of_ones_own(read):
    own_tool = 'tool = "mine.py:checkout"\nunit = "ms"\n[options]\nqueries = 3\n'
    made = read(own_tool, 'tool = "fetch"\n[options]\nrequests = 2\n').experiment()
    assert made.parts[0] is TOOLS["fetch"]
    with pytest.raises(ExperimentError, match=r"^fetch cannot measure redis"):
        read(f'service = "mine.py:shop"\n{own_tool}', 'service = "redis"\ntool = "fetch"\n[options]\nrequests = 2\n')


@pytest.fixture(autouse=True)
def mine(read):
    read()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("mine.py:Pair", "mine.py:Pare", r"no 'Pare' in mine.py, .*h.toml:3:1: did you mean 'Pair'"),
        ("mine.py:shop", "yours.py:shop", r"no file .*yours.py, .*h.toml:4:1"),
        ("mine.py:checkout", "mine.py:chekout", r"no 'chekout' in mine.py, .*h.toml:5:1: did you mean 'checkout'"),
        (
            "mine.py:checkout",
            "mine.py:none",
            r"mine.py:none takes 0 arguments, .*h.toml:5:1: its first ones are net and service",
        ),
        ("queries = 3", "query = 3", r"unknown key 'query', .*: did you mean 'queries'"),
    ],
)
def test_mistakes_name_the_line(read, old, new, said):
    with pytest.raises(ExperimentError, match=said):
        read(old, new)


PROJECT = 'topology = "compose.yaml"\ntool = "mine.py:alone"\n'
OF_PAIR = 'topology = "mine.py:Pair"\nservice = "mine.py:shop"\ntool = "mine.py:checkout"\n'


def test_a_compose_project_is_a_topology_beside_the_file(read, tmp_path):
    (tmp_path / "compose.yaml").write_text("name: tiny\nservices:\n  web: {image: shop:1}\n")
    experiment = read(OF_PAIR, PROJECT).experiment()
    assert isinstance(experiment.topology, Compose)
    assert experiment.topology.hosts() == ["client", "web"]
    assert experiment.topology.project.files == (str(tmp_path / "compose.yaml"),)
    assert experiment.service is None


def test_mistakes_of_a_compose_project_name_its_own_line(read, tmp_path):
    with pytest.raises(ComposeError, match=r"compose\.yaml"):
        read(OF_PAIR, PROJECT)
    (tmp_path / "compose.yaml").write_text("name: tiny\nservices:\n  web: {image: shop:1, prots: [80]}\n")
    with pytest.raises(ComposeError, match=r"'prots' in services.web, .*compose.yaml:3:24: did you mean 'ports'"):
        read(OF_PAIR, PROJECT)


def test_a_compose_project_takes_no_parameters(read, tmp_path):
    (tmp_path / "compose.yaml").write_text("name: tiny\nservices:\n  web: {image: shop:1}\n")
    with pytest.raises(ExperimentError, match=r"a compose project takes no parameters, .*h.toml:5:2: leave the table out"):
        read(OF_PAIR, PROJECT + "[parameters]\nn = 3\n")
