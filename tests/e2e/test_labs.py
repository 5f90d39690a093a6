"""The cells of one experiment, shared among labs side by side."""

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import SLOWNET, alive, wait_for_a_sample

OWN = '''
from slownet.claim import law
from slownet.experiment import experiment
from slownet.tools.ping import ping
from slownet.topologies import ClientWebDb


@experiment(topology=ClientWebDb, vary={"delay": ["0ms", "3ms", "6ms", "9ms"]})
def mine(net, delay):
    """What does a ping take?"""
    with net.link("client", "switch").set(delay=delay):
        return ping(net["client"], net["web"].IP())


mine.claims(law("rtt_ms", round_trips=2, within=0.1, along="delay_ms"))
'''
TWO_LABS = ["run", "pages.py", "--tdf", "1", "--repeat", "1", "--labs", "2"]


def slownet(*words, cwd):
    return subprocess.run([*SLOWNET, *words], cwd=cwd, capture_output=True, text=True, timeout=600, check=False)


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


def test_two_labs_share_the_cells(mine):
    done = slownet("run", "mine.py", "--tdf", "1", "--labs", "2", "--repeat", "2", "--capture", "--json", cwd=mine)
    assert done.returncode == 0, done.stderr
    run, directory = one_run(done)
    assert [cell["condition"]["delay_ms"] for cell in run["cells"]] == [0, 3, 6, 9]
    assert [cell["repetitions"] for cell in run["cells"]] == [2, 2, 2, 2]
    assert [claim["verdict"] for claim in run["claims"]] == ["supported"]
    facts = json.loads((directory / "run.json").read_text())
    assert facts["labs"] == 2
    assert "contradicted" not in facts
    found = samples_of(directory)
    assert sorted(sample["index"] for sample in found) == list(range(8))
    assert {sample["lab"] for sample in found} == {1, 2}
    for sample in found:
        assert sample["cell"] == facts["planned"][sample["index"]]
        kept = [*sample["raw"], *(each["file"] for each in sample["captures"])]
        assert len(kept) >= 5  # what ping said, twice, and three hosts' packets
        for name in kept:
            assert Path(name).name.startswith(f"{sample['index']:03}-")
            assert (directory / name).stat().st_size > 0
    names = [name for sample in found for name in [*sample["raw"], *(each["file"] for each in sample["captures"])]]
    assert len(set(names)) == len(names)
    assert not list(directory.glob("samples-*"))
    page = (directory / "report.html").read_text()
    assert "2 side by side shared the cells" in page


def test_services_of_two_labs_log_beside_each_other(pages):
    run, directory = one_run(slownet(*TWO_LABS, "--vary", "rtt=0ms,120ms", "--json", cwd=pages.folder))
    assert [(cell["condition"]["rtt_ms"], cell["labs"], cell["status"]) for cell in run["cells"]] == [
        (0, [1], "ok"), (120, [2], "ok"),
    ]  # fmt: skip
    assert {claim["name"]: claim["verdict"] for claim in run["claims"]}
    logs = [sorted(path.name for path in (directory / name).iterdir()) for name in ("services", "services-2")]
    assert logs[0] == logs[1] != []


def test_a_free_cpu_means_one_lab_unless_told_and_the_same_numbers_again(mine):
    alone = one_run(slownet("run", "mine.py", "--tdf", "inf", "--json", cwd=mine))
    assert json.loads((alone[1] / "run.json").read_text())["labs"] == 1
    words = ["run", "mine.py", "--tdf", "inf", "--labs", "3", "--json"]
    first, again = (one_run(slownet(*words, cwd=mine)) for _ in range(2))
    facts = json.loads((first[1] / "run.json").read_text())
    assert (facts["labs"], facts["repeats"]) == (3, "the same numbers, bit for bit, where 3 labs share the cells")
    assert [cell["labs"] for cell in first[0]["cells"]] == [[1], [2], [3], [1]]
    assert [cell["metrics"] for cell in first[0]["cells"]] == [cell["metrics"] for cell in again[0]["cells"]]


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
    """A child is listed with the thread that started it."""
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
    done = slownet("run", "--resume", directory, "--json", *options, cwd=directory.parent)
    run, _ = one_run(done)
    assert [cell["condition"]["rtt_ms"] for cell in run["cells"]] == [0, 20, 30, 50]
    assert [cell["status"] for cell in run["cells"]] == ["ok"] * 4
    assert sorted(sample["index"] for sample in samples_of(directory)) == [0, 1, 2, 3]
    assert not list(directory.glob("samples-*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_end_ends_every_lab_and_the_run_can_be_continued(pages, number):
    with started(pages.folder) as process:
        directory = wait_for_a_sample(pages.folder, process).parent
        labs = labs_of(process)
        assert len(labs) == 2
        # Which one is up to what other labs run now: see the unit tests of slownet.lab.cpu.
        assert [len(os.sched_getaffinity(each)) for each in labs] == [1, 1]
        process.send_signal(number)
        _, errors = process.communicate(timeout=120)
    assert ended(labs)
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert "Traceback" not in errors
        assert f"of 4 cells of pages are kept, continue with: slownet run --resume {directory}" in errors
    resumed(pages, directory, "--labs", "1")


def test_a_lab_that_is_killed_leaves_the_other_ones_cells(pages):
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
    shares = [{sample["index"] for sample in left if sample["lab"] == lab} for lab in (1, 2)]
    assert {0, 2} in shares or {1, 3} in shares
    assert len(left) < 4
    resumed(pages, directory)
