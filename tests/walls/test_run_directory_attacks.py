"""Attacks on the run directory, by an experiment with root in the lab: the host follows nothing that it left there.

One boot tries every name with every kind of thing, for each command, as the host's root and as an ordinary user, with
Landlock and without it.
"""

import hashlib
import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from everybody import lab_of_all  # noqa: F401  # a fixture
from no_landlock import without_landlock

from slownet.lab.host import native
from slownet.lab.run import confinement

NOBODY = 65534
PATIENCE_S = 300
USERS = ["root", "ordinary"] if os.geteuid() == 0 else ["ordinary"]
MEGABYTE = 2**20

pytestmark = pytest.mark.skipif(not native.lacks(), reason="this machine runs experiments in place, without a lab")

NAMES = (
    "stderr.txt", "stderr-2.txt", "run.json", "run.json.part", "report.html", "samples.jsonl", "samples-9.jsonl",
    "samples.parquet", "samples.damaged.jsonl", "experiment.json", "compose/projects.json", "compose/files/evil",
    "compose/modes.json", "evil", "raw", "captures", "raw-2", "captures-2", "services-2",
    "raw/evil", "captures/evil", "services/evil", "raw-2/evil", "captures-2/evil", "services-2/evil",
)  # fmt: skip
"""In the run directory: what the host writes, reads or acts on, and what labs write, each alone."""
KINDS = {
    "an absolute link": "os.symlink(SECRET, path)",
    "a relative link": "os.symlink(os.path.relpath(SECRET, os.path.dirname(path)), path)",
    "a link to a folder": "os.symlink(os.path.dirname(SECRET), path)",
    "an endless device by a link": "os.symlink('/dev/zero', path)",
    "a hard link": "os.link(SECRET, path)",
    "a FIFO": "os.mkfifo(path)",
    "a device": "os.mknod(path, 0o020666, os.makedev(1, 5))",
    "a folder": "os.mkdir(path)",
    "a huge file": "os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 1 << 42)",
    "a forged file": "open(path, 'w').write(FORGED)",
}
ATTACKS = list(itertools.product(NAMES, KINDS))

HOSTILE = f"""
import errno
import json
import os
import shutil
import subprocess
import sys

from slownet.hypotheses.experiment import experiment
from slownet.topologies import TwoHosts

SECRET = "@SECRET@"
FORGED = json.dumps({{"given": {{"share": ["/:rw"]}}, "projects": {{"x": "/"}}, "source": "/etc/passwd"}}) + "\\n"
KINDS = {KINDS!r}
NAMES = {NAMES!r}


def planted(top, names):
    '''Try every name and every kind; return those that worked.'''
    done = []
    for name in names:
        for kind, code in KINDS.items():
            path = os.path.join(top, name)
            try:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                if os.path.lexists(path):
                    shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
                exec(code, globals(), {{"path": path}})
                done.append(name + ": " + kind)
            except OSError:
                pass
    return done


def measure():
    job = json.loads(sys.argv[1])
    directory, lab = job["directory"], job["lab"]
    own_folders = [name if lab == 1 else f"{{name}}-{{lab}}" for name in ("raw", "captures", "services")]
    raw, captures, _ = own_folders
    subprocess.run(["mount", "-o", "remount,rw", directory], capture_output=True)
    worked = planted(directory, [each for each in NAMES if each.removesuffix("/evil") not in own_folders or "/" not in each])
    assert not worked, worked
    for move in ("raw", "captures", "raw-2", "captures-2"):
        try:
            os.rename(os.path.join(directory, move), os.path.join(directory, "moved"))
        except OSError:
            continue
        raise AssertionError("moved " + move)
    own = planted(os.path.join(directory, raw), ["a", "b", "000-ping.txt", "000-schedule.json", "deep/a"])
    own += planted(os.path.join(directory, captures), ["000-a-eth0.pcap"])
    if not own:  # these folders are the lab's own, unless it unmounted them when it was called before, to warm up
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), directory)
    return directory


def after_the_mounts(directory):
    '''What is below the mounts of the run directory is the host's as well.'''
    while subprocess.run(["umount", "-l", directory], capture_output=True).returncode == 0:
        planted(directory, NAMES)
        planted(os.path.dirname(directory), NAMES)


def say(**event):
    os.write(1, b"\\x1eslownet " + json.dumps(event).encode() + b"\\n")


@experiment(topology=TwoHosts, vary={{"rtt": ["0ms", "10ms"]}}, tdf="inf", unit="ms")
def attack(net, rtt):
    '''Is the host safe?'''
    directory = measure()
    if os.environ.get("FORGE"):
        job = json.loads(sys.argv[1])
        for link, to in (("link.iperf3.txt", SECRET), ("zero.strace", "/dev/zero")):
            path = os.path.join(directory, "raw", link)
            os.path.lexists(path) or os.symlink(to, path)
        for name, make in (("fifo.pcap", os.mkfifo), ("fifo.strace", os.mkfifo)):
            path = os.path.join(directory, "raw", name)
            os.path.lexists(path) or make(path)
        ends = ("iperf3.txt", "strace", "pcap", "wget.txt", "ss.txt", "queue.json")
        names = [os.environ["FORGE"] + end for end in ends] + [SECRET, "../run.json", "raw/link.iperf3.txt", "raw/zero.strace"]
        names += ["raw/fifo.strace", "raw/fifo.pcap", "raw/../../sibling/secret", "run.json", "raw/a", "raw/b", "raw/deep"]
        names.append("raw/" + "x" * 5000)
        for index, block, cell in job["steps"]:
            sample = {{"cell": cell, "index": index, "status": "ok", "raw": names, "tool": "iperf3",
                      "condition": {{"rtt_ms": 1.0}},
                      "metrics": {{"ms": {{"mean": 1.0 + index, "sd": 0.0, "n": 2, "values": [1.0 + index] * 2}}}},
                      "captures": [{{"file": SECRET, "interface": "x", "packets": 1, "dropped": 0}}]}}
            say(event="sample", index=index, sample=sample)
        say(event="end", virtual_s=1.0)
        os._exit(0)
    if os.environ.get("UNMOUNT"):
        after_the_mounts(directory)
    return [1.0, 2.0]
"""
PREDICTION = """
question = "Is the host safe?"
topology = "two_hosts"
tool = "hostile.py:tool"

[conditions]
link = ["client", "server"]
rtt = ["0ms", "10ms"]

[[prediction]]
says = "It is."
claim = "bound"
metric = "ms"
at = {rtt = "0ms"}
at_least = 0.5
"""
COMPOSE = """
name: shop
services:
  web:
    image: hostile:1
    command: [/hostile]
    volumes: ["./bound:/bound", "./bound:/read:ro", "./bound/file:/single"]
    secrets: [key]
secrets: {key: {file: bound/secret}}
"""
COMMANDS = {
    "compose": ["run", "./composed.py", "--repeat", "1"],
    "run": ["run", "./hostile.py", "--repeat", "1"],
    "sweep": ["sweep", "./hostile.py", "--out", "swept", "--labs", "1"],
    "check": ["check", "./hostile.toml", "--tdf", "inf"],
    "side by side": ["run", "./hostile.py", "--repeat", "2", "--labs", "2"],
}


USELESS = set()
"""Commands that an ordinary user cannot run with this Python."""
SPAWNS = "import multiprocessing, time; new = multiprocessing.get_context('spawn').Lock; new(); time.sleep(1); new()"


def hashed(top):
    """Return what there is below the folders that no lab is given: mode and content of each file."""
    found = {}
    for path in sorted([*(top / "sibling").rglob("*"), *(top / "project").glob("*.*"), *(top / "project/bound").rglob("*")]):
        about = path.lstat()
        found[str(path)] = (
            about.st_mode,
            about.st_uid,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
    return found


def lay_out(project, secret):
    """Write the project of the attack, and the file that is to stay as it is."""
    secret.write_text("the host's own\n")
    hostile = HOSTILE.replace("@SECRET@", str(secret))
    tool = "\n\ndef tool(*hosts):\n    measure()\n    return {'ms': [1.0, 2.0]}\n"
    (project / "hostile.py").write_text(hostile + tool)
    (project / "hostile.toml").write_text(PREDICTION)
    composed = hostile.replace("from slownet.topologies import TwoHosts", "from slownet import Compose")
    (project / "composed.py").write_text(composed.replace("TwoHosts", 'Compose("compose.yaml")'))
    (project / "compose.yaml").write_text(COMPOSE)
    (project / "bound/deep").mkdir(parents=True)
    for each in ("file", "secret", "deep/file"):
        (project / "bound" / each).write_text("of the project")


@pytest.fixture(params=itertools.product(USERS, ["Landlock", "none"]), ids="-".join)
def attacked(request, lab_of_all):  # noqa: F811
    """attacked(command, **variables): run the attack; returns the process and the folders of its runs."""
    user, landlock = request.param
    if landlock == "Landlock" and confinement.landlock() < 1:
        pytest.skip(confinement.describe(confinement.landlock()))
    top = Path("/var/tmp", f"slownet-walls-{os.getpid()}")
    project = top / "project"
    for each in (project, top / "sibling", top / "cache"):
        each.mkdir(parents=True)
    lay_out(project, top / "sibling/secret")
    ordinary = user == "ordinary" and os.geteuid() == 0
    if ordinary:
        subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", top], check=True)
    words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if ordinary else []
    if ordinary and subprocess.run([*words, sys.executable, "-c", SPAWNS], check=False, capture_output=True).returncode:
        USELESS.add("sweep")
    environment = {
        **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
        "HOME": str(top / "cache"), "XDG_CACHE_HOME": str(top / "cache"), "SLOWNET_SYSTEM_CACHE": str(lab_of_all / "slownet"),
        "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(top / "cache"),
    }  # fmt: skip

    def run(command, **variables):
        if ordinary and command in USELESS:
            pytest.skip("this Python is in a folder that an ordinary user cannot enter")
        before = hashed(top)
        done = subprocess.run(
            [*words, sys.executable, "-m", "slownet.cli", *COMMANDS[command], "--place", "lab",
             *(word for name, value in variables.items() for word in ("--env", f"{name}={value}"))],
            cwd=project, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
            stdin=subprocess.DEVNULL, errors="replace", preexec_fn=None if landlock == "Landlock" else without_landlock,
        )  # fmt: skip
        assert hashed(top) == before
        assert "Traceback" not in done.stdout + done.stderr, done.stderr[-3000:]
        runs = sorted((project / "runs").glob("*")) or [project / "swept"]
        for each in runs:
            for path in each.rglob("*"):
                if path.is_file() and not path.is_symlink() and path.stat().st_size < 10 * MEGABYTE:
                    assert b"the host's own" not in path.read_bytes(), path
        return done, runs

    yield run
    shutil.rmtree(top)


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_can_be_planted_where_the_host_acts(attacked, command):
    """The attack fails by itself if one of these attempts works: each of ATTACKS."""
    assert len(ATTACKS) >= 60
    done, runs = attacked(command)
    assert done.returncode == 0, done.stdout + done.stderr
    if command == "side by side":
        labs = {json.loads(line)["lab"] for line in (runs[0] / "samples.jsonl").read_text().splitlines()}
        assert labs == {1, 2}, "one has tried what is the other's, and nothing of it worked"
    if command in ("run", "compose", "side by side"):
        assert {each.name for each in runs[0].iterdir() if each.is_symlink()} == set()
        assert not (runs[0] / "compose").exists()
    if command == "compose":
        logs = [each.read_text() for each in (runs[0] / "services").rglob("*") if each.is_file()]
        assert "evil" in "".join(logs), "the container has tried"
        assert len((runs[0] / "samples.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize("command", ["run", "sweep", "compose"])
def test_a_lab_that_unmounts_its_folders_harms_itself(attacked, command):
    """What it would write then is the lab's own, or below folders that it can only read; its output has no place."""
    done, _ = attacked(command, UNMOUNT="yes")
    assert done.returncode != 0
    assert "Read-only file system" in done.stderr or "No such file" in done.stderr, done.stderr


@pytest.mark.parametrize("command", ["run", "sweep", "compose"])
def test_what_samples_name_is_not_followed(attacked, command):
    done, runs = attacked(command, FORGE="../../sibling/")
    if command != "sweep":
        assert done.returncode == 0, done.stderr  # the numbers are the lab's word; the files are not looked for elsewhere
        facts = json.loads((runs[0] / "run.json").read_text())
        assert facts["source"].endswith("composed.py" if command == "compose" else "hostile.py")
        show = subprocess.run(
            [sys.executable, "-m", "slownet.cli", "show", runs[0], "--out", "page"],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert show.returncode == 0, show.stderr
    else:
        assert "is not a path below the lab's folder" in done.stderr or done.returncode == 1, done.stdout + done.stderr
