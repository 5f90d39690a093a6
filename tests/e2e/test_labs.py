"""Parallel labs: each measures all cells of its own boots."""

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command_line import SLOWNET, slownet
from conftest import alive, wait_for_a_sample

OWN = '''
from slownet.judge.claim import law
from slownet.hypotheses.experiment import experiment
from slownet.tools.ping import ping
from slownet.topologies import ClientWebDb


@experiment(topology=ClientWebDb, vary={"delay": ["0ms", "3ms", "6ms", "9ms"]})
def mine(net, delay):
    """What does a ping take?"""
    with net.link("client", "switch").set(delay=delay):
        return ping(net["client"], net["web"].IP())


mine.claims(law("rtt_ms", round_trips=2, within=0.1, along="delay_ms"))
'''
TWO_LABS = ["run", "pages.py", "--tdf", "1", "--repeat", "2", "--labs", "2"]
PLACES = 2 * 2 * 4
"""Boots x blocks x cells of this experiment."""


def one_run(done):
    assert done.stdout, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    return run, Path(run["directory"])


def samples_of(directory):
    return [json.loads(line) for line in (directory / "samples.jsonl").read_text().splitlines()]


@pytest.fixture
def mine(built, tmp_path):
    (tmp_path / "mine.py").write_text(OWN)
    return tmp_path


def test_two_labs_measure_a_boot_each(mine):
    done = slownet("run", "mine.py", "--tdf", "1", "--labs", "2", "--repeat", "2", "--capture", "--out", "json=-", cwd=mine)
    run, directory = one_run(done)
    assert [cell["condition"]["delay_ms"] for cell in run["cells"]] == [0, 3, 6, 9]
    assert [cell["repetitions"] for cell in run["cells"]] == [2, 2, 2, 2]
    facts = json.loads((directory / "run.json").read_text())
    decided = facts["cpu"] == "work"  # without a counter CPU time is charged, and a verdict needs three boots
    assert [claim["verdict"] for claim in run["claims"]] == ["supported" if decided else "inconclusive"]
    assert done.returncode == (0 if decided else 1), done.stderr
    assert (facts["labs"], facts["blocks"]) == (2, 2)
    assert [each["boot"] for each in facts["boots"]] == [1, 2]
    assert {each["processor"] for each in facts["boots"]} <= os.sched_getaffinity(0)
    assert "contradicted" not in facts
    found = samples_of(directory)
    assert sorted(sample["index"] for sample in found) == list(range(16))
    # Compared cells share a lab: each boot has all cells, twice, in one lab.
    assert {(sample["boot"], sample["lab"]) for sample in found} == {(each["boot"], each["lab"]) for each in facts["boots"]}
    assert sorted(each["lab"] for each in facts["boots"]) == [1, 2]
    ways = {boot: [s["cell"]["delay"] for s in found if s["boot"] == boot] for boot in (1, 2)}
    forwards = ["0ms", "3ms", "6ms", "9ms"]
    assert ways == {1: forwards + forwards[::-1], 2: forwards[::-1] + forwards}
    assert [s["block"] for s in found if s["boot"] == 2] == [1] * 4 + [2] * 4
    for sample in found:
        assert sample["cell"] == facts["planned"][sample["index"]]
        assert (sample["random"], sample["seeds"]) == (False, [])
        kept = [*sample["raw"], *(each["file"] for each in sample["captures"])]
        assert len(kept) >= 5  # the output of two pings, and the packets of three hosts
        for name in kept:
            assert Path(name).name.startswith(f"{sample['index']:03}-")
            assert (directory / name).stat().st_size > 0
    names = [name for sample in found for name in [*sample["raw"], *(each["file"] for each in sample["captures"])]]
    assert len(set(names)) == len(names)
    assert not list(directory.glob("samples-*"))
    page = (directory / "report.html").read_text()
    assert "2 side by side, one repetition each" in page


def test_services_of_two_labs_log_beside_each_other(pages):
    pages.go_on()
    run, directory = one_run(slownet(*TWO_LABS, "--vary", "rtt=0ms,120ms", "--out", "json=-", cwd=pages.folder))
    assert [(cell["condition"]["rtt_ms"], sorted(cell["labs"]), cell["status"]) for cell in run["cells"]] == [
        (0, [1, 2], "ok"), (120, [1, 2], "ok"),
    ]  # fmt: skip
    assert {claim["name"]: claim["verdict"] for claim in run["claims"]}
    logs = [sorted(path.name for path in (directory / name).iterdir()) for name in ("services", "services-2")]
    assert logs[0] == logs[1] != []


LOSSY = """
from slownet.hypotheses.experiment import experiment
from slownet.tools.ping import ping
from slownet.topologies import TwoHosts


@experiment(topology=TwoHosts, cells=[{"loss": "20%", "seed": "1"}, {"loss": "20%"}, {"delay": "1ms"}])
def mine(net, **condition):
    '''How many come back?'''
    with net.link("client", "server").set(**condition):
        return ping(net["client"], net["server"].IP(), count=30, interval=0.01)
"""


def test_where_the_cpu_is_free_each_boot_draws_anew_and_a_run_gives_the_same_again(mine):
    """Independent of the number of labs: links without a seed get one, and cells without randomness repeat in each boot."""
    (mine / "mine.py").write_text(LOSSY)
    words = ["run", "mine.py", "--tdf", "inf", "--repeat", "3", "--out", "json=-"]
    runs = [one_run(slownet(*words, "--labs", labs, cwd=mine)) for labs in ("1", "3")]
    found = [sorted(samples_of(directory), key=lambda sample: sample["index"]) for _, directory in runs]
    assert [json.loads((directory / "run.json").read_text())["labs"] for _, directory in runs] == [1, 3]
    assert [sample["metrics"] for sample in found[0]] == [sample["metrics"] for sample in found[1]]
    assert [sample["seeds"] for sample in found[0]] == [sample["seeds"] for sample in found[1]]
    seeded, unseeded, certain = ([s for s in found[0] if s["cell"] == cell["cell"]] for cell in found[0][:3])
    assert [sample["seeds"] for sample in seeded] == [[1], [1_000_001], [2_000_001]]
    assert [len(sample["seeds"]) for sample in unseeded] == [1, 1, 1]
    assert len({sample["seeds"][0] for sample in seeded + unseeded}) == 6
    for chancy in (seeded, unseeded):
        assert {sample["random"] for sample in chancy} == {True}
        assert len({sample["metrics"]["lost_percent"]["mean"] for sample in chancy}) > 1
    assert {(sample["random"], *sample["seeds"]) for sample in certain} == {(False,)}
    assert len({sample["metrics"]["rtt_ms"]["mean"] for sample in certain}) == 1


@contextlib.contextmanager
def started(folder):
    process = subprocess.Popen(
        [*SLOWNET, *TWO_LABS], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def labs_of(process):
    return [pid for pid in children_of_threads(process.pid) if b"ubd0r=" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def children_of_threads(pid):
    """Return the children of a process; each is listed under the thread that started it."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(FileNotFoundError):
            yield from map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())


def ended(pids):
    deadline = time.monotonic() + 20
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(alive, pids))


def resumed(pages, directory, *options):
    pages.go_on()
    done = slownet("run", "--resume", directory, "--out", "json=-", *options, cwd=directory.parent)
    run, _ = one_run(done)
    assert [cell["condition"]["rtt_ms"] for cell in run["cells"]] == [0, 20, 30, 50]
    assert [cell["status"] for cell in run["cells"]] == ["ok"] * 4
    assert sorted(sample["index"] for sample in samples_of(directory)) == list(range(PLACES))
    assert not list(directory.glob("samples-*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_end_ends_every_lab_and_the_run_can_be_continued(pages, number):
    with started(pages.folder) as process:
        directory = wait_for_a_sample(pages.folder, process).parent
        labs = labs_of(process)
        assert len(labs) == 2
        # Which processor depends on the other running labs: see the unit tests of slownet.lab.host.cpu.
        assert [len(os.sched_getaffinity(each)) for each in labs] == [1, 1]
        process.send_signal(number)
        _, errors = process.communicate(timeout=120)
    assert ended(labs)
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert "Traceback" not in errors
        assert f"of {PLACES} measurements of pages are saved. Continue with: slownet run --resume {directory}" in errors
    resumed(pages, directory, "--labs", "1")


def test_a_lab_that_is_killed_leaves_the_other_ones_boot(pages):
    with started(pages.folder) as process:
        directory = wait_for_a_sample(pages.folder, process).parent
        victim, other = labs_of(process)
        os.kill(victim, signal.SIGKILL)
        assert ended([victim])
        pages.go_on()
        _, errors = process.communicate(timeout=600)
    assert ended([victim, other])
    assert process.returncode == 2
    assert "Traceback" not in errors
    assert errors.splitlines()[-1].startswith("slownet: ")
    left = samples_of(directory)
    boots = [{sample["index"] for sample in left if sample["boot"] == boot} for boot in (1, 2)]
    assert set(range(8)) in boots or set(range(8, 16)) in boots
    assert len(left) < PLACES
    resumed(pages, directory)
