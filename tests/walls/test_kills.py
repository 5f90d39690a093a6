"""Runs and sweeps that are killed at random moments, with samples already there, and resumed: nothing measured is lost.

`make kills KILLS=100` kills so many; a failure names the seed that repeats its choices: SEED=...
"""

import json
import os
import random
import secrets
import signal
import subprocess
import sys
import time

import pytest

from slownet.judge.records import samples, sweep_samples

KILLS = int(os.environ.get("KILLS", "6"))
SEED = os.environ.get("SEED") or str(secrets.randbits(32))
CELLS, REPETITIONS = 3, 4
PLANNED = CELLS * REPETITIONS
PATIENCE_S = 300
LATEST_S = {"between samples": 0.3, "at the end": 3.0}
"""How long after its sample a kill comes: at the end, while claims are judged and the report is written."""
MINE = f"""
from slownet import TwoHosts, experiment, law, ping


@experiment(topology=TwoHosts, vary={{"rtt": {[f"{10 * number}ms" for number in range(CELLS)]}}}, tdf="inf")
def mine(net, rtt):
    \"""What does a ping cost?\"""
    with net.link("client", "server").set(rtt=rtt):
        return ping(net["client"], "server", count=3)


mine.claims(law("rtt_ms", round_trips=1, within=0.05))
"""
COMMANDS = {
    "run": ["run", "mine.py", "--repeat", str(REPETITIONS)],
    "sweep": ["sweep", "mine.py", "--vary", "rtt=0:20:10ms", "--repeat", str(REPETITIONS), "--out", "swept"],
}


def slownet(*words, cwd):
    argv = [sys.executable, "-m", "slownet.cli", *words]
    return subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False, timeout=PATIENCE_S)


def kept(folder, command):
    """Return the measurements on disk by cell and index; a line that a kill cut is none."""
    if command == "sweep":
        found = sweep_samples.read_samples(folder / "swept") if (folder / "swept/sweep.json").exists() else []
    else:
        found = [each for run in (folder / "runs").glob("*") for each in samples.read_log(run).samples]
    return {(json.dumps(each["cell"]), each["index"], each.get("boot")): each["metrics"] for each in found}


def killed(folder, command, chance):
    """Start a command and kill it at a random moment after a random sample; return when, and what was on disk then."""
    labs = chance.choice([1, 2]) if command == "run" else 1
    process = subprocess.Popen(
        [sys.executable, "-m", "slownet.cli", *COMMANDS[command], "--labs", str(labs)],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    when = "at the end" if chance.random() < 0.2 else "between samples"
    wanted = PLANNED if when == "at the end" else chance.randint(1, PLANNED - 1)
    files = [folder / "swept/journal.jsonl"] if command == "sweep" else []
    end = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < end:
        files = files or list((folder / "runs").glob("*/samples.jsonl"))
        if sum(each.read_bytes().count(b"\n") for each in files if each.exists()) >= wanted:
            break
        time.sleep(0.01)
    time.sleep(chance.uniform(0, LATEST_S[when]))
    if process.poll() is None:
        # The labs of a killed command end by themselves; or all of it is killed.
        (os.killpg if chance.random() < 0.5 else os.kill)(process.pid, signal.SIGKILL)
    status = process.wait(PATIENCE_S)
    assert ended(process.pid), "its labs outlive it"
    return status == -signal.SIGKILL, when, kept(folder, command)


def ended(group):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("number", range(KILLS))
def test_a_command_killed_at_a_random_moment_goes_on(tmp_path_factory, number):
    chance = random.Random(f"{SEED} {number}")
    command = ("run", "sweep")[number % 2]
    was_killed = False
    while not was_killed:  # one that ended before its kill does not count
        folder = tmp_path_factory.mktemp(command)
        (folder / "mine.py").write_text(MINE)
        was_killed, when, before = killed(folder, command, chance)
    context = f"SEED={SEED}, kill {number} of a {command} {when} with {len(before)} of {PLANNED} samples"
    print(context)
    assert before, context
    words = ["--out", "swept", "--resume"] if command == "sweep" else ["--resume", *map(str, (folder / "runs").glob("*"))]
    done = slownet(command, *words, cwd=folder)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), f"{context}: {done.stdout}{done.stderr}"
    after = kept(folder, command)
    assert {key: after.get(key) for key in before} == before, context
    assert len(after) == PLANNED, context
    if command == "run":
        show = slownet("show", str(next((folder / "runs").glob("*"))), cwd=folder)
        assert (show.returncode, show.stderr) == (0, ""), f"{context}: {show.stdout}{show.stderr}"
    left = [path for path in folder.rglob("*") if path.name.endswith((".part", ".half")) or path.name == ".work"]
    assert left == [], context
