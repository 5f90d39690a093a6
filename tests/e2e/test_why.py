"""`slownet why` on a run: the account adds up to what was measured, and its slopes are the law's round trips."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import ran, slownet

from slownet.judge.records.result import load
from slownet.waits import of_run
from slownet.waits.account_text import slopes


def test_a_page_whose_reader_is_far(pages, tmp_path):
    """The run has no captures: its last cell is measured again. The law of these pages has k = 4."""
    made = slownet("run", pages.file, "--tdf", "inf", "--repeat", "1", "--vary", "rtt=10ms,40ms", "--runs", tmp_path / "runs")
    assert made.returncode == 1, made.stderr  # one boot is too few for its claim
    (run,) = (tmp_path / "runs").iterdir()
    done = slownet("why", run, "--cell", "rtt=40ms", "--json")
    assert done.returncode == 0, done.stderr
    assert "has no captures: rtt 40ms is measured once more with them" in done.stderr
    found = json.loads(done.stdout)
    measured = load(run).at({"rtt": "40ms"}).summary("time_per_request_ms").mean
    assert found["elapsed_ms"] == pytest.approx(measured, abs=0.01 * 40)  # ab's readings of the clock before and after
    assert sum(each["ms"] for each in found["steps"]) == pytest.approx(found["elapsed_ms"], abs=1e-3)
    assert found["remainder_ms"] == 0
    again = load(Path(found["run"]))
    account = of_run.of_sample(again, of_run.sample_of(again, {"rtt": "40ms"}))
    links = of_run.links_between(again.facts["topology"])
    assert slopes(account, links)["client-switch"] == pytest.approx(4.0, abs=0.1)
    shown = slownet("why", found["run"], "--out", f"page={tmp_path / 'why.html'}")
    assert shown.stdout.endswith(f"page {tmp_path / 'why.html'}\n")
    assert shown.stdout.startswith("160 ms: 4 round trips to web (2 window, 1 TCP handshake, 1 question and answer)\n")
    assert max(map(len, shown.stdout.splitlines()[:-1])) <= 80  # the last is a path


def test_a_command_on_a_host_of_an_experiment(tmp_path):
    """The service is the experiment's; what follows -- is the command's, options too, and its folder is the caller's."""
    (tmp_path / "ask.py").write_text("import urllib.request as it\nit.urlopen('http://web/').read()\n")
    words = ("client_delay", "--link", "client-switch=rtt=40ms", "--from", "client", "--", "python3", "-B", "ask.py")
    done = slownet("why", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("160 ms: 4 round trips to web (2 window, 1 TCP handshake, 1 question and answer)\n")
    (directory,) = (tmp_path / "runs").iterdir()
    assert done.stdout.endswith(f"records {directory}\n")
    again = slownet("why", directory, "--whole", cwd=tmp_path)
    assert again.stdout.splitlines() == done.stdout.splitlines()[:-1]
    assert load(directory).at({}).summary("command_ms").mean == pytest.approx(160, abs=2)


def test_an_experiment_of_ones_own(tmp_path):
    """Its last cell is measured once, with captures; each question of the program is a step."""
    (tmp_path / "own.py").write_text(OWN)
    done = slownet("why", "own.py", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["elapsed_ms"] == pytest.approx(40, abs=1)
    assert [each["cell"] for each in map(dict, load(Path(found["run"])).cells[0].samples)] == [{"rtt": "20ms"}]


def test_a_timer_is_named_by_process_and_call(tmp_path):
    """The cell is measured once more, under strace; the times are those of the first measurement."""
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "own.py").write_text(OWN.replace("-m http.server 8000", f"-B {tmp_path}/slow.py"))
    done = slownet("why", "own.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "ms are timers of programs: measured once more under strace, which names their calls" in done.stderr
    said = " ".join(done.stdout.splitlines()[:2])
    assert said.startswith("75")
    assert "timer of the program on server (python3: sleep of 35 ms)" in re.sub(" +", " ", said)


SLOW = """
import http.server, time
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.035)
        super().do_GET()
http.server.ThreadingHTTPServer(("", 8000), Handler).serve_forever()
"""
OWN = """
from slownet import Command, TwoHosts, experiment, http, wget

def pages(net, folder):
    return Command(net["server"], "python3 -m http.server 8000", folder, port=8000, ready=http("/"))

@experiment(topology=TwoHosts, service=pages, vary={"rtt": ["0ms", "20ms"]}, unit="ms", warm_up=0)
def listing(net, server, rtt):
    "How long does a listing of files take?"
    with net.link("client", "server").set(rtt=rtt):
        return 1000 * wget(net["client"], server.url).seconds
"""


def test_commands_that_end_badly(tmp_path):
    """One asks nobody, one is not there, one does not end; what was captured of the last one is accounted for."""
    for command, line in (
        (["true"], "the command used no network, so no part of its time is a link's"),
        (["sh", "-c", "echo sh: no >&2; exit 3"], "the command ended with status 3: sh: no, run "),
        (["nothing-of-this-name"], "nothing-of-this-name is not installed, host 'client'"),
    ):
        done = slownet("why", "--topology", "two_hosts", "--", *command, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert line in done.stderr
        assert len(done.stderr.splitlines()) == 1
    words = ("--topology", "two_hosts", "--link", "client-server=rtt=20ms", "--limit", "3s", "--", "ping", "server")
    done = slownet("why", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2,0")
    assert "3 round trips to server of question and answer" in done.stdout
    assert "note: ping did not end within 3 s, host 'client': command: ping server" in done.stdout


BUSY = """
import socket
s = socket.socket()
try: s.connect(("server", 80))
except OSError: pass
while True: pass
"""


def test_an_interrupt_gives_the_account_so_far(tmp_path):
    """The clock stands still while the command computes, and all the same the interrupt ends it alone."""
    words = [sys.executable, "-m", "slownet.cli", "why", "--topology", "two_hosts", "--link", "client-server=rtt=20ms"]
    process = subprocess.Popen([*words, "--", "python3", "-c", BUSY], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    wait_for_packets(tmp_path)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.startswith("20 ms: 1 round trip to server of TCP handshake\n")
    assert "note: python3 was interrupted after 2" in " ".join(said.split())


def test_a_kill_leaves_no_process(tmp_path):
    words = [sys.executable, "-m", "slownet.cli", "why", "--topology", "two_hosts", "--clock", "real", "--", "ping", "server"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, cwd=tmp_path)
    wait_for_packets(tmp_path)
    kernels = [each for file in Path(f"/proc/{process.pid}/task").glob("*/children") for each in file.read_text().split()]
    process.kill()
    process.wait()
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{each}").exists() for each in kernels) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert kernels
    assert not [each for each in kernels if Path(f"/proc/{each}").exists()]
    (run,) = (tmp_path / "runs").iterdir()
    json.loads((run / "run.json").read_text())
    done = slownet("why", run, cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr


def wait_for_packets(folder):
    """Wait until the captures of a command in a folder have begun, and it has had a moment to send."""
    deadline = time.monotonic() + 120
    while not list(folder.glob("runs/*/captures/*-server-eth0.pcap")):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    time.sleep(3)


def test_cures_are_measured_and_two_runs_are_compared(tmp_path):
    """A first window that holds the page saves its two round trips of slow start: 80 ms, to a percent of a round trip."""
    made = slownet(
        "run", "client_delay", "--tdf", "inf", "--repeat", "1", "--capture", "--vary", "rtt=10ms,40ms", "--runs", tmp_path
    )
    assert made.returncode == 0, made.stderr
    (run,) = tmp_path.iterdir()
    samples = [json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()]
    twice = [each["cell"]["rtt"] for each in samples if all("before" in one for one in each["captures"])]
    assert sorted(twice) == ["10ms", "40ms"]  # one sample of each cell, of several
    assert len(samples) > 2
    assert all(one["packets"] for each in samples for one in each["captures"])
    done = slownet("why", run, "--cures", "--json")
    assert done.returncode == 0, done.stderr
    window = next(each for each in json.loads(done.stdout)["cures"] if each["settings"].get("initcwnd"))
    assert window["promised_ms"] == pytest.approx(80, abs=0.4)
    assert window["before_ms"] - window["after_ms"] == pytest.approx(80, abs=0.4)
    page, trace = tmp_path / "two.html", tmp_path / "trace.json"
    compared = slownet("why", run, window["run"], "--out", f"page={page}")
    assert compared.returncode == 0, compared.stderr
    times = re.match(r"-(\S+) ms \((\S+) ms, then (\S+) ms\): 2 fewer round trips to web \(window\)\n", compared.stdout)
    assert [float(each) for each in times.groups()] == pytest.approx([80, 160, 80], abs=1)
    assert compared.stdout.endswith(f"page {page}\n")
    assert "Which steps came, went or grew" in page.read_text()
    assert slownet("why", run, "--out", f"chrome-trace={trace}").returncode == 0
    drawn_us = sum(each.get("dur", 0) for each in json.loads(trace.read_text())["traceEvents"])
    assert drawn_us == pytest.approx(1000 * window["before_ms"], abs=400)  # ab's time, to a percent of a round trip


def test_the_cures_of_a_command_are_measured_with_it(pages, tmp_path):
    words = (pages.file, "--link", "client-switch=rtt=40ms", "--from", "client", "--cures", "--json")
    done = slownet("why", *words, "--", "curl", "-s", "-o", "/dev/null", "http://web/", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    window = next(each for each in json.loads(done.stdout)["cures"] if each["settings"].get("initcwnd"))
    assert window["metric"] == "command_ms"
    assert window["before_ms"] - window["after_ms"] == pytest.approx(80, abs=0.4)


TESTS = """
import pytest
from slownet import ping

@pytest.fixture
def asked(net):
    ping(net["client"], net["web"].IP(), count=1)

def test_far(net):
    near = ping(net["client"], net["web"].IP(), count=1)
    with net.link("client", "switch").set(rtt="40ms"):
        far = ping(net["client"], net["web"].IP(), count=2, interval=0.2)
    assert far.rtt_ms.avg < 10

def test_its_own_program(net):
    with net.link("client", "switch").set(rtt="40ms"), net["client"].popen(["ping", "-c", "1", net["web"].IP()]) as process:
        process.communicate()
    pytest.fail("it is slow")

def test_no_packet(asked):
    assert not "asked for by a fixture"

def test_passes(net):
    ping(net["client"], net["web"].IP(), count=1)

def test_skips(net):
    pytest.skip("today")
"""


def in_pytest(folder, *options):
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "test_it.py"]
    return ran([*words, *options], text=True, cwd=folder)


def test_a_failed_test_says_where_its_time_went(tmp_path):
    """The last program's, or the test's own; not its fixtures', nor what a link's verification sent."""
    (tmp_path / "test_it.py").write_text(TESTS)
    done = in_pytest(tmp_path, "--slownet-why", "-n", "1")
    assert "3 failed, 1 passed, 1 skipped" in done.stdout, done.stdout
    far, own, none = (part.split("\n___")[0] for part in done.stdout.split("- slownet why -")[1:])
    assert "2 round trips to web of question and answer, 160 ms timer of the program on client" in far + own + none
    assert "40 ms: 1 round trip to web of question and answer\n" in far + own + none
    assert "the time has no account: the captures have no packet" in far + own + none
    assert (far + own + none).count("its largest parts:\n") == 2
    without = in_pytest(tmp_path, "-k", "far")
    assert "slownet why" not in without.stdout


def test_on_another_clock_a_failed_test_says_what_is_not_known(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)
    done = in_pytest(tmp_path, "--slownet-why", "--slownet-clock", "real", "-k", "far")
    assert "note: the clock is real: what a host computes and what it waits for look alike" in done.stdout
    assert "its largest parts:\n" in done.stdout


def test_mistakes_are_one_line(tmp_path):
    for words, what in (
        ((tmp_path / "none",), "no run"),
        ((tmp_path, "--out", "picture=x.svg"), "unknown output 'picture'"),
        ((tmp_path, tmp_path, tmp_path), "3 runs, RUN: name one, or two to compare"),
        ((tmp_path, tmp_path, "--out", "svg=x.svg"), "two runs cannot be written as 'svg'"),
        ((tmp_path, tmp_path, "--cures"), "cures apply to one run"),
        ((tmp_path, "--cell", "rtt"), "unclear cell 'rtt', --cell: write NAME=VALUE such as rtt=40ms"),
    ):
        done = slownet("why", *words)
        assert done.returncode == 2
        assert what in done.stderr or "run.json" in done.stderr
        assert "Traceback" not in done.stderr
