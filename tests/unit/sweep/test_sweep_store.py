"""The store of a sweep: whole after any kill, nothing twice, open to other programs."""

import json
import os
import random
import shutil
import subprocess
import sys
import warnings

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from slownet.judge.records import measured_folder, sweep_samples
from slownet.model.errors import DamageWarning, SweepError
from slownet.runner.boot_store import sweep_store
from slownet.runner.boot_store import sweep_store as stores
from slownet.runner.boot_store.sweep_store import Store

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
    assert [each["output"] for each in sweep_samples.read_samples(folder, with_output=True)] == [
        {"000-ab.txt": b"\xff 1.5 ms"}
    ] * 3


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
from test_sweep_store import kept, Store, sweep_store
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
        "written = sweep_store.write\n"
        "def write(content, path):\n"
        "    written(content, path) if path.parent.name == 'records' else os._exit(9)\n"
        "sweep_store.write = write\n"
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
    assert [sweep_store.key(each) for each in sweep_samples.read_samples(folder)] == ["a-1", "b-1"]


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
    (folder / "sweep.json").write_text(
        json.dumps({name: value for name, value in header.items() if name != "sum"} | {"schema": 99})
    )
    for use in (Store, sweep_samples.read_samples, sweep_samples.read_header):
        with pytest.raises(SweepError, match="has schema 99, this version writes 2"):
            use(folder)


def test_a_damaged_part_is_named(folder):
    with Store(folder) as store:
        store.append([[kept("a")]])
    (part,) = sweep_samples.parts(folder, "samples")
    part.write_bytes(part.read_bytes()[:50])
    with pytest.raises(SweepError, match=part.name):
        sweep_samples.part(part)
    part.unlink()
    with pytest.raises(SweepError, match=r"^cannot read \S+: No such file or directory: restore it"):
        sweep_samples.part(part)


def test_a_damaged_header_is_not_said_to_be_missing(folder):
    (folder / "sweep.json").write_text("{")
    with pytest.raises(SweepError, match=r"^cannot read .*sweep\.json: .*: restore it, or sweep into a new folder$"):
        sweep_samples.read_header(folder)
    (folder / "sweep.json").unlink()
    with pytest.raises(SweepError, match=r"is not a sweep: name a folder with a sweep\.json"):
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
                monkeypatch.setattr(
                    sweep_store, "write", interrupted(sweep_store.write, lambda _, path: path.parent.name == call)
                )
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
    assert sorted(sweep_store.key(each) for each in sweep_samples.read_samples(folder)) == ["a-1", "b-1", "b-2", "c-1"]


def test_a_kill_while_what_failed_is_forgotten_leaves_nothing_of_it(folder, monkeypatch):
    with Store(folder) as store:
        store.append([[kept("a")], [kept("b", status="failed", metrics={})]])
    write = sweep_store.write

    def killed(content, path):
        write(content, path)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, Store(folder) as store:
        patch.setattr(sweep_store, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            store.clear_failed()
    with Store(folder) as store:
        store.clear_failed()
        assert store.append([[kept("b")]]) == 1
    assert [(sweep_store.key(each), each["status"]) for each in sweep_samples.read_samples(folder)] == [
        ("a-1", "ok"),
        ("b-1", "ok"),
    ]


def test_what_failed_in_another_sweep_is_not_taken_over(folder, tmp_path):
    with Store(tmp_path / "other") as store:
        store.describe(FACTS)
        store.append([[kept("a")], [kept("b", status="failed", metrics={})]])
    with Store(folder) as store:
        assert store.merge(tmp_path / "other") == 1
        assert store.done == {"a"}


def measured(folder, journal=True):
    """A sweep with two parts, cells set aside, and with samples in its journal, as after a kill."""
    with Store(folder) as store:
        for unit in "abcd":
            store.append([[kept(unit), kept(unit, 2)]])
            if unit in "bd":
                store.roll()
        store.set_aside({"rtt": "9ms"}, 2, "the lab did not boot")
        store.set_aside({"rtt": "10ms"}, 1, "the lab did not boot")
        store.set_aside({"rtt": "11ms"}, 1, "the lab did not boot")
    if journal:
        store = Store(folder)
        store.append([[kept("e")], [kept("f")], [kept("g")]])
        store._open.close()  # as a kill does
    return folder


def units(found):
    return sorted(each["unit"] for each in found)


def sealed(folder, **changes):
    """Change sweep.json as somebody does who knows how its sum is made."""
    header = sweep_samples.read_header(folder) | changes
    (folder / "sweep.json").write_bytes(sweep_samples.sealed(header))


FLIPS = int(os.environ.get("FLIPS", "20"))
NAMED = ("sweep.json", "journal.jsonl", "aside.jsonl", "samples/part-000001.parquet", "records/part-000002.parquet")


@pytest.mark.parametrize("name", NAMED)
def test_every_flipped_bit_is_noticed(folder, tmp_path, name):
    path = measured(folder) / name
    content = path.read_bytes()
    chance = random.Random(name)
    ends = [8 * at + bit for at, each in enumerate(content) if each == 10 for bit in range(8)]  # of lines
    places = {0, len(content) * 8 - 1, *chance.sample(ends, min(len(ends), FLIPS))}
    places |= {chance.randrange(len(content) * 8) for _ in range(FLIPS)}
    unseen = []
    for at in places:
        flipped = bytearray(content)
        flipped[at // 8] ^= 1 << at % 8
        path.write_bytes(flipped)
        if not any(name in each for each in damage_of(folder)):
            unseen.append(at)
    assert unseen == []


def damage_of(folder):
    """Return the lines about what is damaged in a folder, or the one that says that it cannot be read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        try:
            return measured_folder.load(folder).damage
        except SweepError as error:
            return [str(error)]


@pytest.mark.parametrize(
    ("name", "lost", "line"),
    [
        ("records/part-000001.parquet", "ab", "records/part-000001.parquet is missing"),
        ("samples/part-000002.parquet", "", "samples/part-000002.parquet is missing"),
        ("journal.jsonl", "efg", "journal.jsonl is missing"),
        ("aside.jsonl", "", "aside.jsonl: the last 3 lines are missing"),
    ],
)
def test_a_missing_file_is_named_and_measured_again(folder, name, lost, line):
    measured(folder)
    (folder / name).unlink()
    with pytest.warns(DamageWarning, match=line):
        run = measured_folder.load(folder)
    assert [each for each in run.damage if each == line]
    left = sorted(set("abcdefg") - set(lost))
    assert sorted({each["unit"] for cell in run.cells for each in cell.samples}) == left
    with pytest.warns(DamageWarning, match=line):
        store = Store(folder)
    with store:
        assert store.done == set(left)
        store.append([[kept(each), kept(each, 2)] for each in "abcdefg"])
    assert {each["unit"] for each in sweep_samples.read_samples(folder)} == set("abcdefg")
    assert {each["key"] for each in rows(folder)} >= {f"{each}-1" for each in "abcdefg"}


def test_both_folders_of_parts_missing_is_no_empty_table(folder):
    measured(folder, journal=False)
    shutil.rmtree(folder / "samples")
    shutil.rmtree(folder / "records")
    with pytest.warns(DamageWarning):
        run = measured_folder.load(folder)
    assert run.damage == tuple(
        f"{each}/part-00000{number}.parquet is missing" for each in ("records", "samples") for number in (1, 2)
    )


@pytest.mark.parametrize("name", ["journal.jsonl", "aside.jsonl"])
@pytest.mark.parametrize("change", ["first", "middle", "order", "type"])
def test_a_changed_log_is_named_and_its_good_lines_are_kept(folder, name, change):
    measured(folder)
    lines = (folder / name).read_text().splitlines(keepends=True)
    assert len(lines) == 3
    changed = {
        "first": lines[1:], "middle": [lines[0], *lines[2:]], "order": [*reversed(lines)],
        "type": [*lines[:-1], lines[-1].replace("rtt", "rrr", 1)],
    }[change]  # fmt: skip
    (folder / name).write_text("".join(changed))
    with pytest.warns(DamageWarning, match=name):
        before = measured_folder.load(folder)
    assert before.damage
    with pytest.warns(DamageWarning, match=name), Store(folder):
        pass
    assert (folder / "damaged" / name).read_text()
    assert measured_folder.load(folder).damage == ()


def test_a_kill_in_the_journal_is_no_damage(folder):
    measured(folder)
    content = (folder / "journal.jsonl").read_bytes()
    begin = content.rindex(b"\n", 0, -1) + 1
    for at in {*range(begin, len(content), 37), *range(len(content) - 40, len(content))}:
        (folder / "journal.jsonl").write_bytes(content[:at])
        found = sweep_samples.look(folder)
        assert found.damage == [], at
        assert len(found.recent) == (3 if at == len(content) - 1 else 2), at


def test_a_part_that_is_none_of_its_own_is_named(folder):
    measured(folder, journal=False)
    for each in ("samples", "records"):
        shutil.copy(folder / each / "part-000001.parquet", folder / each / "part-000009.parquet")
    with pytest.warns(DamageWarning, match="samples/part-000009.parquet is not one of its parts"):
        found = sweep_samples.read_samples(folder)
    assert units(found) == list("aabbccdd")


def test_parts_without_what_names_them_are_not_touched(folder):
    measured(folder)
    (folder / "sweep.json").unlink()
    before = sorted(folder.rglob("*"))
    with pytest.raises(SweepError, match=r"has parts of a sweep, but no sweep\.json"):
        Store(folder)
    assert sorted(folder.rglob("*")) == before


def test_a_damaged_sweep_is_not_merged(folder, tmp_path):
    with Store(tmp_path / "other") as store:
        store.describe(FACTS)
    measured(tmp_path / "other")
    (tmp_path / "other" / "records" / "part-000001.parquet").unlink()
    with Store(folder) as store, pytest.raises(SweepError, match=r"is damaged: records/part-000001\.parquet is missing"):
        store.merge(tmp_path / "other")


@pytest.mark.parametrize(
    "changes",
    [
        {"facts": 3}, {"facts": {"planned": 3}}, {"facts": []}, {"circumstances": "x"}, {"spec": []}, {"hunt": 1},
        {"verdicts": [1]},
        {"verdicts": {"a": 1}}, {"flips": 3}, {"files": []}, {"files": {"samples/part-000001.parquet": 3}},
        {"files": {"../../etc/passwd": ["x"]}}, {"files": {"samples/../../x.parquet": ["x"]}}, {"aside.jsonl": 4},
        {"hunt": {"examples": "many"}},
    ],
    ids=str,
)  # fmt: skip
def test_wrong_types_with_a_right_sum_are_one_line(folder, changes):
    measured(folder)
    sealed(folder, **changes)
    for use in (measured_folder.load, Store, sweep_samples.read_samples):
        with pytest.raises(SweepError, match="cannot read") as error:
            use(folder)
        assert "\n" not in str(error.value)


def rewritten(folder, **columns):
    """Replace columns of a part of records, with a right sum."""
    path = folder / "records" / "part-000001.parquet"
    table = pq.read_table(path)
    for name, values in columns.items():
        table = table.set_column(table.schema.get_field_index(name), name, values)
    pq.write_table(table, path)
    files = sweep_samples.read_header(folder)["files"]
    sealed(folder, files=files | {"records/part-000001.parquet": [sweep_samples.sum_of(path)]})


@pytest.mark.parametrize(
    "text", ["3", "[]", "{", '{"cell": 3, "index": 1}', '{"cell": {}, "index": "x"}', "[" * 100_000, "9" * 5000]
)
def test_records_of_wrong_types_with_a_right_sum_are_one_line(folder, text):
    measured(folder)
    rewritten(folder, record=pa.array([text] * 4))
    with pytest.raises(SweepError, match=r"cannot read .*records/part-000001\.parquet"):
        measured_folder.load(folder)


@pytest.mark.parametrize("kind", ["dictionary", "text", "missing", "numbers"])
def test_a_part_of_other_columns_or_that_unfolds_is_one_line(folder, kind):
    measured(folder)
    path = folder / "records" / "part-000001.parquet"
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 3000, pa.int32()), pa.array(["x" * 2**18]))
    columns = {
        "dictionary": lambda: {"record": text},
        "text": lambda: {"record": text.dictionary_decode()},
        "missing": dict,
        "numbers": lambda: {"record": pa.array(range(3000))},
    }[kind]()
    pq.write_table(pa.table({"unit": pa.array(["a"] * 3000)} | columns), path)
    assert path.stat().st_size < 2**20
    files = sweep_samples.read_header(folder)["files"]
    sealed(folder, files=files | {"records/part-000001.parquet": [sweep_samples.sum_of(path)]})
    with pytest.raises(SweepError, match=r"cannot read .*: it(s column| has no column| unfolds to more than)"):
        list(sweep_samples.rows(path, ["record"]))
    with pytest.raises(SweepError, match="cannot read"):
        measured_folder.load(folder)


@pytest.mark.parametrize("name", ["found.toml", "first.jsonl"])
def test_the_examples_of_a_hunt_have_sums_too(folder, name):
    with Store(folder) as store:
        store.keep(name, b"older")
        store.keep(name, b"what breaks it")
    assert damage_of(folder) == ()
    (folder / name).write_bytes(b"what breaks It")
    assert damage_of(folder) == (f"{name} was changed",)
    with pytest.warns(DamageWarning, match=name):
        store = Store(folder)
    with store:
        store.keep(name, b"again")
    assert damage_of(folder) == ()
    (folder / name).unlink()
    assert damage_of(folder) == (f"{name} is missing",)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_kill_while_a_file_is_replaced_is_no_damage(folder, monkeypatch, when):
    with Store(folder) as store:
        store.keep("found.toml", b"older")
    write = sweep_store.write

    def killed(content, path):
        if when == "after":
            write(content, path)
        raise KeyboardInterrupt

    store = Store(folder)
    monkeypatch.setattr(sweep_store, "write", killed)
    with pytest.raises(KeyboardInterrupt):
        store.keep("found.toml", b"what breaks it")
    store._open.close()
    assert damage_of(folder) == ()
