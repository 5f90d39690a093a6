"""`slownet sweep` from the command line, in labs."""

import json
import os
import signal
import subprocess
import time

import pyarrow.dataset as ds
import pytest
from command_line import SLOWNET, slownet
from conftest import alive

from slownet.judge.records import sweep_samples

FILE = '''
from pathlib import Path

from slownet import TwoHosts, experiment, ping


@experiment(topology=TwoHosts, vary={"rtt": ["0ms", "10ms"], "loss": ["0%"]}, tdf="inf")
def echo(net, rtt, loss):
    """How long does an echo take?"""
    with net.link("client", "server").set(rtt=rtt, loss=loss):
        return ping(net["client"], net["server"].IP(), count=8)
'''
GRID = ["--vary", "rtt=10,30ms", "--vary", "loss=0,20%"]


@pytest.fixture
def folder(built, tmp_path):
    (tmp_path / "echo.py").write_text(FILE)
    return tmp_path


@pytest.fixture(scope="module")
def one_lab(built, tmp_path_factory):
    """A sweep that nothing disturbs, of two boots of each cell, in one lab."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "echo.py").write_text(FILE)
    words = ("sweep", "echo.py", *GRID, "--repeat", "2", "--labs", "1", "--out", "labs1", "--json")
    done = slownet(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["new"] == 8
    return folder / "labs1"


def means(directory):
    """Return {(cell, repetition, block): all metrics} of a sweep, with each sample once."""
    found = sweep_samples.read_samples(directory)
    rows = {
        (json.dumps(each["cell"]), each["boot"], each["block"]): {name: one["mean"] for name, one in each["metrics"].items()}
        for each in found
    }
    assert len(rows) == len(found)
    return rows


@pytest.mark.parametrize(
    ("words", "named"), [("--vary rtt=0:1000:1ms --repeat 200", "--yes"), ("--merge /nowhere", "/nowhere contains no sweep")]
)
def test_a_mistake_is_one_line_and_makes_nothing(words, named, tmp_path):
    """As other mistakes are, in tests/unit/cli/test_mistakes.py."""
    done = slownet("sweep", "client_delay", "--out", "new", *words.split(), cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert named in done.stderr
    assert not list(tmp_path.iterdir())


def test_two_labs_measure_what_one_does_and_nothing_twice(one_lab):
    """With a free CPU the numbers of one lab, of two, and of a sweep that was taken over are identical."""
    folder = one_lab.parent
    done = slownet("sweep", "echo.py", *GRID, "--repeat", "2", "--labs", "2", "--out", "labs2", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["new"] == 8
    one = means(one_lab)
    assert len(one) == 8
    assert means(folder / "labs2") == one
    shown = slownet("show", "labs1", cwd=folder)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert [line.split()[:4] for line in shown.stdout.splitlines() if line.startswith("rtt ")] == [
        ["rtt", rtt, "loss", loss] for rtt in ("10ms,", "30ms,") for loss in ("0%", "20%")
    ]
    compared = slownet("compare", "labs1", "labs2", cwd=folder)
    assert compared.returncode in (0, 3), compared.stderr  # equal, or too few values to say so
    assert "rtt 30ms" in compared.stdout
    page = slownet("show", "labs1", "--out", "page", cwd=folder)
    assert (page.returncode, page.stdout.splitlines()[-1]) == (0, "slownet-report.html"), page.stderr
    lossy = [values for (cell, *_), values in one.items() if "20%" in cell]
    assert len({json.dumps(each) for each in lossy}) == len(lossy), "each repetition of a lossy cell has its own losses"
    rows = ds.dataset(str(folder / "labs2" / "samples")).to_table().to_pylist()
    assert {(each["condition_rtt_ms"], each["loss_percent"]) for each in rows} == {
        (rtt, loss) for rtt in (10.0, 30.0) for loss in (0.0, 20.0)
    }

    again = slownet("sweep", "--out", "labs1", "--resume", "--json", cwd=folder)
    assert json.loads(again.stdout)["new"] == 0
    refused = slownet("sweep", "echo.py", "--out", "labs1", cwd=folder)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "--resume" in refused.stderr

    more = [*GRID, "--merge", "labs2", "--repeat", "2"]
    taken = json.loads(slownet("sweep", "echo.py", *more, "--out", "merged", "--json", cwd=folder).stdout)
    assert (taken["new"], len(taken["cells"])) == (0, 4)
    assert means(folder / "merged") == one


def test_a_lab_of_its_own_for_each_cell_gives_the_same_numbers(one_lab, folder):
    """Up to a microsecond: a cell does not start at the same nanosecond after others."""
    done = slownet("sweep", "echo.py", *GRID, "--repeat", "1", "--fresh", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    shared, fresh = means(one_lab), means(folder / "out")
    assert fresh.keys() == {(cell, boot, block) for cell, boot, block in shared if boot == 1}
    for key, values in fresh.items():
        assert values.keys() == shared[key].keys()
        for name, mean in values.items():
            assert mean == pytest.approx(shared[key][name], abs=0.0015), (key, name)


def test_a_killed_sweep_goes_on_where_it_was(one_lab, folder):
    """Everything is killed, whenever that is; what is there is kept and the rest is what it would have been."""
    words = [*SLOWNET, "sweep", "echo.py", *GRID, "--repeat", "2", "--labs", "2", "--out", "out"]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    journal = folder / "out" / "journal.jsonl"
    while not (journal.exists() and journal.stat().st_size):
        assert process.poll() is None
        time.sleep(0.05)
    workers = [
        int(each)
        for each in subprocess.run(
            ["pgrep", "-g", str(process.pid)], capture_output=True, text=True, check=False
        ).stdout.split()
    ]
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 60
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, workers)), "workers outlive the sweep"
    known = means(folder / "out")
    assert 0 < len(known) < 8
    done = slownet("sweep", "--out", "out", "--resume", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["new"] == 8 - len(known)
    assert not (folder / "out" / ".work").exists()
    assert means(folder / "out") == means(one_lab)


def test_an_interrupt_says_how_to_go_on(folder):
    words = [*SLOWNET, "sweep", "echo.py", *GRID, "--repeat", "3", "--out", "out"]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    journal = folder / "out" / "journal.jsonl"
    while not (journal.exists() and journal.stat().st_size):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, said = process.communicate(timeout=60)
    assert (process.returncode, output) == (130, "")
    kept, interrupted = said.splitlines()
    assert kept.endswith("of 12 samples are saved. Continue with: slownet sweep --out out --resume")
    assert interrupted == "slownet: interrupted"
    assert not (folder / "out" / ".work").exists()
    assert {each["status"] for each in sweep_samples.read_samples(folder / "out")} == {"ok"}


def test_a_criterion_of_no_metric_ends_a_sweep_at_its_first_cells(folder):
    done = slownet(
        "sweep", "echo.py", *GRID, "--repeat", "4", "--labs", "1", "--criterion", "rt_ms<9", "--out", "out", cwd=folder
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "slownet: no metric 'rt_ms', --criterion rt_ms<9: did you mean 'rtt_ms'?"
    saved = len(sweep_samples.read_samples(folder / "out"))
    assert 0 < saved < 12, "what was measured is kept, and the rest is not measured"


def test_a_file_asks_up_to_which_delay_a_criterion_is_met(folder):
    """The middle of where the verdict flips is measured until its ends are as near as asked for."""
    asked = {"experiment": "echo.py", "criterion": "rtt_ms<25ms", "refine": "rtt:20ms", "out": "found"}
    lines = [f"{name} = {json.dumps(value)}" for name, value in asked.items()]
    (folder / "sweep.toml").write_text("\n".join(["[sweep]", *lines, 'vary = {rtt = "0,80ms"}']))
    done = slownet("sweep", "sweep.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "rtt_ms<25ms: met up to rtt 20ms, not at 40ms (loss 0%)" in done.stdout
    shown = slownet("show", "found", cwd=folder)
    assert shown.stdout.splitlines()[-2] == "rtt_ms<25ms: supported in 2, refuted in 2 of 4 cells", shown.stderr
    samples = sweep_samples.read_samples(folder / "found")
    assert len(samples) == 4 * 4, "0, 80, 40 and 20 ms, in four boots each: slownet does not know what echo.py draws"
    page = (folder / "found" / "report.html").read_text()
    assert "2 of 4 cells meet rtt_ms&lt;25ms; 2 do not." in page
    assert "met up to rtt 20ms" in page
