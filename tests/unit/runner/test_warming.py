"""What programs do at first is in no cell's numbers."""

import json
import time

import pytest

from slownet import ClientWebDb, experiment, ping
from slownet.hypotheses.catalogue import discover
from slownet.lab.host import native
from slownet.model.errors import ExperimentError, ToolError
from slownet.runner import warming
from slownet.runner.job import Job
from slownet.runner.warming import NONE, WarmUp
from slownet.tools.user_metrics import as_record

CELLS = [{"rtt": "40ms"}, {"rtt": "0ms"}]


def mine(net, **cell):
    return 1.0


def made(**options):
    return experiment(topology=ClientWebDb, **({"vary": {"rtt": ["40ms", "0ms"]}} | options))(mine)


@pytest.fixture
def clock(monkeypatch):
    """The seconds of the network's clock, as a list of one number."""
    now = [0.0]
    monkeypatch.setattr(warming.time, "monotonic", lambda: now[0])
    return now


def test_real_time_ends_a_warm_up_whose_clock_stands(clock):
    real, said = [100.0], []

    def measure(cell):
        real[0] += 0.9
        return as_record({"took_ms": 1.0}, "")

    def say(*event):
        said.append(event)

    WarmUp(30, 10.0, CELLS).run(measure, lambda: real[0], say)
    assert [(cell["rtt"], done) for cell, done, note in said if note] == [("40ms", 12), ("0ms", 12)]
    assert said[0] == (CELLS[0], 0, "")
    assert said[-1][2] == "the warm-up ended after 11 s with 12 of 30 operations"
    real[0], said[:] = 0.0, []
    WarmUp(30, 0.0, CELLS[:1]).run(measure, lambda: real[0], say)  # the experiment states how many
    assert said[-1] == (CELLS[0], 30, "")


def test_a_loaded_machine_does_not_cut_what_psycopg_needs(clock):
    real = [0.0]
    done = []

    def measure(cell):
        real[0] += 60.0
        done.append(cell)
        return as_record({"took_ms": 1.0}, "")

    WarmUp(30, 10.0, CELLS[:1]).run(measure, lambda: real[0])
    assert len(done) == warming.LEAST > 6


def test_real_time_is_that_of_a_file(tmp_path):
    before = time.time()
    assert before - 1 < native.RealTime(tmp_path)() < time.time() + 1
    assert not list(tmp_path.iterdir())


def test_slownets_own_programs_need_none():
    for each in discover().values():
        assert WarmUp.of(each, each.cells(), each.cells()) == NONE
    assert WarmUp.of(experiment(topology=ClientWebDb, vary={"address": ["10.0.0.1"]})(ping), CELLS, CELLS) == NONE


def test_others_get_thirty_operations_in_the_baseline_whatever_comes_first_in_the_boot():
    for measured in (CELLS, CELLS[::-1]):
        assert WarmUp.of(made(), CELLS, measured) == WarmUp(30, 10.0, [{"rtt": "40ms"}])


def test_without_the_baseline_it_is_the_first_cell_that_is_measured():
    assert WarmUp.of(made(), CELLS, CELLS[1:]).cells == [{"rtt": "0ms"}]


def test_each_thing_that_is_asked_of_the_programs_is_warmed_up():
    """The first executions of the second query would otherwise be in its own first cell."""
    cells = [{"rtt": rtt, "query": query, "db:loss": "0%"} for query in ("one", "two") for rtt in ("0ms", "40ms")]
    assert WarmUp.of(made(), cells, cells[::-1]).cells == [cells[0], cells[2]]


def test_an_experiment_may_state_it():
    assert WarmUp.of(made(warm_up=7), CELLS, CELLS) == WarmUp(7, 0.0, CELLS[:1])
    assert WarmUp.of(made(warm_up=0), CELLS, CELLS) == NONE
    for wrong in (-1, 2.5, True, "10"):
        with pytest.raises(ExperimentError, match=r"warm_up is .*, @experiment: write a whole number of operations from 0"):
            made(warm_up=wrong)


@pytest.mark.parametrize(("returned", "calls"), [(1.0, 30), ([1.0, 2.0, 3.0], 10), ([1.0] * 20, 2), ([1.0] * 500, 1)])
def test_operations_are_values_and_not_calls(returned, calls, clock):
    called = []
    WarmUp(30, 10.0, CELLS[:1]).run(lambda cell: called.append(cell) or as_record(returned, "page", "ms"))
    assert called == CELLS[:1] * calls


def test_no_call_begins_after_the_limit(clock):
    called = []

    def measure(cell):
        called.append(cell)
        clock[0] += 4.0
        return as_record(1.0, "page", "ms")

    WarmUp(30, 10.0, CELLS).run(measure)
    assert called == [CELLS[0]] * 3 + [CELLS[1]] * 3, "the third begins after 8 s"
    called.clear()
    WarmUp(7, 0.0, CELLS[:1]).run(measure)
    assert len(called) == 7, "who states a number gets it, however long it takes"


def test_a_failure_ends_it_and_the_sample_will_say_why():
    called = []

    def measure(cell):
        called.append(cell)
        raise ToolError("no answer")

    WarmUp(30, 10.0, CELLS).run(measure)
    assert called == CELLS


def test_it_reaches_the_place():
    job = Job([(0, 1, CELLS[0])], warm_up=WarmUp(30, 10.0, CELLS[:1]))
    assert Job.read(json.loads(json.dumps(job.to_json()))).warm_up == job.warm_up


def executions(connections, pages):
    """Return the round trips of each page of one query, by psycopg: the sixth execution on a connection prepares it."""
    done = [0] * connections
    for number in range(pages):
        done[number % connections] += 1
        yield 2 if done[number % connections] == 6 else 1


@pytest.mark.parametrize("connections", [1, 2, 4])
def test_the_default_is_enough_for_psycopgs_prepared_statements(connections):
    """prepare_threshold is 5; a pool has four connections unless it is told otherwise."""
    trips = list(executions(connections, 200))
    assert set(trips[: warming.OPERATIONS]) == {1, 2}
    assert set(trips[warming.OPERATIONS :]) == {1}
