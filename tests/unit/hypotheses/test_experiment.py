"""Tests of experiments: their cells, their names, the files they come from."""

import importlib.util
import re
from pathlib import Path

import pytest

from slownet.hypotheses.catalogue import discover, find
from slownet.hypotheses.experiment import condition, experiment, grid
from slownet.lab.run import load_generators
from slownet.model.errors import ExperimentError, SlownetError, UnitError
from slownet.tools.wrk import SENT_LATE_S
from slownet.topologies import ClientWebDb
from slownet.topologies import find as find_topology

SOURCE = """
from slownet.hypotheses.experiment import experiment

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


CELLS = [{"step": "before"}, {"rtt": "10ms"}, {"rtt": "10ms", "loss": "1%"}, {"step": "after"}]


@experiment(topology=ClientWebDb, cells=CELLS, tdf="inf")
def listed(net, *service, step="", rtt="0ms", loss="0%"):
    """Does it differ?"""


def test_listed_cells_stay_as_they_are():
    assert listed.cells() == CELLS
    assert listed.conditions == {"step": ["before", "after"], "rtt": ["10ms"], "loss": ["1%"]}
    assert example.conditions == {"rtt": ["0ms", "10ms"], "page": ["small", "large"]}


def test_listed_cells_are_picked_by_a_value():
    assert listed.cells({"rtt": ["10ms"]}) == CELLS[1:3]
    assert listed.cells({"step": ["after", "before"]}) == [CELLS[0], CELLS[3]]


@pytest.mark.parametrize(
    ("chosen", "line"),
    [
        ({"rt": ["10ms"]}, "listed does not vary 'rt': did you mean 'rtt'?"),
        (
            {"rate": ["1Mbit"]},
            f"listed does not vary 'rate': it varies step, rtt, loss; for a new one copy {__file__}, and there add rate to the "
            "function's parameters, to what it gives to set(), and to cells",
        ),
        ({"step": ["befor"]}, "listed has no cell of step befor: did you mean 'before'?"),
        ({"step": ["after"], "rtt": ["10ms"]}, "listed has no such cell: see slownet list"),
    ],
)
def test_cells_that_are_not_listed_cannot_be_picked(chosen, line):
    with pytest.raises(ExperimentError, match=f"^{re.escape(line)}$"):
        listed.cells(chosen)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({}, "an experiment needs either vary or cells"),
        ({"vary": {"rtt": ["0ms"]}, "cells": CELLS}, "an experiment needs either vary or cells"),
        ({"cells": [{"rate": "fast"}]}, "fast"),
        ({"cells": CELLS, "tdf": "fast"}, "invalid time dilation factor 'fast'"),
        ({"cells": CELLS, "clock": "real"}, "clock is 'real', @experiment: write clock='exact' without tdf, or leave it out"),
        ({"cells": CELLS, "clock": "exact", "tdf": "inf"}, "the exact clock has no time dilation factor"),
        ({"cells": "rtt"}, "cells is 'rtt', @experiment: write each cell as its conditions: cells=["),
        ({"cells": [["rtt"]]}, "cell 1 is ['rtt'], @experiment: write each cell as its conditions"),
        ({"cells": [{"rtt": 10}]}, "cell 1 has 10 for rtt, @experiment: write each cell as its conditions"),
        ({"cells": [*CELLS, {"rtt": "10ms"}]}, "cell 5 is the same as cell 2, @experiment: leave one of them out"),
        ({"vary": ["rtt"]}, "vary is ['rtt'], @experiment: write each value as a text, a link's with its unit: vary={"),
        ({"vary": {"n": [1, 2]}}, "vary has 1 for n, @experiment: write each value as a text"),
        ({"vary": {"rtt": "10ms"}}, "vary has '10ms' for rtt, @experiment: write each value as a text"),
        ({"vary": {"rtt": []}}, "vary has [] for rtt, @experiment: write each value as a text"),
        ({"vary": {"my rtt": ["1ms"]}}, "vary has a condition 'my rtt', @experiment: name it as a parameter of the function"),
        ({"vary": {"net": ["1ms"]}}, "vary has a condition 'net'"),
        (
            {"cells": CELLS, "topology": None},
            "topology is None, @experiment: name a topology, or give a class of Mininet's Topo",
        ),
        ({"cells": CELLS, "topology": dict}, "topology is <class 'dict'>, @experiment: name a topology"),
        ({"cells": CELLS, "service": "nginx"}, "service is 'nginx', @experiment: name a function (net, directory)"),
        ({"cells": CELLS, "prepare": 5}, "prepare is 5, @experiment: name a function (net, service)"),
        ({"cells": CELLS, "published": 27}, "published is 27, @experiment: give one of slownet.theory.published"),
        ({"cells": CELLS, "unit": 5}, "unit is 5, @experiment: write a text"),
        ({"cells": CELLS, "blocks": True}, "blocks is True, @experiment: write a whole number from 1, or leave it out"),
        ({"cells": CELLS, "warm_up": -1}, "warm_up is -1, @experiment: write a whole number of operations from 0"),
    ],
)
def test_what_the_decorator_refuses(options, line):
    with pytest.raises(SlownetError, match=re.escape(line)):
        experiment(**{"topology": ClientWebDb, **options})


async def waits(net, rtt):
    """Does it wait?"""


@pytest.mark.parametrize(
    ("function", "line"),
    [
        (
            lambda net: 1.0,
            "<lambda>() does not fit the experiment's cells (got an unexpected keyword argument 'rtt'), @experiment: it takes ",
        ),
        (
            lambda net, rtt, loss: 1.0,
            "(missing a required argument: 'loss'), @experiment: it takes net, and each condition: def ",
        ),
        (lambda net, service, rtt: 1.0, "(missing a required argument: 'service')"),
        (waits, "waits is not a function that returns what it measured, @experiment: write a plain function"),
        (Path, "Path is not a function that returns what it measured"),
        ("measure", "'measure' is not a function"),
    ],
)
def test_what_is_no_function_of_the_network_and_its_cells(function, line):
    with pytest.raises(ExperimentError, match=re.escape(line)):
        experiment(topology=ClientWebDb, vary={"rtt": ["0ms", "10ms"]})(function)


def test_a_function_may_take_anything():
    made = experiment(topology=ClientWebDb, service=Path, cells=CELLS)(listed.measure)
    assert made.cells() == CELLS
    with pytest.raises(ExperimentError, match="it takes net and service, and each condition"):
        experiment(topology=ClientWebDb, service=Path, cells=CELLS)(lambda net: 1.0)


@pytest.mark.parametrize(
    ("add", "line"),
    [
        (lambda: example.answer("It is slow."), "the answer of example is 'It is slow.': decorate a function (run) -> text"),
        (lambda: example.differs(5), "why a run differs is 5, differs(): write what is random"),
        (lambda: example.differs("chance", 0.1), "a spread is 0.1, differs(): give a Spread("),
        (lambda: example.claims([]), "claim 1 is a list, in example: give each claim by itself, without a list around them"),
    ],
)
def test_what_an_experiment_refuses_afterwards(add, line):
    with pytest.raises(ExperimentError, match=re.escape(line)):
        add()


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
        ({"delay": "0.1ms", "threads": "10"}, {"delay_ms": 0.1, "threads": 10}),
        ({"rtt": "1.5s", "page": "small"}, {"rtt_ms": 1500.0, "page": "small"}),
        ({"delay_up": "100ms", "loss_up": "10%"}, {"delay_up_ms": 100.0, "loss_up_percent": 10.0}),
        ({"rate": "2000kbit", "queue": "1000 packets"}, {"rate_kbit": 2000.0, "queue_packets": 1000}),
        ({"rate": "none", "queue": "50ms"}, {"queue": "50 ms"}),
        ({"loss": "2% in bursts of 8"}, {"loss": "2% in bursts of 8"}),
        ({"db:rtt": "10ms", "web:loss": "none"}, {"db:rtt_ms": 10.0}),
        ({"db:condition": "LTE"}, {"db:condition": "LTE", "db:rtt_ms": 70.0, "db:rate_kbit": 12000.0}),
        ({"condition": "LTE"}, {"condition": "LTE", "rtt_ms": 70.0, "rate_kbit": 12000.0}),
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
        ("x = 1\n", "contains 0 experiments"),
        (SOURCE + SOURCE.replace("mine", "other"), "contains 2 experiments"),
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


@pytest.mark.parametrize("there", [True, False])
def test_the_thought_experiment_expects_of_wrk2_what_its_source_says(there, tmp_path, monkeypatch):
    for program in ("wrk2", "oha"):
        monkeypatch.setenv(load_generators.variable(program), "")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(load_generators, "FOLDERS", str(tmp_path))
    if there:
        (tmp_path / "wrk2").touch(mode=0o755)
    module = importlib.util.module_from_spec(importlib.util.find_spec("slownet.experiments.coordinated_omission"))
    module.__spec__.loader.exec_module(module)
    made, cell = module.coordinated_omission, {"tool": "wrk2", "rtt": "1ms"}
    assert (cell in made.cells()) == there
    claims = {each.metric: each for each in made.judged_by if each.at == cell}
    if not there:
        assert claims == {}
        return
    assert [module.wrk2_shows(late)["p50"] for late in (0, SENT_LATE_S)] == pytest.approx([0.001, 0.003])
    assert claims["corrected_p50_s"].at_most == 0.01
    assert claims["corrected_mean_s"].expected == pytest.approx(24.66, abs=0.01)  # measured in three labs: 24.658 to 24.661
    assert claims["corrected_p75_s"].expected == pytest.approx(49.38, abs=0.03)  # 49.380
    assert claims["corrected_p99_99_s"].expected == pytest.approx(100, rel=0.001)


def test_too_many_combinations_are_one_line():
    values = {"rtt": ["0ms"] * 1000, "loss": ["0%"] * 1000, "rate": ["1Mbit"] * 1000}
    with pytest.raises(ExperimentError) as error:
        grid(values)
    assert str(error.value) == (
        "the conditions have 1,000,000,000 combinations, 1000 x 1000 x 1000: "
        "a run has at most 10,000: vary less, or use slownet sweep"
    )
    assert grid({"rtt": ["0ms", "5ms"], "loss": ["1%"]}) == [{"rtt": "0ms", "loss": "1%"}, {"rtt": "5ms", "loss": "1%"}]
