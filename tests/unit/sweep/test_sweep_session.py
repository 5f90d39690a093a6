"""Which boots a sweep measures, with labs that are a function of the task."""

import pytest

from slownet import TwoHosts, experiment
from slownet.judge.records.sweep_samples import read_aside
from slownet.lab.run.clock import INF, Clock
from slownet.lab.run.place import Place
from slownet.model.errors import LabError, SweepError
from slownet.runner.boot_store.sweep_store import Store
from slownet.runner.boot_store.task import Result
from slownet.runner.workers import Threads
from slownet.sweep import sweeping as sessions
from slownet.sweep.spec import Spec
from slownet.sweep.sweeping import Session


class Counted(Threads):
    """Labs that count how often they are started."""

    opened = 0

    def open(self):
        self.opened += 1
        return super().open()


@experiment(topology=TwoHosts, vary={"rtt": ["0ms"]})
def echo(net, rtt):
    """How long does an echo take?"""


def measured(task):
    if {"rtt": "13ms"} in task.cells:
        raise LabError("no lab takes a thirteen")
    samples = [
        {
            "experiment": "echo", "cell": cell, "condition": {}, "index": index, "status": "ok", "error": None, "boot": 1,
            "block": 1, "unit": unit, "output": {}, "metrics": {"echo_ms": {"mean": float(cell["rtt"][:-2]), "n": 1}},
        }
        for index, (cell, unit) in enumerate(zip(task.cells, task.units, strict=True))
    ]  # fmt: skip
    return Result(tuple(samples), {}, "here")


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    monkeypatch.setattr(sessions, "find", lambda source: echo)
    monkeypatch.setattr(sessions.identity, "circumstances", lambda source, place, cold: {"experiment": "echo"})
    monkeypatch.setattr(sessions.task, "measure", measured)

    def run(milliseconds, workers=None, **options):
        told = []
        place = Place(Clock("virtual", INF), {"place": "lab"})
        with Store(tmp_path / "out") as store:
            session = Session(
                Spec("echo"), store, place, workers or Threads(2), lambda event, facts: told.append((event, facts)), **options
            )
            session.measure([{"rtt": f"{each}ms"} for each in milliseconds])
        return session, [facts for event, facts in told if event == "planned"]

    return run


def test_what_refines_a_sweep_is_measured_by_the_same_labs(sweep):
    def refine(cells, found):
        asked.append([cell.metrics["echo_ms"].mean for cell in found.cells])
        return [{"rtt": f"{len(cells)}ms"}] if len(cells) < 12 else []

    asked, workers = [], Counted(2)
    session, planned = sweep([120, 130, 110], workers, refine=refine)
    assert [cell["rtt"] for cell in session.cells][:4] == ["120ms", "130ms", "110ms", "3ms"]
    assert asked[:2] == [[120, 130, 110], [120, 130, 110, 3]]
    assert [(each["cells"], each["known"]) for each in planned] == [(3, 0), *((1, known) for known in range(3, 12))]
    assert (len(session.run.cells), workers.opened) == (12, 1)


def test_what_the_folder_has_is_not_measured_again(sweep):
    sweep(range(5))
    workers = Counted(2)
    session, planned = sweep(range(4), workers)
    assert (planned, len(session.run.cells), workers.opened) == ([{"cells": 0, "known": 4}], 4, 0)


def test_a_cell_that_no_lab_measures_is_set_aside_and_the_sweep_is_refined(sweep, tmp_path):
    session, planned = sweep(range(10, 20), refine=lambda cells, found: [{"rtt": "30ms"}] if len(cells) == 10 else [])
    assert [cell.label["rtt"] for cell in session.run.cells] == [f"{each}ms" for each in (*range(10, 13), *range(14, 20), 30)]
    assert {each["cell"]["rtt"] for each in read_aside(tmp_path / "out")} == {"13ms"}
    assert planned[-1] == {"cells": 2, "known": 9}


def test_a_sweep_none_of_whose_cells_can_be_measured_ends(sweep, monkeypatch):
    def broken(task):
        raise LabError("no kernel")

    monkeypatch.setattr(sessions.task, "measure", broken)
    with pytest.raises(SweepError, match="none of the first 3 cells can be measured: no kernel"):
        sweep(range(10))
