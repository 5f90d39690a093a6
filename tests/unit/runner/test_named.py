"""Which tools and services an experiment names: by themselves, in a table, a module, a closure, a function of the same file."""

from functools import partial

import pytest

import slownet
from slownet import Container, ab, iperf3, ping
from slownet.hypotheses.catalogue import discover, find
from slownet.model.errors import ExperimentError
from slownet.runner.named import has_containers, lasts
from slownet.tools import steady, wrk

TABLE = {"short": ab, "long": wrk.wrk2}


def by_name(net):
    return iperf3(net["server"], net["client"])


def in_a_table(net):
    return TABLE["long"](net["client"], "http://web/")


def in_a_module(net):
    return steady.LOADS["oha"](net["client"], "http://web/")


def of_the_package(net):
    return slownet.iperf3(net["server"], net["client"])


def in_a_browser(net):
    return slownet.browse(net["client"], "http://web/")


def by_another(net):
    return [by_name(net) for _ in range(2)]


def inside(tool):
    def measure(net):
        return (lambda: tool(net["client"]))()

    return measure


class Mine:
    def load(self, net):
        return by_name(net)


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (by_name, "iperf3"), (in_a_table, "wrk2"), (of_the_package, "iperf3"), (by_another, "iperf3"),
        (inside(wrk.wrk), "wrk"), (partial(wrk.wrk, seconds=3), "wrk"), (Mine, "iperf3"), (in_a_browser, "browse"),
    ],
)  # fmt: skip
def test_a_tool_that_works_for_a_time_is_found(part, name):
    assert lasts(ping, part) == name


def test_any_tool_of_a_table_in_a_module_is_found():
    assert lasts(in_a_module) in {each.__name__ for each in steady.LOADS.values()}


@pytest.mark.parametrize("part", [inside(ab), inside(ping), None, {"a": [1]}, print, "wrk"])
def test_others_are_not(part):
    assert not lasts(part)


def test_one_function_after_many_others_is_found():
    """Each has a list of what it names, and lists that are gone have the ids of new ones."""
    assert lasts(*(inside(ping) for _ in range(200)), by_another) == "iperf3"


def test_a_service_that_is_a_container_is_found():
    def served(net, folder):
        return Container(net["web"], "redis")

    assert has_containers(served)
    assert not has_containers(by_name)


def test_of_the_experiments_those_with_a_load():
    found = {name for name, each in discover().items() if lasts(*each.parts)}
    assert {"overload", "fairness", "packet_loss"} <= found
    assert not found & {"client_delay", "database_delay", "query_cost"}


def test_a_hypothesis_names_its_tool(tmp_path):
    text = """
question = "How many?"
tool = "{}"
[conditions]
link = ["client", "switch"]
rtt = ["0ms", "10ms"]
[[prediction]]
says = "many"
claim = "law"
metric = "rtt_ms"
round_trips = 1
"""
    for tool in ("iperf3", "ping"):
        (tmp_path / f"{tool}.toml").write_text(text.format(tool))
    assert [lasts(*find(str(tmp_path / f"{tool}.toml")).parts) for tool in ("iperf3", "ping")] == ["iperf3", ""]


@pytest.mark.parametrize("name", ["mine", "mine.py:question"])
def test_an_experiment_that_is_a_file_here_is_to_be_named_by_it(name, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ExperimentError, match=rf"^no experiment '{name}': name the file: mine\.py$"):
        find(name)


def test_a_folder_is_no_experiment(tmp_path, monkeypatch):
    (tmp_path / "hunts/mine").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ExperimentError, match=r"^no experiment 'hunts/mine': it is a folder: name an experiment or its file"):
        find("hunts/mine")
