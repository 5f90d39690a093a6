"""The store of a sweep: whole after any kill, nothing twice, open to other programs."""

import json
import os
import subprocess
import sys

import pyarrow.dataset as ds
import pytest

from slownet.judge.records import sweep_samples
from slownet.model.errors import SweepError
from slownet.runner.sweep import sweep_store as stores
from slownet.runner.sweep import tables
from slownet.runner.sweep.sweep_store import Store

FACTS = {"circumstances": {"experiment": "page"}}


def kept(unit, block=1, mean=1.5, **others):
    return {
        "experiment": "page", "cell": {"rtt": unit}, "condition": {"rtt_ms": 3.0}, "index": 0, "tool": "ab", "status": "ok",
        "error": None, "metrics": {"time_ms": {"mean": mean, "sd": 0.5, "n": 3, "values": [1, 2, 3]}}, "boot": 1, "lab": 1,
        "block": block, "random": False, "seeds": [], "wall_s": None, "raw": ["raw/000-ab.txt"], "facts": {}, "counters": {},
        "unit": unit, "output": {"000-ab.txt": b"\xff 1.5 ms"},
    } | others  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    with Store(tmp_path / "out") as store:
        store.describe(FACTS)
    return tmp_path / "out"


def rows(folder):
    return ds.dataset(str(folder / "samples")).to_table().to_pylist()


def test_samples_are_rows_of_one_table(folder):
    with Store(folder) as store:
        assert store.append([[kept("a"), kept("a", 2)], [kept("b")]]) == 2
    assert [(each["key"], each["rtt_ms"], each["time_ms"], each["time_ms_n"]) for each in rows(folder)] == [
        ("a-1", 3.0, 1.5, 3.0), ("a-2", 3.0, 1.5, 3.0), ("b-1", 3.0, 1.5, 3.0),
    ]  # fmt: skip
    assert [each["cell"]["rtt"] for each in sweep_samples.read_samples(folder)] == ["a", "a", "b"]
    assert [each["output"] for each in sweep_samples.whole(folder, with_output=True)] == [{"000-ab.txt": b"\xff 1.5 ms"}] * 3


def test_a_unit_counts_once(folder):
    with Store(folder) as store:
        store.append([[kept("a")], [kept("a", mean=9.0)]])
        assert store.append([[kept("a", mean=7.0)]]) == 0
    with Store(folder) as store:
        assert store.done == {"a"}
        assert store.append([[kept("a", mean=8.0), kept("b")]]) == 1
    assert [(each["key"], each["time_ms"]) for each in rows(folder)] == [("a-1", 1.5), ("b-1", 1.5)]


def killed(folder, after):
    """Append samples in a process that ends without a farewell; ``after``: what it does before."""
    code = f"""
import os, sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
from pathlib import Path
from test_sweep_store import kept, Store, tables
store = Store(Path({str(folder)!r}))
store.append([[kept("a")]])
{after}
os._exit(9)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9


KILLS = {
    "after a boot": "",
    "within a line": 'store._journal.write(b\'[{"key": "b\'); store._journal.flush()',
    "between a part's records and its samples": (
        "written = tables.write\n"
        "def write(content, path):\n"
        "    written(content, path) if path.parent.name == 'records' else os._exit(9)\n"
        "tables.write = write\n"
        "store.roll()"
    ),
    "before the journal is emptied": "store._journal.truncate = lambda size: os._exit(9)\nstore.roll()",
    "after a part": "store.roll()",
}


@pytest.mark.parametrize("kill", KILLS)
def test_a_kill_loses_nothing_and_doubles_nothing(kill, folder):
    killed(folder, KILLS[kill])
    assert [each["cell"]["rtt"] for each in sweep_samples.read_samples(folder)] == ["a"]
    with Store(folder) as store:
        assert store.done == {"a"}
        assert [each["unit"] for each in store.samples()] == ["a"]
        store.append([[kept("b")]])
    assert [each["key"] for each in rows(folder)] == ["a-1", "b-1"]
    assert [tables.key(each) for each in sweep_samples.whole(folder)] == ["a-1", "b-1"]


def test_many_samples_make_several_parts(folder, monkeypatch):
    monkeypatch.setattr(stores, "FULL", 2)
    with Store(folder) as store:
        for unit in "abcde":
            store.append([[kept(unit)]])
    assert len(sweep_samples.parts(folder, "samples")) == len(sweep_samples.parts(folder, "records")) == 3
    assert [each["key"] for each in rows(folder)] == ["a-1", "b-1", "c-1", "d-1", "e-1"]


def test_parts_with_other_columns_are_one_table(folder, monkeypatch):
    monkeypatch.setattr(stores, "FULL", 1)
    with Store(folder) as store:
        store.append([[kept("a", condition={"queue": 5})]])
        store.append([[kept("b", condition={"queue": "1 bdp"}, metrics={}, status="failed", error="no answer")]])
    found = {each["key"]: each for each in rows(folder)}
    assert [each["queue"] for each in found.values()] == ["5", "1 bdp"]
    assert found["b-1"]["time_ms"] is None
    assert found["b-1"]["error"] == "no answer"


def test_two_sweeps_merge(folder, tmp_path):
    other = tmp_path / "other"
    with Store(other) as store:
        store.describe(FACTS)
        store.append([[kept("a", mean=9.0)], [kept("c"), kept("c", 2)]])
    killed(folder, "")
    with Store(folder) as store:
        assert store.merge(other) == 1
    assert [(each["key"], each["time_ms"]) for each in rows(folder)] == [("a-1", 1.5), ("c-1", 1.5), ("c-2", 1.5)]


def test_sweeps_of_two_experiments_do_not_merge(folder, tmp_path):
    with Store(tmp_path / "other") as store:
        store.describe({"circumstances": {"experiment": "login"}})
    with Store(folder) as store, pytest.raises(SweepError, match="is a sweep of login, not of page"):
        store.merge(tmp_path / "other")


def test_one_sweep_at_a_time(folder):
    with Store(folder), pytest.raises(SweepError, match="another sweep writes"):
        Store(folder)


def test_another_schema_is_refused(folder):
    header = json.loads((folder / "sweep.json").read_text())
    (folder / "sweep.json").write_text(json.dumps(header | {"schema": 99}))
    for use in (Store, sweep_samples.read_samples, sweep_samples.read_header):
        with pytest.raises(SweepError, match="has schema 99, this version writes 1"):
            use(folder)


def test_a_damaged_part_is_named(folder):
    with Store(folder) as store:
        store.append([[kept("a")]])
    (part,) = sweep_samples.parts(folder, "samples")
    part.write_bytes(part.read_bytes()[:50])
    with pytest.raises(SweepError, match=part.name):
        Store(folder)
    part.unlink()
    with pytest.raises(SweepError, match=r"^cannot read \S+: No such file or directory: restore it"):
        sweep_samples.part(part)


def test_a_damaged_header_is_not_said_to_be_missing(folder):
    (folder / "sweep.json").write_text("{")
    with pytest.raises(SweepError, match=r"^cannot read .*sweep\.json: .*: restore it, or sweep into a new folder$"):
        sweep_samples.read_header(folder)
    (folder / "sweep.json").unlink()
    with pytest.raises(SweepError, match=r"is no sweep: name a folder with a sweep\.json"):
        sweep_samples.read_header(folder)


def test_a_full_disk_keeps_what_was_stored(folder, monkeypatch):
    def full(fd):
        raise OSError(28, "No space left on device")

    store = Store(folder)
    store.append([[kept("a")]])
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(SweepError, match="No space left on device"), store:
            store.append([[kept("b")]])
    with Store(folder) as store:
        assert store.done == {"a"}
        store.append([[kept("b")]])
    assert [each["key"] for each in rows(folder)] == ["a-1", "b-1"]


class Journal:
    """A journal whose functions a test may replace."""

    def __init__(self, file):
        self.write, self.truncate, self.fileno = file.write, file.truncate, file.fileno


@pytest.mark.parametrize("is_done", [False, True], ids=["during", "after"])
@pytest.mark.parametrize("call", ["write", "fsync", "records", "samples", "truncate"])
def test_an_interrupt_loses_nothing_and_doubles_nothing(call, is_done, folder, monkeypatch):
    """What was being stored is stored again by who was interrupted."""
    monkeypatch.setattr(stores, "FULL", 2)
    interrupts = [KeyboardInterrupt()]

    def interrupted(function, when=lambda *arguments: True):
        def called(*arguments):
            if not when(*arguments) or not interrupts:
                return function(*arguments)
            if is_done:
                function(*arguments)
            raise interrupts.pop()

        return called

    with Store(folder) as store:
        store.append([[kept("a")]])
        match call:
            case "write" | "truncate":
                store._journal = Journal(store._journal)
                monkeypatch.setattr(store._journal, call, interrupted(getattr(store._journal, call)))
            case "fsync":
                monkeypatch.setattr(stores.os, "fsync", interrupted(os.fsync))
            case _:
                monkeypatch.setattr(tables, "write", interrupted(tables.write, lambda _, path: path.parent.name == call))
        with pytest.raises(KeyboardInterrupt):
            store.append([[kept("b"), kept("b", 2)]])
        store.append([[kept("b"), kept("b", 2)]])
    assert not interrupts
    assert [each["key"] for each in rows(folder)] == ["a-1", "b-1", "b-2"]
    with Store(folder) as store:
        assert store.done == {"a", "b"}


def test_cells_that_are_set_aside_are_remembered(folder):
    with Store(folder) as store:
        store.set_aside({"rtt": "9ms"}, 2, "the lab did not boot")
        assert sweep_samples.read_aside(folder) == [{"cell": {"rtt": "9ms"}, "repetition": 2, "why": "the lab did not boot"}]
        store.clear_failed()
    assert sweep_samples.read_aside(folder) == []


@pytest.mark.parametrize("full", [1, 3, 100])
def test_what_failed_is_measured_again_and_stands_there_once(full, folder, monkeypatch):
    monkeypatch.setattr(stores, "FULL", full)
    with Store(folder) as store:
        store.append(
            [[kept("a")], [kept("b"), kept("b", 2, status="failed", metrics={})], [kept("c", status="failed", metrics={})]]
        )
    with Store(folder) as store:
        store.append([[kept("d", status="failed", metrics={})]])
        store.clear_failed()
        assert store.done == {"a"}
        assert store.append([[kept("b"), kept("b", 2)], [kept("c")], [kept("a", mean=9.0)]]) == 2
    assert sorted(each["key"] for each in rows(folder)) == ["a-1", "b-1", "b-2", "c-1"]
    assert {each["status"] for each in sweep_samples.read_samples(folder)} == {"ok"}
    assert sorted(tables.key(each) for each in sweep_samples.read_samples(folder)) == ["a-1", "b-1", "b-2", "c-1"]


def test_a_kill_while_what_failed_is_forgotten_leaves_nothing_of_it(folder, monkeypatch):
    with Store(folder) as store:
        store.append([[kept("a")], [kept("b", status="failed", metrics={})]])
    write = tables.write

    def killed(content, path):
        write(content, path)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, Store(folder) as store:
        patch.setattr(tables, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            store.clear_failed()
    with Store(folder) as store:
        store.clear_failed()
        assert store.append([[kept("b")]]) == 1
    assert [(tables.key(each), each["status"]) for each in sweep_samples.read_samples(folder)] == [("a-1", "ok"), ("b-1", "ok")]


def test_what_failed_in_another_sweep_is_not_taken_over(folder, tmp_path):
    with Store(tmp_path / "other") as store:
        store.describe(FACTS)
        store.append([[kept("a")], [kept("b", status="failed", metrics={})]])
    with Store(folder) as store:
        assert store.merge(tmp_path / "other") == 1
        assert store.done == {"a"}
