"""Topologies, links and conditions on the command line."""

import pytest

from slownet.hypotheses import specs
from slownet.links.conditions import profiles as conditions
from slownet.links.conditions.link import Condition
from slownet.model.errors import ConditionError, ExperimentError, SlownetError, UnitError
from slownet.topologies import Star, TwoHosts

ONE = """
from mininet.topo import Topo

class Lan(Topo):
    def build(self, n=2):
        for number in range(n):
            self.addLink(self.addHost(f"h{number}"), "s1") if number else self.addLink(self.addHost("h0"), self.addSwitch("s1"))
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"

    def write(text):
        path.write_text(text)
        return path

    return write


def test_a_topology_by_its_name():
    assert isinstance(specs.topology("two_hosts"), TwoHosts)
    assert isinstance(specs.topology("star,5"), Star)
    assert len(specs.topology("star,n=5").hosts()) == 6


def test_a_topology_of_a_file(file):
    path = file(ONE)
    assert len(specs.topology(str(path)).hosts()) == 2
    assert len(specs.topology(f"{path}:Lan,4").hosts()) == 4
    file(ONE + "topos = {'lan': Lan, 'large': lambda: Lan(30)}\n")
    assert len(specs.topology(f"{path}:large").hosts()) == 30


@pytest.mark.parametrize(
    ("text", "told", "line"),
    [
        ("", "", "mine.py contains 0 topologies: write one into the file"),
        (ONE + "topos = {'a': Lan, 'b': Lan}", "", "mine.py contains 2 topologies: name one, such as "),
        (ONE + "topos = {'lan': Lan}", ":lna", "no topology 'lna' in "),
        ("import nothing_of_that_name", "", "ModuleNotFoundError: No module named 'nothing_of_that_name', "),
        (ONE, ":Lan,x=3", "cannot be built: "),
        (ONE, ":Lan,1,2", "mine.py:Lan,1,2 cannot be built: "),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(file, text, told, line):
    path = file(text)
    with pytest.raises(ExperimentError) as caught:
        specs.topology(f"{path}{told}")
    assert line in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("two_hosst", "no topology 'two_hosst': did you mean 'two_hosts'?"),
        ("none.py", "no file none.py: name a topology (broker_worker_database, "),
        ("star,0", "star,0 cannot be built: a star has 1 to 1021 clients (the subnet has no more addresses), not 0"),
        ("star,x", "star,x cannot be built: n is 'x': write star,3, with a whole number"),
        ("star,2.5", "star,2.5 cannot be built: n is 2.5: write star,3, with a whole number"),
        ("star,5,6", "star,5,6 cannot be built: star takes n: int = 3: write star,3"),
        ("star,m=5", "star,m=5 cannot be built: star takes n: int = 3: write star,3"),
        ("two_hosts,3", "two_hosts,3 cannot be built: two_hosts takes no arguments: write two_hosts"),
    ],
)
def test_an_unknown_topology_is_one_line(text, line):
    with pytest.raises(ExperimentError) as caught:
        specs.topology(text)
    assert str(caught.value).startswith(line)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["rtt=10ms"], Condition.parse(rtt="10ms")),
        (["LTE"], conditions.find("LTE")),
        (["lte", "loss=1%"], conditions.find("LTE").but(loss="1%")),
        (["none"], Condition()),
        (["rtt=4ms", "loss=1% in bursts of 5"], Condition.parse(rtt="4ms", loss="1% in bursts of 5")),
    ],
)
def test_a_condition_in_words(words, expected):
    assert specs.condition(words) == expected


@pytest.mark.parametrize(
    ("words", "error", "line"),
    [
        (["LET"], ConditionError, "no condition 'LET': did you mean 'LTE'?"),
        (["rtt=10ms", "LTE"], ConditionError, "unclear field 'LTE': write NAME=VALUE such as rtt=10ms"),
        (["rtt="], ConditionError, "unclear field 'rtt=': write"),
        (["rtt=10"], UnitError, ""),
        (["rt=10ms"], ConditionError, "a condition has no field 'rt': did you mean 'rtt'?"),
    ],
)
def test_an_unclear_condition_is_one_line(words, error, line):
    with pytest.raises(error) as caught:
        specs.condition(words)
    assert str(caught.value).startswith(line)


def test_a_link_from_either_side():
    topology = specs.topology("client_web_db")
    assert specs.link("client-switch=rtt=10ms,loss=1%", topology) == ("client", "switch", ["rtt=10ms", "loss=1%"])
    assert specs.link("switch-client=LTE", topology) == ("switch", "client", ["LTE"])


def test_a_link_is_given_once():
    topology = specs.topology("client_web_db")
    assert len(specs.links(["client-switch=LTE", "web-switch=rtt=1ms"], topology)) == 2
    with pytest.raises(ExperimentError, match=r"^the link 'switch-client' is given twice, --link: write its condition once: "):
        specs.links(["switch-client=LTE", "web-switch=rtt=1ms", "client-switch=loss=1%"], topology)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("client-swich=LTE", "no link 'client-swich', --link: did you mean 'client-switch'?"),
        ("client-switch", "unclear link 'client-switch', --link: write A-B="),
        ("client-switch=LET", "no condition 'LET'"),
    ],
)
def test_an_unclear_link_is_one_line(text, line):
    with pytest.raises(SlownetError) as caught:
        specs.link(text, specs.topology("client_web_db"))
    assert str(caught.value).startswith(line)


def test_words_are_quoted_as_in_a_shell():
    assert specs.words("a b 'loss=1% in bursts of 5'") == ["a", "b", "loss=1% in bursts of 5"]
    with pytest.raises(ExperimentError, match="No closing quotation"):
        specs.words("a 'b")
