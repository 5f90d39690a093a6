"""Experiments: their cells, their names, the files they come from."""

import pytest

from slownet.errors import ExperimentError, UnitError
from slownet.experiment import condition, discover, experiment, find
from slownet.topologies import ClientWebDb
from slownet.topologies import find as find_topology

SOURCE = """
from slownet.experiment import experiment

@experiment(topology="client_web_db", vary={"rtt": ["0ms", "5ms"]})
def mine(net, rtt):
    '''Is it slow?

    More words.'''
"""


@experiment(topology=ClientWebDb, vary={"rtt": ["0ms", "10ms"], "page": ["small", "large"]})
def example(net, rtt, page):
    """How long
    does it take?

    The rest is not the question."""


def test_the_question_is_the_first_paragraph():
    assert example.question == "How long does it take?"


def test_cells_are_every_combination_with_the_baseline_first():
    assert example.cells() == [
        {"rtt": "0ms", "page": "small"},
        {"rtt": "0ms", "page": "large"},
        {"rtt": "10ms", "page": "small"},
        {"rtt": "10ms", "page": "large"},
    ]


def test_chosen_values_replace_one_condition():
    assert [cell["rtt"] for cell in example.cells({"rtt": ["7ms"]})] == ["7ms", "7ms"]


@pytest.mark.parametrize("text", ["10", "ten ms", "-1ms", ""])
def test_unclear_durations(text):
    with pytest.raises(UnitError):
        example.cells({"rtt": [text]})


def test_an_unknown_condition_names_the_nearest():
    with pytest.raises(ExperimentError, match="'rtt'"):
        example.cells({"rt": ["1ms"]})


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ({"rtt": "10ms"}, {"rtt_ms": 10.0}),
        ({"delay": "0.1ms", "page": "10"}, {"delay_ms": 0.1, "page": "10"}),
        ({"rtt": "1.5s"}, {"rtt_ms": 1500.0}),
    ],
)
def test_conditions_carry_their_unit_in_their_name(cell, expected):
    assert condition(cell) == expected


def test_the_projects_experiments_are_found():
    known = discover()
    assert {"client_delay", "database_delay"} <= set(known)
    assert known["client_delay"].question.endswith("?")
    assert len(known["client_delay"].judged_by) == 2


def test_an_unknown_experiment_names_the_nearest():
    with pytest.raises(ExperimentError, match="did you mean 'client_delay'"):
        find("client_dely")


def test_an_experiment_from_a_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(SOURCE)
    found = find(str(path))
    assert (found.name, found.question, found.topology) == ("mine", "Is it slow?", ClientWebDb)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = 1\n", "holds 0 experiments"),
        (SOURCE + SOURCE.replace("mine", "other"), "holds 2 experiments"),
        ("import nothing_like_this\n", "ModuleNotFoundError"),
        ("def (\n", "SyntaxError"),
        (SOURCE.replace("client_web_db", "client_web"), "did you mean 'client_web_db'"),
    ],
)
def test_a_file_that_is_no_experiment(tmp_path, source, said):
    path = tmp_path / "mine.py"
    path.write_text(source)
    with pytest.raises(ExperimentError) as caught:
        find(str(path))
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_topologies_by_the_name_that_mn_uses():
    assert find_topology("client_web_db") is ClientWebDb
    topology = ClientWebDb()
    assert topology.hosts() == ["client", "db", "web"]
    assert topology.switches() == ["switch"]
    assert [topology.nodeInfo(host)["ip"] for host in ("client", "web", "db")] == ["10.0.0.1/24", "10.0.0.2/24", "10.0.0.3/24"]
