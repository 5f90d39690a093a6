"""`slownet list` and `slownet run` from the command line."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from command_line import SLOWNET, slownet
from conftest import wait_for_a_sample


@pytest.mark.parametrize(
    ("words", "named"), [("run client_dealy", "client_delay"), ("run client_delay --vary rtt=10", "10ms"), ("rnu", "rnu")]
)
def test_a_mistake_is_one_line_and_makes_nothing(words, named, tmp_path):
    """As other mistakes are, in tests/unit/cli/test_mistakes.py."""
    done = slownet(*words.split(), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert named in done.stderr
    assert not list(tmp_path.iterdir())


def test_list_names_experiments_and_questions(tmp_path):
    done = slownet("list", cwd=tmp_path)
    assert done.returncode == 0
    for name in ("client_delay", "database_delay"):
        assert name in done.stdout


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Both experiments with free CPU, so that other load on this machine does not affect the verdicts."""
    folder = tmp_path_factory.mktemp("both")
    words = ("--vary", "rtt=0ms,10ms,40ms", "--tdf", "inf", "--out", "json=-")
    done = slownet("run", "client_delay", "database_delay", *words, cwd=folder)
    return done, json.loads(done.stdout), folder


def cells(run):
    return {each["condition"]["rtt_ms"]: each for each in run["cells"]}


def test_both_experiments_support_their_claims(both):
    done, printed, _ = both
    verdicts = {claim["name"]: claim["verdict"] for run in printed["runs"] for claim in run["claims"]}
    assert set(verdicts.values()) == {"supported"}, verdicts
    assert len(verdicts) == 4
    assert done.returncode == 0


def test_json_has_what_was_promised(both):
    _, printed, _ = both
    assert [run["experiment"] for run in printed["runs"]] == ["client_delay", "database_delay"]
    for run in printed["runs"]:
        assert run["clock"] == "virtual"
        assert run["tdf"] == "inf"
        assert re.match(r"\d+\.\d+", run["kernel"])
        for cell in run["cells"]:
            for name in ("time_per_request_ms", "requests_per_second"):
                metric = cell["metrics"][name]
                assert metric["low"] <= metric["mean"] <= metric["high"]
                assert metric["n"] == 40  # ten in each of four blocks
        for claim in run["claims"]:
            assert {"name", "verdict", "measured", "expected"} <= set(claim)
    assert [list(cells(run)) for run in printed["runs"]] == [[0, 10, 40]] * 2


def test_every_cell_was_pinged_and_had_its_delay(both):
    _, printed, _ = both
    for run in printed["runs"]:
        for rtt_ms, cell in cells(run).items():
            assert rtt_ms - 0.02 <= cell["verified_rtt_ms"] <= rtt_ms + 0.1


def test_the_database_side_hurts_more(both):
    _, printed, _ = both
    client, database = (cells(run) for run in printed["runs"])
    assert database[10]["metrics"]["time_per_request_ms"]["mean"] > 2 * client[10]["metrics"]["time_per_request_ms"]["mean"]


def test_the_run_directory_is_complete(both):
    _, printed, folder = both
    for run in printed["runs"]:
        directory = Path(run["directory"])
        assert directory.parent == folder / "runs"
        facts = json.loads((directory / "run.json").read_text())
        for name in (
            "started",
            "kernel",
            "image",
            "clock",
            "tdf",
            "tdf_probe",
            "confined",
            "settings",
            "versions",
            "question",
            "wall_s",
            "virtual_s",
        ):
            assert facts[name], name
        samples = [json.loads(line) for line in (directory / "samples.jsonl").read_text().splitlines()]
        assert pq.read_table(directory / "samples.parquet").num_rows == len(samples) == 4 * len(run["cells"])  # blocks
        for sample in samples:
            for raw in sample["raw"]:
                assert (directory / raw).stat().st_size > 0
        page = (directory / "report.html").read_text()
        assert run["experiment"] in page
        assert page.count("<svg") >= 2
        assert not re.search(r'(src|href)="(https?:)?//', page)


@pytest.fixture(scope="module")
def run_of_the_wheel(installed, tmp_path_factory):
    """A run of the package as installed from its wheel, in its own folder."""
    folder = tmp_path_factory.mktemp("run")
    command = [
        sys.executable,
        "-m",
        "slownet.cli",
        "run",
        "client_delay",
        "--vary",
        "rtt=0ms,10ms",
        "--tdf",
        "inf",
        "--out",
        "json=-",
    ]
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


# The documentation's tutorial runs the wheel in an environment of its own, and test_reproduce.py has the same numbers twice.
@pytest.mark.long
def test_the_wheel_runs_without_the_checkout(run_of_the_wheel):
    assert run_of_the_wheel.returncode == 0, run_of_the_wheel.stderr
    (run,) = json.loads(run_of_the_wheel.stdout)["runs"]
    assert len(run["cells"]) == 2


@pytest.mark.long
def test_two_runs_are_the_same_where_the_cpu_is_free(both, run_of_the_wheel):
    _, printed, _ = both
    again = json.loads(run_of_the_wheel.stdout)
    for rtt_ms, cell in cells(again["runs"][0]).items():
        first = cells(printed["runs"][0])[rtt_ms]["metrics"]["time_per_request_ms"]["mean"]
        assert cell["metrics"]["time_per_request_ms"]["mean"] == pytest.approx(first, rel=0.005, abs=0.05)


@pytest.mark.parametrize("asked", [[], ["--tdf", "auto"]])
def test_the_clock_and_its_factor_by_default(pages, asked):
    """Its claim is about round trips."""
    done = slownet("run", "pages.py", "--vary", "rtt=0ms,120ms", "--out", "json=-", "--explain-clock", *asked, cwd=pages.folder)
    (run,) = json.loads(done.stdout)["runs"]
    assert run["clock"] == "virtual"
    assert run["tdf"] >= 1 if asked else run["tdf"] == "inf"
    because = "it was asked for" if asked else "all claims are about round trips or losses"
    assert f"slownet: pages: virtual clock, TDF {run['tdf']}: {because}" in done.stderr
    assert [claim["verdict"] for claim in run["claims"]] == ["supported"]
    near, far = (cells(run)[rtt_ms]["metrics"]["time_per_request_ms"]["mean"] for rtt_ms in (0, 120))
    assert far - near >= 4 * 120 * 0.95


def test_a_kill_loses_nothing_and_a_run_can_be_continued(pages):
    words = [*SLOWNET, "run", "pages.py", "--tdf", "inf"]
    process = subprocess.Popen(words, cwd=pages.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    samples = wait_for_a_sample(pages.folder, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = [line for path in samples.parent.glob("samples*.jsonl") for line in path.read_text().splitlines()]
    assert 1 <= len(before) <= 4  # two labs, which wait after two cells
    pages.go_on()
    done = slownet("run", "--resume", samples.parent, "--out", "json=-", cwd=pages.folder)
    assert done.returncode == 0, done.stderr
    kept = samples.read_text().splitlines()
    assert set(before) <= set(kept)
    assert len(kept) >= 8  # a third boot if a boot in two parts gave another microsecond
    assert list(cells(json.loads(done.stdout)["runs"][0])) == [0, 20, 30, 50]


def test_interrupt_says_where_the_samples_are(tmp_path):
    words = [*SLOWNET, "run", "client_delay", "--vary", "rtt=0ms,20ms,30ms,50ms"]
    process = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    samples = wait_for_a_sample(tmp_path, process)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert f"--resume {samples.parent}" in errors
    assert len(samples.read_text().splitlines()) >= 1


OWN = '''
from slownet.hypotheses.experiment import experiment
from slownet.tools.ping import ping
from slownet.topologies import ClientWebDb


@experiment(topology=ClientWebDb, vary={"delay": ["0ms", "3ms"]})
def mine(net, delay):
    """What does a ping take?"""
    with net.link("client", "switch").set(delay=delay):
        return ping(net["%s"], net["web"].IP())
'''


def test_an_experiment_of_ones_own(tmp_path):
    (tmp_path / "mine.py").write_text(OWN % "client")
    done = slownet("run", "mine.py", "--tdf", "inf", "--repeat", "1", "--out", "json=-", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert [cell["condition"] for cell in run["cells"]] == [{"delay_ms": 0.0}, {"delay_ms": 3.0}]
    assert run["cells"][1]["metrics"]["rtt_ms"]["mean"] == pytest.approx(6.0, abs=0.1)


CLAIMED = (
    OWN.replace("from slownet.tools", "from slownet.judge.claim import law\nfrom slownet.tools")
    + """

mine.claims(law("rtt_ms", round_trips=1, within=%s, along="delay_ms"))
"""
)


def test_the_real_clock_takes_three_repetitions(tmp_path):
    """A claim with a margin so wide, about so long a delay, that even a loaded machine decides it at the first look."""
    (tmp_path / "mine.py").write_text((CLAIMED % ("client", 0.9)).replace('"3ms"', '"90ms"'))
    words = ("--clock", "real", "--place", "lab", "--budget", "2min")
    done = slownet("run", "mine.py", *words, "--out", "json=-", cwd=tmp_path)
    (run,) = json.loads(done.stdout)["runs"]
    assert [cell["repetitions"] for cell in run["cells"]] >= [3, 3]
    samples = [json.loads(line) for line in (Path(run["directory"]) / "samples.jsonl").read_text().splitlines()]
    told = [(sample["boot"], sample["block"], sample["cell"]["delay"]) for sample in samples[:8]]
    assert told == [
        (1, 1, "0ms"), (1, 1, "90ms"), (1, 2, "90ms"), (1, 2, "0ms"),
        (2, 1, "90ms"), (2, 1, "0ms"), (2, 2, "0ms"), (2, 2, "90ms"),
    ]  # fmt: skip
    sampling = json.loads((Path(run["directory"]) / "run.json").read_text())["sampling"]
    assert sampling["why"].startswith(f"{run['cells'][0]['repetitions']} repetitions")
    (claim,) = run["claims"]
    assert claim["confidence"] == sampling["confidence"]


def test_the_virtual_clock_says_why_four_repetitions_of_ones_own_programs_are_enough(tmp_path):
    (tmp_path / "mine.py").write_text(CLAIMED % ("client", 0.1))
    done = slownet("run", "mine.py", "--tdf", "inf", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    said = "4 repetitions: all decidable claims are decided; with free CPU all gave the same numbers"
    assert said in " ".join(done.stdout.split())


RANDOM = '''
import random
import time

from slownet import TwoHosts, equal, experiment

ONE, OTHER = {"rtt": "10ms", "who": "one"}, {"rtt": "10ms", "who": "other"}


@experiment(topology=TwoHosts, cells=[ONE, OTHER])
def waits(net, who, rtt):
    """Do two programs take the same time if each waits at random?"""
    took = []
    with net.link("client", "server").set(rtt=rtt):
        for _ in range(50):
            began = time.monotonic()
            time.sleep(random.uniform(0, 0.02))
            took.append(1000 * (time.monotonic() - began))
    return {"wait_ms": took}


waits.claims(equal("wait_ms", ONE, of=OTHER, within=0.05))
'''


def test_programs_of_ones_own_that_are_random_are_not_judged_on_one_boot(tmp_path):
    """Their means differ by 10 % from boot to boot, of which one boot, or a CPU that is free, knows nothing."""
    (tmp_path / "waits.py").write_text(RANDOM)
    done = slownet("run", "waits.py", "--tdf", "inf", "--budget", "3", "--out", "json=-", cwd=tmp_path)
    (run,) = json.loads(done.stdout)["runs"]
    assert [cell["repetitions"] for cell in run["cells"]] == [3, 3]
    intervals = [cell["metrics"]["wait_ms"] for cell in run["cells"]]
    assert all(each["low"] < each["mean"] < each["high"] for each in intervals)
    once = slownet("run", "waits.py", "--tdf", "inf", "--repeat", "1", "--out", "json=-", cwd=tmp_path)
    assert [claim["verdict"] for claim in json.loads(once.stdout)["runs"][0]["claims"]] == ["inconclusive"]
    assert "of programs that slownet does not know a verdict needs 4 boots, to see whether they differ" in once.stderr


DRAWS = """
import os

from slownet import TwoHosts, experiment

ASKED = {
    "date": "awk 'BEGIN { srand(); print int(1e6 * rand()) }'",
    "shell": "bash -c 'echo $RANDOM'",
    "hash": 'python3 -c "print(hash(str(1)) % 1000003)"',
}


@experiment(topology=TwoHosts, vary={"rtt": ["0ms"]})
def draws(net, rtt):
    "What do programs draw?"
    host = net["client"]
    kernel = float(int.from_bytes(os.urandom(6)))
    return {name: float(host.cmd(command)) for name, command in ASKED.items()} | {"kernel": kernel}
"""


def test_each_boot_draws_its_own_random_numbers(tmp_path):
    """As the page on compatibility says: what is seeded by the date repeats with the run, what the kernel draws never does."""
    (tmp_path / "draws.py").write_text(DRAWS)
    found = []
    for _ in range(2):
        done = slownet("run", "draws.py", "--tdf", "inf", "--repeat", "2", "--out", "json=-", cwd=tmp_path)
        (run,) = json.loads(done.stdout)["runs"]
        lines = (tmp_path / run["directory"] / "samples.jsonl").read_text().splitlines()
        samples = sorted(map(json.loads, lines), key=lambda each: each["boot"])
        found.append(
            {name: [each["metrics"][name]["mean"] for each in samples] for name in ("date", "shell", "hash", "kernel")}
        )
    first, again = found
    assert len(set(first["date"])) == len(set(first["shell"])) == 2
    assert (first["date"], first["shell"]) == (again["date"], again["shell"])
    assert len(set(first["hash"] + again["hash"])) == 1
    assert len(set(first["kernel"] + again["kernel"])) == 4


def test_repetitions_as_told(tmp_path):
    (tmp_path / "mine.py").write_text(CLAIMED % ("client", 0.1))
    done = slownet("run", "mine.py", "--tdf", "inf", "--repeat", "2", "--out", "json=-", cwd=tmp_path)
    (run,) = json.loads(done.stdout)["runs"]
    assert [cell["repetitions"] for cell in run["cells"]] == [2, 2]


def test_a_margin_of_nothing_around_what_varies_is_judged(tmp_path):
    (tmp_path / "mine.py").write_text(CLAIMED % ("client", 0))
    done = slownet("run", "mine.py", "--tdf", "1", "--repeat", "1", "--out", "json=-", cwd=tmp_path)
    assert done.returncode == 1
    assert [line for line in done.stderr.splitlines() if "1 repetition: too few for a verdict" not in line] == []
    ((claim,),) = (run["claims"] for run in json.loads(done.stdout)["runs"])
    assert claim["verdict"] in ("inconclusive", "refuted")


def test_a_margin_of_500_percent_is_one_line_before_anything_is_measured(tmp_path):
    (tmp_path / "mine.py").write_text(CLAIMED % ("client", 5))
    done = slownet("run", "mine.py", "--tdf", "inf", cwd=tmp_path)
    assert done.returncode == 2
    assert "within is 5, a margin of 500 %, in law of rtt_ms, mine.py:" in done.stderr
    assert done.stderr.endswith(": write 0.05 for 5 %\n")
    assert not (tmp_path / "runs").exists()


def test_a_file_that_ends_the_program_is_no_success(tmp_path):
    (tmp_path / "mine.py").write_text("import os\nos._exit(0)\n")
    done = slownet("run", "mine.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "slownet: the file ends the program: os._exit(0), mine.py:2: leave that out: a file only defines\n"


ENDING = """
import os

from slownet import TwoHosts, experiment, ping


class Mine:
    def judge(self, run, siblings):
        os._exit(0)


@experiment(topology=TwoHosts, vary={"rtt": ["0ms"]}, tdf="inf")
def mine(net, rtt):
    \"""Who judges?\"""
    return ping(net["client"], "server")


mine.claims(Mine())
"""


def test_a_claim_that_ends_the_program_is_no_success(tmp_path):
    (tmp_path / "mine.py").write_text(ENDING)
    done = slownet("run", "mine.py", "--repeat", "1", cwd=tmp_path)
    assert done.returncode == 2
    assert "slownet: the file ends the program: os._exit(0), mine.py:9: leave that out: a file only defines\n" in done.stderr
    assert not any((tmp_path / "runs").glob("*/report.html"))


def test_a_claim_about_cells_that_were_not_measured_is_told(tmp_path):
    (tmp_path / "mine.py").write_text(CLAIMED % ("client", 0.1))
    done = slownet("run", "mine.py", "--tdf", "inf", "--repeat", "1", "--vary", "delay=7ms", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    said = "not judged A request costs one round trip (within 10 %): delay 0ms and delay 3ms were not measured"
    assert said in " ".join(done.stdout.split())


def test_a_claim_about_no_metric_costs_nothing_that_was_measured(tmp_path):
    file, wrong = tmp_path / "mine.py", 'mine.claims(bound("time_ms", at_least=0), bound("rt_ms", at_most=9))'
    file.write_text(MIXED + wrong)
    done = slownet("run", "mine.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "not judged" in done.stdout
    assert "supported" in done.stdout
    hint, error = done.stderr.splitlines()
    assert error == "slownet: no metric 'rt_ms', in cell rtt 3ms: did you mean 'rtt_ms'?"
    start, _, again = hint.partition(": slownet run ")
    assert start == "slownet: corrected, it is judged without measuring again"
    (samples,) = (tmp_path / "runs").glob("*/samples.jsonl")
    measured = samples.read_bytes()
    file.write_text(MIXED + wrong.replace("rt_ms", "rtt_ms"))
    judged = slownet("run", *again.split(), cwd=tmp_path)
    assert judged.returncode == 0, judged.stderr
    assert samples.read_bytes() == measured


MIXED = """
from slownet import TwoHosts, bound, experiment, ping


@experiment(topology=TwoHosts, vary={"rtt": ["3ms"]}, tdf="inf")
def mine(net, rtt):
    \"""How long do the two hosts take?\"""
    with net.link("client", "server").set(rtt=rtt):
        found = ping(net["client"], "server", count=3, interval=0.2)
    return {"rtt_ms": found.rtt, "time_ms": 1.0}


"""


def test_a_run_predicts_another_site(both):
    _, printed, folder = both
    directory = printed["runs"][0]["directory"]
    done = slownet("show", directory, "--at", "rtt=85ms,t0=12.3ms", "--json", cwd=folder)
    assert json.loads(done.stdout)["predicted"]["mean"] == pytest.approx(12.3 + 4 * 85, rel=0.05)


def test_an_unknown_host_is_one_line(tmp_path):
    (tmp_path / "mine.py").write_text(OWN % "cleint")
    done = slownet("run", "mine.py", "--tdf", "inf", "--repeat", "1", cwd=tmp_path)
    assert done.returncode == 2
    assert "'client'" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_topology_is_one_line(tmp_path):
    (tmp_path / "mine.py").write_text((OWN % "client").replace("topology=ClientWebDb", 'topology="client_web_bd"'))
    done = slownet("run", "mine.py", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "slownet: no topology 'client_web_bd', mine.py:7: did you mean 'client_web_db'?\n"


def test_a_cell_that_fails_is_marked_and_the_others_go_on(tmp_path):
    text = (OWN % "client").replace(
        "return ping(", 'net["web"].cmd("ip link set web-eth0 down" if delay == "3ms" else "true")\n        return ping('
    )
    (tmp_path / "mine.py").write_text(text.replace('["0ms", "3ms"]', '["0ms", "3ms", "4ms"]'))
    done = slownet("run", "mine.py", "--tdf", "inf", "--repeat", "1", "--out", "json=-", cwd=tmp_path)
    assert done.returncode == 1
    (run,) = json.loads(done.stdout)["runs"]
    assert [cell["status"] for cell in run["cells"]] == ["ok", "failed", "failed"]
    (raw,) = Path(run["directory"]).glob("raw*/001-failed*")
    assert "100% packet loss" in raw.read_text()


BROKEN_SERVICE = OWN.replace("from slownet.topologies", "from slownet.services.mariadb import MariaDB\nfrom slownet.topologies")


def test_a_service_that_does_not_come_up_shows_its_last_lines(tmp_path):
    text = (BROKEN_SERVICE % "client").replace("def mine(net, ", "def mine(net, db, ")
    service = "service=lambda net, folder: MariaDB(net['db'], folder, options=['--no-such-option']), "
    (tmp_path / "mine.py").write_text(text.replace("@experiment(", "@experiment(" + service))
    done = slownet("run", "mine.py", "--tdf", "inf", "--repeat", "1", cwd=tmp_path)
    assert done.returncode == 2
    assert "mariadb ended with status" in done.stderr
    assert "no-such-option" in done.stderr
    assert "Traceback" not in done.stderr
