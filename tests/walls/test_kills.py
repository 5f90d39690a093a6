"""Commands that are killed at random moments, and started again: nothing is lost, nothing half written is taken for whole.

`make kills KILLS=100` kills so many; a failure names the seed that repeats its choices: SEED=...
"""

import json
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from slownet.judge.records import samples, sweep_samples

EXAMPLES = Path(__file__).parents[2] / "examples/faults"
SMALL_LAB = Path(__file__).parents[1] / "unit/transfer/conftest.py"
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
    "hunt": ["hunt", "briefly.py", "--env", "KINDS=pause", "--examples", str(PLANNED - 1), "--out", "swept"],
    "run": ["run", "mine.py", "--repeat", str(REPETITIONS)],
    "sweep": ["sweep", "mine.py", "--vary", "rtt=0:20:10ms", "--repeat", str(REPETITIONS), "--out", "swept"],
}


def slownet(*words, cwd, env=None):
    argv = [sys.executable, "-m", "slownet.cli", *words]
    return subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=PATIENCE_S)


def kept(folder, command):
    """Return the measurements on disk by cell and index; a line that a kill cut is none."""
    if command != "run":
        found = sweep_samples.read_samples(folder / "swept") if (folder / "swept/sweep.json").exists() else []
    else:
        found = [each for run in (folder / "runs").glob("*") for each in samples.read_log(run).samples]
    return {
        (json.dumps(each["cell"]), each["index"], each.get("boot")): each.get("metrics") or each.get("wall_s") for each in found
    }


def killed(folder, command, chance):
    """Start a command and kill it at a random moment after a random sample; return when, and what was on disk then."""
    labs = chance.choice([1, 2]) if command == "run" else 1
    process = subprocess.Popen(
        [sys.executable, "-m", "slownet.cli", *COMMANDS[command], "--labs", str(labs)],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    when = "at the end" if chance.random() < 0.2 else "between samples"
    wanted = PLANNED if when == "at the end" else chance.randint(1, PLANNED - 1)
    files = [folder / "swept/journal.jsonl"] if command != "run" else []
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
    command = ("run", "sweep", "hunt")[number % 3]
    was_killed = False
    while not was_killed:  # one that ended before its kill does not count
        folder = tmp_path_factory.mktemp(command)
        for name in ("acknowledged.py", "queue_server.py", "briefly.py"):
            shutil.copy(EXAMPLES / name, folder)
        (folder / "mine.py").write_text(MINE)
        was_killed, when, before = killed(folder, command, chance)
    context = f"SEED={SEED}, kill {number} of a {command} {when} with {len(before)} of {PLANNED} samples"
    print(context)
    assert before, context
    words = [*COMMANDS[command][1:], "--resume"] if command == "hunt" else ["--out", "swept", "--resume"]
    words = words if command != "run" else ["--resume", *map(str, (folder / "runs").glob("*"))]
    done = slownet(command, *words, cwd=folder)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), f"{context}: {done.stdout}{done.stderr}"
    after = kept(folder, command)
    assert {key: after.get(key) for key in before} == before, context
    assert len(after) == PLANNED or (command == "hunt" and len(after) >= len(before)), context
    show = slownet("show", "swept" if command != "run" else str(next((folder / "runs").glob("*"))), cwd=folder)
    assert (show.returncode, show.stderr) == (0, ""), f"{context}: {show.stdout}{show.stderr}"
    left = [path for path in folder.rglob("*") if path.name.endswith((".part", ".half")) or path.name == ".work"]
    assert left == [], context


KEY = """\
# Measured by `slownet check --key`. Answers from low to high are right; without one of them that side is open.
[ping]
question = "A ping?"
clock = ""
[ping.answers.round_trips]
says = "So many"
low = 1.9
high = 2.1
"""
ANSWERS = 200


def a_run(folder, mean):
    """Write a run that is as large as one of many samples."""
    folder.mkdir()
    with samples.SampleLog(folder) as log:
        for index in range(400):
            values = [mean + each / 100 for each in range(100)]
            log.append({
                "experiment": "x", "cell": {}, "condition": {}, "index": index, "tool": "ab", "status": "ok", "error": None,
                "boot": 1 + index // 20, "metrics": {"time_ms": {"mean": mean, "sd": 0.5, "n": 100, "values": values}},
            })  # fmt: skip
        facts = {"experiment": "x", "clock": "virtual", "tdf": "inf", "samples": log.seal, "claims": []}
        samples.write_run_json(folder, facts)


def baseline(folder):
    a_run(folder / "older", 1.0)
    a_run(folder / "run", 2.0)
    assert slownet("compare", "save", "older", "base.json", cwd=folder).returncode == 0
    return ["compare", "save", "run", "base.json"], ["base.json"]


def marking(folder):
    (folder / "key.toml").write_text(KEY)
    for number in range(ANSWERS):
        (folder / f"{number}.toml").write_text(f'student = "{number}"\n[ping]\nround_trips = 2\n')
    assert slownet("check", "mark", "0.toml", "--key", "key.toml", cwd=folder).returncode == 0
    return ["check", "mark", *(f"{number}.toml" for number in range(ANSWERS)), "--key", "key.toml"], ["marks.csv", "marks.html"]


def grading(folder):
    (folder / "key.toml").write_text(KEY)
    (folder / "handed_in").mkdir()
    (folder / "handed_in/answers.toml").write_text("[ping]\nround_trips = 3")
    words = ["check", "grade", "handed_in", "--key", "key.toml", "--for", "gradescope", "--results", "results.json"]
    assert slownet(*words, cwd=folder).returncode == 0
    (folder / "handed_in/answers.toml").write_text("[ping]\nround_trips = 2")
    return words, ["results.json"]


def reporting(folder):
    a_run(folder / "run", 1.0)
    (folder / "page.html").write_text("what was there")
    return ["show", "run", "--out", "page=page.html"], ["page.html"]


QUICK = {"baseline": baseline, "mark": marking, "grade": grading, "report": reporting}


@pytest.mark.parametrize("number", range(KILLS))
def test_a_file_that_a_killed_command_writes_is_the_old_or_the_new_one(tmp_path, number):
    chance = random.Random(f"{SEED} files {number}")
    name, prepare = [*QUICK.items()][number % len(QUICK)]
    words, files = prepare(tmp_path)
    old = {each: (tmp_path / each).read_bytes() for each in files}
    there = {each.name for each in tmp_path.iterdir()}
    began = time.monotonic()
    done = slownet(*words, cwd=tmp_path)
    took = time.monotonic() - began
    assert done.returncode == 0, done.stderr
    new = {each: (tmp_path / each).read_bytes() for each in files}
    assert old != new
    was_killed = False
    while not was_killed:  # one that ended before its kill does not count
        for each, content in old.items():
            (tmp_path / each).write_bytes(content)
        after = took * chance.uniform(0.3, 1.0)
        was_killed = kill_after(after, words, tmp_path)
    context = f"SEED={SEED}, kill {number}, of {name} after {after:.2f} of {took:.2f} s"
    print(context)
    for each in files:
        assert (tmp_path / each).read_bytes() in (old[each], new[each]), f"{context}: {each}"
    left = {each.name for each in tmp_path.iterdir()} - there
    assert all(each.endswith(".part") for each in left), context  # between the draft's name and its place
    assert slownet(*words, cwd=tmp_path).returncode == 0, context
    assert {each: (tmp_path / each).read_bytes() for each in files} == new, context


def kill_after(seconds, words, folder, environment=None):
    """Start a command and kill it after a time; return whether it was still there."""
    process = subprocess.Popen(
        [sys.executable, "-m", "slownet.cli", *words], cwd=folder, env=environment, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait(PATIENCE_S) == -signal.SIGKILL


@pytest.mark.parametrize("number", range(KILLS))
def test_a_lab_whose_import_was_killed_is_imported_again(tmp_path, number, monkeypatch):
    from slownet.transfer import export, unpack

    spec = spec_from_file_location("small_lab", SMALL_LAB)
    small = module_from_spec(spec)
    spec.loader.exec_module(small)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "here"))
    small.small_lab(tmp_path / "here/slownet", small.squashfs("x" * 2**26))
    export.write(tmp_path / "lab.tar", None, images=False)

    chance = random.Random(f"{SEED} import {number}")
    cache = tmp_path / "there"
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    words = ["lab", "import", str(tmp_path / "lab.tar")]
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "slownet.cli", *words], env=environment, check=True, capture_output=True)
    took = time.monotonic() - began
    was_killed = False
    while not was_killed:
        shutil.rmtree(cache)
        cache.mkdir()
        after = took * chance.uniform(0.3, 1.0)
        was_killed = kill_after(after, words, tmp_path, environment)
    context = f"SEED={SEED}, kill {number}, of an import after {after:.2f} of {took:.2f} s"
    print(context)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    whole = {kind: [shelf.is_whole(each) for each in shelf.every()] for kind, shelf in unpack.SHELVES.items()}
    assert all(all(each) for each in whole.values()), f"{context}: {whole}"
    again = subprocess.run([sys.executable, "-m", "slownet.cli", *words], env=environment, check=False, capture_output=True)
    assert again.returncode == 0, f"{context}: {again.stderr}"
    assert {kind: len([*shelf.every()]) for kind, shelf in unpack.SHELVES.items()} == {
        "kernel": 1, "init": 1, "image": 1, "layer": 0,
    }, context  # fmt: skip
    left = [each for each in cache.rglob("*") if each.name.endswith((".part", ".half"))]
    assert left == [], context


@pytest.mark.parametrize("number", range(1 + KILLS // 6))
def test_a_layer_whose_build_was_killed_is_built_again(tmp_path, number, monkeypatch):
    from slownet.lab.build import cache, layer

    chance = random.Random(f"{SEED} build {number}")
    (tmp_path / "pyproject.toml").write_text('[tool.slownet]\npackages = ["hello"]\n')
    built = tmp_path / "built"
    environment = {**os.environ, "SLOWNET_SYSTEM_CACHE": str(cache.root()), "XDG_CACHE_HOME": str(built)}
    words = ["lab", "build"]
    began = time.monotonic()
    assert slownet(*words, cwd=tmp_path, env=environment).returncode == 0
    took = time.monotonic() - began
    was_killed = False
    while not was_killed:
        shutil.rmtree(built)
        after = took * chance.uniform(0.1, 1.0)
        was_killed = kill_after(after, words, tmp_path, environment)
    context = f"SEED={SEED}, kill {number}, of a layer's build after {after:.2f} of {took:.2f} s"
    print(context)
    monkeypatch.setenv("XDG_CACHE_HOME", str(built))
    assert all(layer.SHELF.is_whole(each) for each in layer.SHELF.every()), context
    again = slownet(*words, cwd=tmp_path, env=environment)
    assert again.returncode == 0, f"{context}: {again.stderr}"
    ran = slownet("lab", "exec", "--", "hello", cwd=tmp_path, env=environment)
    assert (ran.returncode, ran.stdout) == (0, "Hello, world!\n"), f"{context}: {ran.stderr}"
    kept = [each for each in (built / "slownet/layer").iterdir() if each.is_dir()]
    assert len(kept) == 1, f"{context}: {kept}"
