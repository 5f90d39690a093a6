import json
import math
import os
import re
import time

import pytest

from slownet.errors import SlownetError
from slownet.records.samples import SampleLog, cell_key, collect, finite, new_run_directory, read_samples, taken, write_run_json


def sample(rtt="0ms", index=0, status="ok", **more):
    return {"experiment": "client_delay", "cell": {"rtt": rtt}, "index": index, "status": status, **more}


def test_a_sample_is_on_disk_when_append_returns(tmp_path):
    with SampleLog(tmp_path / "run") as log:
        log.append(sample())
        assert json.loads((tmp_path / "run" / "samples.jsonl").read_text()) == sample()
        log.append(sample("10ms", 1))
        assert [each["index"] for each in read_samples(tmp_path / "run")] == [0, 1]


def test_append_waits_for_the_disk(tmp_path, monkeypatch):
    synced = []
    path = tmp_path / "samples.jsonl"
    monkeypatch.setattr(os, "fsync", lambda _: synced.append(path.read_text().count("\n")))
    with SampleLog(tmp_path) as log:
        log.append(sample(index=0))
        log.append(sample(index=1))
    assert synced == [1, 2]


def test_resume_names_what_is_done(tmp_path):
    with SampleLog(tmp_path) as log:
        log.append(sample("0ms", 0))
        log.append(sample("10ms", 1, status="failed"))
    with SampleLog(tmp_path) as again:
        assert taken(tmp_path) == {(cell_key({"rtt": "0ms"}), 0)}
        again.append(sample("10ms", 1))
        assert (cell_key({"rtt": "10ms"}), 1) in taken(tmp_path)
    assert [each["status"] for each in read_samples(tmp_path)] == ["ok", "ok"]


def test_labs_side_by_side_have_a_file_each_until_they_end(tmp_path):
    with SampleLog(tmp_path) as first, SampleLog(tmp_path, lab=2) as second:
        second.append(sample("10ms", 1, lab=2))
        first.append(sample("0ms", 0, lab=1))
        first.append(sample("40ms", 2, lab=1))
    assert (tmp_path / "samples-2.jsonl").exists()
    before = read_samples(tmp_path)
    assert [(each["index"], each["lab"]) for each in before] == [(0, 1), (1, 2), (2, 1)]
    collect(tmp_path)
    collect(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["raw", "samples.jsonl"]
    assert len((tmp_path / "samples.jsonl").read_text().splitlines()) == 3
    assert read_samples(tmp_path) == before


def test_a_kill_while_samples_are_collected_loses_and_doubles_nothing(tmp_path):
    with SampleLog(tmp_path, lab=2) as log:
        log.append(sample("10ms", 1))
        log.append(sample("40ms", 2))
    half = (tmp_path / "samples-2.jsonl").read_text()
    (tmp_path / "samples.jsonl").write_text(half[: len(half) - 20])  # the first line and part of the second
    collect(tmp_path)
    with pytest.warns(UserWarning, match="samples.jsonl:2 "):
        assert [each["index"] for each in read_samples(tmp_path)] == [1, 2]


def test_what_a_lab_measured_again_replaces_what_failed(tmp_path):
    with SampleLog(tmp_path) as first, SampleLog(tmp_path, lab=2) as second:
        first.append(sample("10ms", 1, status="failed"))
        second.append(sample("10ms", 1))
    assert [each["status"] for each in read_samples(tmp_path)] == ["ok"]


def test_a_torn_last_line_is_skipped_with_a_warning_and_not_built_upon(tmp_path):
    with SampleLog(tmp_path) as log:
        log.append(sample("0ms", 0))
        log.append(sample("10ms", 1))
    path = tmp_path / "samples.jsonl"
    os.truncate(path, path.stat().st_size - 9)
    with pytest.warns(UserWarning, match=r"samples\.jsonl:2 is cut short and was skipped"):
        assert len(read_samples(tmp_path)) == 1
    with SampleLog(tmp_path) as log:
        log.append(sample("10ms", 1))
    with pytest.warns(UserWarning, match="samples.jsonl:2 "):
        assert [each["index"] for each in read_samples(tmp_path)] == [0, 1]


def test_a_whole_line_that_lacks_only_its_end_is_kept(tmp_path):
    (tmp_path / "samples.jsonl").write_text(json.dumps(sample()))
    with SampleLog(tmp_path) as log:
        log.append(sample("10ms", 1))
    assert len(read_samples(tmp_path)) == 2


def test_a_sample_that_json_cannot_hold_is_refused_before_it_is_written(tmp_path):
    with SampleLog(tmp_path) as log:
        with pytest.raises(SlownetError, match="sample 3 holds a number that is not finite"):
            log.append(sample(index=3, virtual_s=math.nan))
        with pytest.raises(SlownetError, match="needs 'cell' and 'index'"):
            log.append({"index": 0})
    assert (tmp_path / "samples.jsonl").read_text() == ""


def test_raw_output_is_never_overwritten(tmp_path):
    with SampleLog(tmp_path) as log:
        assert log.raw("000-ab.txt", "first") == "raw/000-ab.txt"
        assert log.raw("000-ab.txt", "second") == "raw/000-ab-2.txt"
        assert log.raw("000-ab.txt", "third") == "raw/000-ab-3.txt"
    assert (tmp_path / "raw" / "000-ab.txt").read_text() == "first"
    assert (tmp_path / "raw" / "000-ab-3.txt").read_text() == "third"


@pytest.mark.parametrize("name", ["../evil", "a/b", "", ".."])
def test_raw_stays_in_its_directory(tmp_path, name):
    with SampleLog(tmp_path) as log, pytest.raises(SlownetError, match="is not a plain file name"):
        log.raw(name, "text")


def test_no_samples_yet(tmp_path):
    assert read_samples(tmp_path) == []


def test_a_directory_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SlownetError, match=r"^cannot write samples, Not a directory, in .*/file/run$"):
        SampleLog(tmp_path / "file" / "run")
    with pytest.raises(SlownetError, match=r"^cannot make a run directory, .*, in .*/file$"):
        new_run_directory(tmp_path / "file", "client_delay")


def test_run_directories_are_unique(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "strftime", lambda _: "20261121-013303")
    names = [new_run_directory(tmp_path / "runs", "client_delay").name for _ in range(3)]
    stem = "20261121-013303-client_delay"
    assert names == [stem, f"{stem}-2", f"{stem}-3"]


def test_a_run_directory_carries_the_time(tmp_path):
    assert re.fullmatch(r"\d{8}-\d{6}-x", new_run_directory(tmp_path, "x").name)


def test_run_json_is_replaced_whole(tmp_path):
    write_run_json(tmp_path, {"tdf": 1})
    path = write_run_json(tmp_path, {"tdf": math.inf, "settings": {"a": (1, math.nan)}})
    assert json.loads(path.read_text()) == {"tdf": None, "settings": {"a": [1, None]}}
    assert [each.name for each in tmp_path.iterdir()] == ["run.json"]


def test_finite_leaves_other_values_alone():
    assert finite({"a": [1, 2.5, "inf", None, True]}) == {"a": [1, 2.5, "inf", None, True]}
