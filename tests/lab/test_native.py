"""The native mode, which is what the command does wherever the kernel is able: inside a lab it is."""

import json
import subprocess
import sys

import pyarrow.parquet as pq

from slownet.lab.run.counters import total
from slownet.net.verify import OWN_SHARE_S

OWN = '''
from slownet.hypotheses.experiment import experiment
from slownet.tools.ping import ping
from slownet.topologies import ClientWebDb


@experiment(topology=ClientWebDb, vary={"rtt": ["0ms", "8ms"]})
def mine(net, rtt):
    """What does a ping take?"""
    with net.link("client", "switch").set(rtt=rtt):
        return ping(net["client"], net["%s"].IP())
'''


def run(folder, *words):
    command = [sys.executable, "-m", "slownet.cli", "run", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_run_in_place(tmp_path):
    (tmp_path / "mine.py").write_text(OWN % "web")
    done = run(tmp_path, "mine.py", "--place", "native", "--out", "json=-")
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)["runs"]
    assert result["clock"] == "real"
    assert result["tdf"] is None
    assert 8 <= result["cells"][1]["verified_rtt_ms"] <= 8 + 1000 * OWN_SHARE_S
    facts = json.loads((next((tmp_path / "runs").iterdir()) / "run.json").read_text())
    assert facts["place"] == "native"
    assert facts["versions"]["iproute2"]


def test_native_is_what_auto_means_here(tmp_path):
    (tmp_path / "mine.py").write_text(OWN % "web")
    done = run(tmp_path, "mine.py", "--vary", "rtt=0ms", "--out", "json=-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"][0]["clock"] == "real"


def test_no_virtual_clock_in_place(tmp_path):
    (tmp_path / "mine.py").write_text(OWN % "web")
    done = run(tmp_path, "mine.py", "--place", "native", "--clock", "virtual")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_packets_are_kept_and_counted(tmp_path):
    (tmp_path / "mine.py").write_text(OWN % "web")
    done = run(tmp_path, "mine.py", "--vary", "rtt=8ms", "--capture", "client-eth0,switch-eth2", "--out", "json=-")
    assert done.returncode == 0, done.stderr
    (directory,) = (tmp_path / "runs").iterdir()
    samples = [json.loads(line) for line in (directory / "samples.jsonl").read_text().splitlines()]
    assert [(sample["boot"], sample["block"], sample["index"]) for sample in samples] == [(1, 1, 0), (1, 2, 1)]
    for number, sample in enumerate(samples):
        names = [f"captures/{number:03}-{name}.pcap" for name in ("client-eth0", "switch-eth2")]
        assert [each["file"] for each in sample["captures"]] == names
        for each in sample["captures"]:
            words = ["tcpdump", "-n", "-r", str(directory / each["file"])]
            read = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
            assert len(read) == each["packets"] > 0
            assert each["dropped"] == 0
        sent, came = (sample["counters"]["client-switch"][way]["sent_packets"] for way in ("up", "down"))
        assert sent + came == sample["captures"][0]["packets"]
    facts = json.loads((directory / "run.json").read_text())
    assert facts["cells"][0]["counters"] == total([sample["counters"] for sample in samples])
    assert [(each["boot"], each["processor"]) for each in facts["boots"]] == [(1, None)]  # natively nothing is pinned
    table = pq.read_table(directory / "samples.parquet").to_pylist()
    shown = [[json.loads(row[name]) for name in ("counters", "captures")] for row in table]
    assert shown == [[sample["counters"], sample["captures"]] for sample in samples]


def test_an_unknown_interface_is_one_line(tmp_path):
    (tmp_path / "mine.py").write_text(OWN % "web")
    done = run(tmp_path, "mine.py", "--capture", "client-eht0")
    assert done.returncode == 2
    assert done.stderr == "slownet: no interface 'client-eht0', --capture: did you mean 'client-eth0'?\n"
