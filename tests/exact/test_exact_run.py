"""`slownet run` on the exact clock: the same samples, byte for byte, and what the record says of the machine."""

import json
import os
import subprocess

from needs_qemu import needs_qemu
from test_exact_lab import SLOWNET, hog

from slownet.lab.build import cache

pytestmark = needs_qemu
MINE = """
from slownet import ClientWebDb, experiment, law, ping


@experiment(topology=ClientWebDb, vary={"rtt": ["0ms", "10ms", "40ms"]}, clock="exact")
def pinged(net, rtt):
    \"\"\"What does a ping take?\"\"\"
    with net.link("client", "switch").set(rtt=rtt):
        return ping(net["client"], net["web"].IP(), count=5)


pinged.claims(law("rtt_ms", round_trips=1, within=0.02))
"""


def run(*words, cwd):
    done = subprocess.run([*SLOWNET, "run", *words], cwd=cwd, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr
    (folder,) = (cwd / "runs").iterdir()
    return done.stdout, folder, json.loads((folder / "run.json").read_text())


def test_a_page_of_wordpress_takes_the_same_digits_beside_a_hog_and_in_another_folder(tmp_path):
    found = []
    for name in ("one", "another"):
        (tmp_path / name).mkdir()
    words = ("client_delay", "--clock", "exact", "--vary", "rtt=0ms,10ms", "--repeat", "1")
    found.append(run(*words, cwd=tmp_path / "one"))
    with hog():
        found.append(run(*words, cwd=tmp_path / "another"))
    (said, folder, facts), (_, other, _) = found
    assert (folder / "samples.jsonl").read_bytes() == (other / "samples.jsonl").read_bytes()
    assert (facts["clock"], facts["cpu"], facts["tdf"]) == ("exact", "instructions", None)
    assert facts["repeats"].startswith("the same numbers, bit for bit")
    machine = facts["machine"]
    assert machine["emulator"].startswith("QEMU ")
    assert (machine["machine"], machine["processor"], machine["instructions_per_ns"]) == ("pc-i440fx-7.2", "Nehalem", 3)
    assert "exact clock, 3 instructions/ns" in said
    assert "a page costs " in said
    assert " million instructions at rtt 0ms" in said
    words = [*SLOWNET, "compare", str(folder), str(other), "--within", "0.001"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout
    assert "instructions at rtt 0ms: equal, " in done.stdout
    assert (folder / "raw").is_dir()
    assert any((folder / "services").iterdir())


def test_a_file_of_ones_own_may_ask_for_it_and_its_boots_have_other_seeds(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    _, _, facts = run("mine.py", cwd=tmp_path)
    assert (facts["clock"], facts["cpu"]) == ("exact", "instructions")
    assert [each["verdict"] for each in facts["claims"]] == ["supported"]
    assert len({each["boot"] for each in facts["boots"]}) >= 3  # of programs that slownet does not know


COUNTING = """
import os
import sys
import time
from pathlib import Path

from slownet import TwoHosts, experiment


@experiment(topology=TwoHosts, vary={"rtt": ["0ms"]}, unit="ms", clock="exact", warm_up=1)
def counting(net, rtt):
    \"\"\"How long does my program take?\"\"\"
    with net.link("client", "server").set(rtt=rtt):
        words = [sys.executable, "-c", COUNT.replace("TIMES", os.environ["TIMES"])]
        return [float(net["client"].popen(words, stdout=-1, text=True).communicate()[0]) for _ in range(2)]


COUNT = "import time; began = time.monotonic(); sum(range(TIMES)); print(1000 * (time.monotonic() - began))"
"""


def test_an_own_program_without_claims_equals_itself_and_four_per_cent_more_work_is_found(tmp_path):
    """Both were inconclusive, status 3: one boot each, "how much boots differ is not known"."""
    (tmp_path / "counting.py").write_text(COUNTING)
    folders = {}
    for name, times in (("one", 400_000), ("again", 400_000), ("more", 416_000)):
        words = [*SLOWNET, "run", "counting.py", "--runs", name, "--env", f"TIMES={times}"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=1800, check=False)
        assert done.returncode == 0, done.stderr
        assert "a difference of 1 % would be found between two such runs" in done.stdout
        (folders[name],) = (tmp_path / name).iterdir()
        facts = json.loads((folders[name] / "run.json").read_text())
        assert 3 <= len(facts["boots"]) <= 10
    for name, status, word in (("again", 0, "equal: "), ("more", 1, "worse: ")):
        words = [*SLOWNET, "compare", str(folders["one"]), str(folders[name])]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
        assert (done.returncode, word in done.stdout) == (status, True), done.stdout


def test_a_claim_that_depends_on_the_cpu_has_it_without_being_asked(tmp_path):
    claimed = MINE.replace(', clock="exact"', "").replace(
        'law("rtt_ms", round_trips=1, within=0.02)', 'bound("rtt_ms", at={"rtt": "10ms"}, at_most="11ms")'
    )
    (tmp_path / "mine.py").write_text(claimed.replace("import ClientWebDb", "import bound, ClientWebDb"))
    _, _, facts = run("mine.py", "--vary", "rtt=0ms,10ms", cwd=tmp_path)
    assert (facts["clock"], facts["cpu"]) == ("exact", "instructions")
    assert facts["machine"]["machine"] == "pc-i440fx-7.2"
    because = "a claim depends on what the CPU costs: instructions are counted in an emulated machine"
    assert facts["clock_because"].startswith(because)
    assert [each["verdict"] for each in facts["claims"]] == ["supported"]


def test_a_speed_is_another_processor(tmp_path):
    taken = {}
    for speed in (1, 3):
        script = "import time; began = time.monotonic_ns(); sum(range(300_000)); print(time.monotonic_ns() - began)"
        words = [*SLOWNET, "lab", "exec", "--clock", f"exact:{speed}", "--", "python", "-c", script]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=900, check=False, stdin=-3)
        taken[speed] = int(done.stdout)
    assert 2.9 < taken[1] / taken[3] < 3.1


HYPOTHESIS = """
question = "How long does a ping take over 2 x 5 ms?"
tool = "ping"

[conditions]
link = ["client", "switch"]
rtt = ["0ms", "10ms"]

[[prediction]]
says = "A ping is one round trip"
claim = "law"
metric = "rtt_ms"
round_trips = 1
"""


def test_a_hypothesis_is_checked_in_one_boot(tmp_path):
    (tmp_path / "mine.toml").write_text(HYPOTHESIS)
    words = [*SLOWNET, "check", "mine.toml", "--clock", "exact"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    facts = json.loads((folder / "run.json").read_text())
    assert (facts["clock"], len(facts["boots"])) == ("exact", 1)


def test_without_the_labs_own_kernel_a_run_has_it_and_says_why(tmp_path):
    home = tmp_path / "cache/slownet"
    home.mkdir(parents=True)
    for kind in ("image", "init", "exact-image", "exact-kernel"):
        (home / kind).symlink_to(cache.root() / kind)
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "SLOWNET_SYSTEM_CACHE": str(tmp_path / "none")}
    claimed = MINE.replace(', clock="exact"', "")
    (tmp_path / "mine.py").write_text(claimed)
    words = [*SLOWNET, "run", "mine.py", "--vary", "rtt=0ms,10ms", "--repeat", "1", "--out", "json=-"]
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 1  # a law of three delays is not judged with two
    assert "slownet: the lab's own kernel is not built, so the clock is the exact one (slownet lab build)\n" in done.stderr
    (found,) = json.loads(done.stdout)["runs"]
    assert found["clock"] == "exact"
    words = [*SLOWNET, "run", "mine.py", "--tdf", "inf"]
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert done.stderr.startswith("slownet: the lab's own kernel is not built on this machine")
