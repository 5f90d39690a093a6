"""What a worker does, and how many there are."""

import os
import pickle
from dataclasses import replace
from types import SimpleNamespace

import pytest

from slownet import TwoHosts, experiment
from slownet.judge.records.samples import Raw
from slownet.lab.run.clock import INF, Clock
from slownet.lab.run.place import Place
from slownet.model.errors import LabError, SlownetError, SweepError
from slownet.runner import workers
from slownet.runner.boot_store import task
from slownet.runner.boot_store.task import Task
from slownet.runner.where import Where
from slownet.sweep.spec import Spec, from_file, is_file

CELLS = tuple({"rtt": f"{each}ms"} for each in range(3))
TASK = Task("echo", CELLS, ("a", "b", "c"), 2, 1, Where())


def test_neighbours_get_different_boots_and_none_is_left_out():
    cells = [({"rtt": f"{each}ms"}, str(each)) for each in range(10)]
    found = task.boots_of(cells, 4)
    assert [[unit for _, unit in boot] for boot in found] == [["0", "3", "6", "9"], ["1", "4", "7"], ["2", "5", "8"]]
    assert task.boots_of([], 4) == []


def test_a_task_divides_into_its_cells_and_travels():
    parts = TASK.split()
    assert [(each.cells, each.units, len(each)) for each in parts] == [
        ((cell,), (unit,), 1) for cell, unit in zip(CELLS, "abc", strict=True)
    ]
    assert pickle.loads(pickle.dumps(TASK)) == TASK


def test_a_boot_warms_up_programs_that_are_not_known_before_its_first_cell(monkeypatch, tmp_path):
    """Whichever comes first: the second repetition goes through the cells backwards."""
    mine = experiment(topology=TwoHosts, vary={"rtt": ["0ms", "1ms", "2ms"]})(lambda net, rtt: 1.0)
    jobs = []
    monkeypatch.setattr(task, "place_of", lambda where, source: Place(Clock("virtual", INF), {"place": "lab"}))
    monkeypatch.setattr(task, "find", lambda source: mine)
    monkeypatch.setattr(task, "limited", lambda plan, place, job, limit_s: jobs.append(job) or ({}, []))
    task._boot(TASK, tmp_path)
    ((*steps,), warm_up) = jobs[0].steps, jobs[0].warm_up
    assert [cell for _, _, cell in steps] == [*CELLS[::-1]]
    assert (warm_up.operations, warm_up.cells) == (30, [CELLS[0]])
    monkeypatch.setattr(task, "find", lambda source: replace(mine, made_of=(), topology=TwoHosts))
    task._boot(TASK, tmp_path)
    assert jobs[1].warm_up.operations == 0


def test_samples_are_collected_with_the_tools_output(tmp_path):
    (tmp_path / "raw").mkdir()
    raw = Raw(tmp_path)
    samples = [
        {"cell": cell, "index": n, "status": "ok", "block": 1, "raw": [raw.keep(f"{n:03}-ping.txt", f"output {n}")]}
        for n, cell in enumerate(CELLS)
    ]
    found = task.collected(TASK, samples, tmp_path)
    assert [(each["unit"], each["block"], each["output"]) for each in found] == [
        (unit, 1, {f"{index:03}-ping.txt": f"output {index}".encode()}) for index, unit in enumerate("abc")
    ]


def test_a_boot_without_a_sample_of_each_cell_failed(tmp_path):
    with pytest.raises(LabError, match="2 of 3 cells have no sample"):
        task.collected(TASK, [{"cell": CELLS[0], "index": 0, "status": "ok", "block": 1}], tmp_path)


@pytest.mark.parametrize("name", ["raw/../secret", "../secret", "/etc/passwd", "raw/link", "raw/fifo"])
def test_output_that_a_lab_names_elsewhere_is_not_taken(tmp_path, name):
    (tmp_path / "raw").mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "raw" / "link").symlink_to("../secret")
    os.mkfifo(tmp_path / "raw" / "fifo")
    with pytest.raises(SlownetError, match=r"is not a path below|is a symbolic link|is a FIFO"):
        task.collected(TASK, [{"cell": CELLS[0], "index": 0, "status": "ok", "block": 1, "raw": [name]}], tmp_path)


def test_a_worker_with_another_image_is_refused_by_its_name(monkeypatch):
    monkeypatch.setattr(task, "versions", lambda where, source: (("slownet", "0.1.0"), ("the image", "i1")))
    task._own.cache_clear()
    wanted = Task("echo", CELLS, ("a", "b", "c"), 1, 1, Where(), (("slownet", "0.1.0"), ("the image", "i2")))
    with pytest.raises(SweepError, match=rf"worker {task.worker()} has another version of the image: i1, not i2"):
        task.check(wanted)
    task._own.cache_clear()


def test_labs_fit_into_the_free_memory(monkeypatch):
    monkeypatch.setattr(workers, "available", lambda: 4 * 2**10)
    assert workers.room(1024, 16) == 3
    assert workers.room(1024, 2) == 2
    with pytest.raises(SweepError, match="--memory"):
        workers.room(4096, 2)


def test_labs_do_not_disturb_each_other(monkeypatch):
    monkeypatch.setattr(workers, "room", lambda megabytes: 7)
    lab = SimpleNamespace()
    assert workers.how_many(None, Place(Clock("virtual", INF), {}, parts=lab)) == 7
    assert workers.how_many(3, Place(Clock("virtual", INF), {}, parts=lab)) == 3
    assert workers.how_many(None, Place(Clock("real"), {}, parts=lab)) == 1


def test_a_sweep_is_described_by_a_file(tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text('[sweep]\nexperiment = "echo.py"\nrepeat = 3\nvary = {rtt = "0:20:10ms", loss = ["0%", "1%"]}\n')
    assert is_file(str(path))
    assert from_file(path) == {"experiment": "echo.py", "repeat": 3, "vary": {"rtt": "0:20:10ms", "loss": ["0%", "1%"]}}
    (tmp_path / "echo.py").touch()
    assert from_file(path)["experiment"] == str(tmp_path / "echo.py")
    (tmp_path / "other.toml").write_text('question = "What?"\n')
    assert not is_file(str(tmp_path / "other.toml"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[sweep]\nrepeat = 3", "describes no sweep"),
        ("[sweep", "cannot be read"),
        ('[sweep]\nexperiment = "a"\nrepeat = "3"', "a whole number"),
        ('[sweep]\nexperiment = "a"\nrepeat = true', "a whole number"),
        ('[sweep]\nexperiment = "a"\nrepaet = 3', r"sweep\.toml:3:1: did you mean 'repeat'"),
        ('[sweep]\nexperiment = "a"\n[sweep.vary]\nrtt = "10mss"', r"sweep\.toml:4:1"),
        ('[sweep]\nexperiment = "a"\n[vary]\nrtt = "10ms"', r"unknown table 'vary', \S+sweep\.toml:3:2: write \[sweep\.vary\]"),
        ('repeat = 3\n[sweep]\nexperiment = "a"', r"unknown key 'repeat', \S+sweep\.toml:1:1: put it below \[sweep\]"),
        ('[sweep]\nexperiment = "a"\nvary = {loss = "0:5:0%"}', r"'0:5:0%' has no end, \S+sweep\.toml:3:9"),
        ('[sweep]\nexperiment = "a"\nvary = {rtt = 10}', r"rtt is 10, \S+sweep\.toml:3:9: write a text"),
        ('[sweep]\nexperiment = "a"\nvary = {rtt = []}', r"rtt is \[\], \S+sweep\.toml:3:9: write a text"),
        ('[sweep]\nexperiment = "a"\nvary = {rtt = ["0ms", 10]}', r"sweep\.toml:3:9: write a text"),
    ],
)
def test_a_file_that_is_wrong_is_one_line(tmp_path, text, said):
    path = tmp_path / "sweep.toml"
    path.write_text(text)
    with pytest.raises(SlownetError, match=said):
        from_file(path)


def test_a_description_is_read_back():
    spec = Spec("echo", {"rtt": ("0ms", "1ms")}, repeat=2, where=Where(tdf="inf", env=("A",)), criterion="time_ms<3")
    assert Spec.from_json(spec.to_json()) == spec
    with pytest.raises(SweepError, match=r"sweep\.json"):
        Spec.from_json({})
