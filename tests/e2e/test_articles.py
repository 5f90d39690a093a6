"""Runs the articles' experiments from the command line: short cells of each, with free CPU."""

import functools
import json
import subprocess
from pathlib import Path

import pytest
from command_line import SLOWNET, ran


def slownet(folder, *words, run=ran):
    done = run([*SLOWNET, "run", *words, "--out", "json=-"], cwd=folder, text=True)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)["runs"]


def test_a_download_through_tcs_own_queue_is_the_same_twice(tmp_path):
    words = ("download", "--vary", "queue=1000 packets", "--tdf", "inf", "--repeat", "1")
    # each a process of its own, in which sets have another order
    started = functools.partial(subprocess.run, capture_output=True)
    (_, (first,)), (_, (again,)) = (slownet(tmp_path, *words, run=started) for _ in range(2))
    (cell,) = first["cells"]
    assert cell["condition"] == {"delay_up_ms": 100.0, "queue_packets": 1000}
    assert 10 < cell["metrics"]["mib_per_s"]["mean"] <= 13.81  # the rate of a queue of 1000 packets at 100 ms
    assert cell["metrics"] == again["cells"][0]["metrics"]


def test_an_experiment_runs_on_the_clock_that_it_states(tmp_path):
    _, (run,) = slownet(
        tmp_path, "congestion_control", "--vary", "rate_up=2000kbit", "--vary", "congestion=cubic,bbr", "--repeat", "1"
    )
    assert run["tdf"] == "inf"
    assert [cell["metrics"]["mbit_per_s"]["mean"] for cell in run["cells"]] == pytest.approx([1.9, 1.9], abs=0.1)


def test_a_transaction_is_twenty_round_trips(tmp_path):
    _, (run,) = slownet(tmp_path, "oltp", "--vary", "threads=1", "--vary", "rtt=0.3ms,10.3ms", "--repeat", "1")
    near, far = (cell["metrics"]["latency_min_ms"]["mean"] for cell in run["cells"])
    assert (far - near) / 10 == pytest.approx(20, rel=0.02)
    assert [cell["metrics"]["queries_per_transaction"]["mean"] for cell in run["cells"]] == [20, 20]


def test_tenes_thought_experiment(tmp_path):
    status, (run,) = slownet(tmp_path, "coordinated_omission")
    assert {claim["name"]: claim["verdict"] for claim in run["claims"] if claim["verdict"] != "supported"} == {}
    assert status == 0


DYING = '''
import os, signal
from slownet.hypotheses.experiment import experiment
from slownet.services.files import FileServer
from slownet.tools.wget import wget
from slownet.topologies import TwoHosts


def server(net, folder):
    return FileServer(net, folder, length="5MiB")


@experiment(topology=TwoHosts, service=server, cells=[{"step": "first"}, {"step": "killed"}, {"step": "last"}], warm_up=0)
def dying(net, files, step):
    """What if the server dies?"""
    with net.link("server", "client").set(rate="8Mbit"):
        if step == "killed":
            with files.stalls(after=1, seconds=1):
                os.killpg(files._process.pid, signal.SIGKILL)
                return wget(net["client"], files.url)
        return wget(net["client"], files.url)
'''


def test_a_server_that_dies_fails_its_cells_and_says_so(tmp_path):
    (tmp_path / "dying.py").write_text(DYING)
    status, (run,) = slownet(tmp_path, "dying.py", "--tdf", "inf", "--repeat", "1")  # other boots go backwards
    assert status == 1
    assert [cell["status"] for cell in run["cells"]] == ["ok", "failed", "failed"]
    samples = [json.loads(line) for line in (Path(run["directory"]) / "samples.jsonl").read_text().splitlines()]
    assert "Connection refused" in samples[1]["error"]
    assert "failed: Connection refused" in (Path(run["directory"]) / samples[1]["raw"][0]).read_text()
