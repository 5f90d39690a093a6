"""A hunt in real labs: a planted bug is found, shrunk, and repeated digit for digit; a kill loses no example."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command_line import SLOWNET, slownet

from slownet.judge.records.sweep_samples import read_samples

EXAMPLES = Path(__file__).parents[2] / "examples/faults"


@pytest.fixture
def folder(built, tmp_path):
    for name in ("acknowledged.py", "queue_server.py", "briefly.py"):
        shutil.copy(EXAMPLES / name, tmp_path)
    return tmp_path


def test_a_planted_bug_is_found_shrunk_and_repeated_and_a_kill_loses_nothing(folder):
    """With a seed that finds it soon, and another fault or two beside it."""
    words = ["hunt", "briefly.py", "--env", "KINDS=kill", "--seed", "1", "--examples", "60", "--labs", "2"]
    words += ["--resume", "--out", "hunt"]
    killed = subprocess.Popen([*SLOWNET, *words], cwd=folder, stderr=subprocess.DEVNULL)
    journal = folder / "hunt/journal.jsonl"
    until = time.monotonic() + 300
    while not (journal.exists() and journal.read_bytes().count(b"\n") >= 3):
        assert killed.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    before = {each["unit"]: each["wall_s"] for each in read_samples(folder / "hunt")}
    assert len(before) >= 3

    done = slownet(*words, "--json", cwd=folder)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert [each["do"] for each in found["smallest"]["faults"]] == ["kill server", "start server"]
    assert found["same"] is True
    after = {each["unit"]: each["wall_s"] for each in read_samples(folder / "hunt")}
    assert before.items() <= after.items()

    shown = slownet("show", "hunt", cwd=folder)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "virtual clock, TDF inf" in shown.stdout
    assert next(line for line in shown.stdout.splitlines() if line.startswith("faults ")).split()[:2] == ["faults", "none"]

    again = slownet("hunt", "replay", "hunt/found.toml", "--times", "2", cwd=folder)
    assert again.returncode == 1
    assert again.stdout.count("the same history, digit for digit") == 2
    assert "acknowledged puts lost" in again.stdout

    cured = slownet("hunt", "replay", "hunt/found.toml", "--env", "ACKNOWLEDGE=synced", cwd=folder)
    assert cured.returncode == 0, cured.stdout + cured.stderr
    assert "nothing breaks" in cured.stdout

    run = slownet("run", "briefly.py", "--vary", "faults=hunt/found.toml", "--runs", "runs", "--out=json=-", cwd=folder)
    assert run.returncode == 0, run.stderr
    assert "kill server at" in run.stdout


@pytest.mark.parametrize(("fault", "status"), [("kill", 0), ("crash", 1)])
def test_a_queue_that_leaves_syncing_to_the_kernel_loses_values_in_a_crash_alone(folder, monkeypatch, fault, status):
    monkeypatch.setenv("ACKNOWLEDGE", "written")
    (folder / "power.toml").write_text(f'[faults]\n"2.05s" = "{fault} server"\n"3s" = "start server"\n')
    done = slownet("hunt", "replay", "power.toml", "acknowledged.py", "--env", "ACKNOWLEDGE", cwd=folder)
    assert done.returncode == status, done.stdout + done.stderr
    assert ("acknowledged puts lost" in done.stdout) == (fault == "crash")


EVERY_KIND = "kill,pause,cut,one-way,reset,crash,fill-disk,fail-disk,slow-disk,corrupt,mtu"
"""All but slow-cpu, as computing is free, and lose-names, as nobody asks for one."""


@pytest.mark.long
def test_a_queue_that_syncs_keeps_what_it_acknowledged_under_every_kind_of_fault(folder):
    words = ["--env", f"KINDS={EVERY_KIND}", "--env", "ACKNOWLEDGE=synced", "--seed", "5", "--examples", "30", "--out", "hunt"]
    done = slownet("hunt", "briefly.py", *words, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    tried = re.findall(r"^([a-z-]+) (?:server|client)", done.stdout, re.MULTILINE)
    assert {*tried} >= {"kill", "pause", "cut", "reset", "crash", "fill-disk", "fail-disk", "slow-disk", "corrupt", "mtu"}
