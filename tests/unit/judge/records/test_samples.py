import errno
import json
import math
import os
import re
import time

import pytest

from slownet.judge.records import samples
from slownet.judge.records.samples import (
    Raw,
    RawOutput,
    SampleLog,
    cell_key,
    finite,
    new_run_directory,
    read_log,
    read_samples,
    taken,
    write_run_json,
)
from slownet.lab.run.outbox import RefusedError
from slownet.model.errors import SlownetError


def sample(rtt="0ms", index=0, status="ok", **more):
    return {"experiment": "client_delay", "cell": {"rtt": rtt}, "index": index, "status": status, **more}


def test_a_sample_is_on_disk_when_append_returns(tmp_path):
    with SampleLog(tmp_path / "run") as log:
        log.append(sample())
        written = json.loads((tmp_path / "run" / "samples.jsonl").read_text())
        assert {**written, **sample()} == written
        assert written.keys() - sample().keys() == {"after", "sum"}
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


def test_what_was_measured_again_replaces_what_failed(tmp_path):
    with SampleLog(tmp_path) as log:
        log.append(sample("10ms", 1, status="failed"))
        log.append(sample("10ms", 1))
    assert [each["status"] for each in read_samples(tmp_path)] == ["ok"]


@pytest.fixture
def five(tmp_path):
    """A run of five samples, and the fact of run.json that seals them."""
    with SampleLog(tmp_path) as log:
        for index in range(5):
            log.append(sample(f"{index}ms", index))
        return tmp_path, {"samples": log.seal}


def without(*numbers):
    return lambda lines: [line for number, line in enumerate(lines, 1) if number not in numbers]


def changed(old, new):
    return lambda lines: [line.replace(old, new) for line in lines]


def stripped(lines):
    return [re.sub(r', "after": .*', "}", line) for line in lines]


OUT = "and was left out"
ORDER = "or are in another order"
NO_SAMPLE = f"is cut short or no sample, {OUT}"
ALL = [0, 1, 2, 3, 4]
DAMAGES = {
    "emptied": (lambda lines: [], [], "the last 5 lines are missing"),
    "its last line missing": (without(5), ALL[:4], "the last line is missing"),
    "its first line missing": (without(1), ALL[1:], f"lines are missing before line 1, {ORDER}"),
    "two lines missing": (without(2, 3), [0, 3, 4], f"lines are missing before line 2, {ORDER}"),
    "a number changed": (changed('"rtt": "2ms"', '"rtt": "7ms"'), [0, 1, 3, 4], f"line 3 was changed, {OUT}"),
    "a checksum changed": (lambda lines: [*lines[:4], lines[4][:-4] + '0"}'], ALL[:4], f"line 5 was changed, {OUT}"),
    "a line torn": (lambda lines: [*lines[:4], lines[4][:-9]], ALL[:4], f"line 5 {NO_SAMPLE}"),
    "a line of something else": (lambda lines: [*lines, "[1, 2]"], ALL, f"line 6 {NO_SAMPLE}"),
    "lines swapped": (lambda lines: [lines[1], lines[0], *lines[2:]], ALL, f"lines are missing before line 1, {ORDER}"),
    "its checksums stripped": (stripped, ALL, "line 5 is not the one that run.json knows"),
    "a line added": (lambda lines: [*lines, json.dumps(sample("9ms", 9))], ALL, f"line 6 has no checksum, {OUT}"),
    "binary in it": (lambda lines: [lines[0], "\0\ufffd", *lines[1:]], ALL, f"line 2 {NO_SAMPLE}"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_named_and_the_rest_is_used(five, damage):
    directory, facts = five
    harm, left, line = DAMAGES[damage]
    path = directory / "samples.jsonl"
    path.write_text("".join(f"{each}\n" for each in harm(path.read_text().splitlines())))
    log = read_log(directory, facts)
    assert [each["index"] for each in log.latest] == left
    assert log.damage[0] == f"samples.jsonl: {line}"


def test_a_whole_file_has_no_damage(five):
    directory, facts = five
    assert read_log(directory, facts).damage == []
    with SampleLog(directory) as log:  # killed before run.json knew of it
        log.append(sample("9ms", 9))
    assert read_log(directory, facts).damage == []


def test_what_is_added_to_a_damaged_file_leaves_a_whole_one(five):
    directory, _ = five
    path = directory / "samples.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], "x", *lines[2:]]))
    damaged = path.read_text()
    with SampleLog(directory) as log:
        assert log.seal["lines"] == 4 - 1
        log.append(sample("1ms", 1))
    assert [each["index"] for each in read_samples(directory)] == [0, 1, 3, 4]
    assert read_log(directory, {"samples": log.seal}).damage == []
    assert (directory / "samples.damaged.jsonl").read_text() == damaged


def test_lines_without_checksums_are_of_an_older_version(tmp_path):
    path = tmp_path / "samples.jsonl"
    path.write_text("".join(json.dumps(sample(f"{index}ms", index)) + "\n" for index in range(2)))
    assert read_log(tmp_path, {}).damage == []
    with SampleLog(tmp_path) as log:
        log.append(sample("2ms", 2))
    assert read_log(tmp_path, {"samples": log.seal}).damage == []
    path.write_text(path.read_text().replace('"1ms"', '"7ms"'))
    assert read_log(tmp_path).damage == ["samples.jsonl: lines are missing before line 3, or are in another order"]


def test_a_torn_last_line_is_skipped_and_not_built_upon(tmp_path):
    with SampleLog(tmp_path) as log:
        log.append(sample("0ms", 0))
        log.append(sample("10ms", 1))
    path = tmp_path / "samples.jsonl"
    os.truncate(path, path.stat().st_size - 9)
    assert len(read_samples(tmp_path)) == 1
    with SampleLog(tmp_path) as log:
        log.append(sample("10ms", 1))
    assert [each["index"] for each in read_samples(tmp_path)] == [0, 1]
    assert read_log(tmp_path).damage == []


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


def test_each_lab_keeps_output_in_a_folder_of_its_own(tmp_path):
    for lab, name in ((1, "raw"), (2, "raw-2"), (64, "raw-64")):
        (tmp_path / name).mkdir()
        assert Raw(tmp_path, lab).keep("000-ab.txt", f"of lab {lab}") == f"{name}/000-ab.txt"
        assert RawOutput(tmp_path).text(f"{name}/000-ab.txt") == f"of lab {lab}"


@pytest.mark.parametrize("name", ["raw-x/a", "raw-2x/a", "raw-0/a", "services-2/a", "raw-2/../services-2/a", "raw-3/a"])
def test_no_other_folder_is_read(tmp_path, name):
    for folder in ("raw", "raw-2", "raw-x", "raw-2x", "raw-0", "services-2"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a").write_text("not raw output")
    with pytest.raises(RefusedError):
        RawOutput(tmp_path).read(name)


@pytest.mark.parametrize("name", ["../evil", "a/b", "", ".."])
def test_raw_stays_in_its_directory(tmp_path, name):
    with SampleLog(tmp_path) as log, pytest.raises(SlownetError, match="is not a plain file name"):
        log.raw(name, "text")


def test_no_samples_yet(tmp_path):
    assert read_samples(tmp_path) == []


def test_on_a_full_disk_every_error_says_to_free_space(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(samples, "place", full)
    monkeypatch.setattr(samples, "appending", full)
    for write, what in ((lambda: write_run_json(tmp_path, {}), "run.json"), (lambda: SampleLog(tmp_path / "more"), "samples")):
        with pytest.raises(SlownetError, match=rf"^cannot write {what}, No space left on device, in .*: free space$"):
            write()


def test_a_directory_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SlownetError, match=r"^cannot write samples, Not a directory, in .*/file/run: measure into another"):
        SampleLog(tmp_path / "file" / "run")
    with pytest.raises(
        SlownetError, match=r"^cannot make a run directory, .*, in .*/file: work in a folder that you may write to$"
    ):
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


@pytest.mark.parametrize("target", ["nothing", "file", "/dev/full"])
def test_samples_are_not_added_to_what_a_link_names(tmp_path, target):
    """A run from elsewhere, which is resumed, could name any file of the user's so."""
    victim = tmp_path / target
    if target == "file":
        with SampleLog(tmp_path / "other") as log:
            log.append(sample())
        victim = tmp_path / "other" / "samples.jsonl"
    before = victim.read_bytes() if target == "file" else b""
    run = tmp_path / "run"
    run.mkdir()
    (run / "samples.jsonl").symlink_to(victim)
    with pytest.raises(SlownetError, match=r"^cannot (read|write) samples.*(is a link|is not a regular file), in "):
        SampleLog(run)
    assert not (tmp_path / "nothing").exists()
    assert target != "file" or victim.read_bytes() == before


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_samples_are_not_added_to_what_is_no_file(tmp_path, make):
    make(tmp_path / "samples.jsonl")
    with pytest.raises(SlownetError, match=r"^cannot (read|write) samples"):
        SampleLog(tmp_path)
