"""Fixtures for the tests of the commands, which run this checkout's command line as a separate process."""

import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
import time

import pytest
import wheels
from command_line import SLOWNET, ran

from slownet.lab.build import cache, parts
from slownet.lab.host import calibrate
from slownet.model.errors import SlownetError

PATIENCE_S = 120
LIGHT = ("-p", "no:hypothesispytest")
"""Options of a pytest whose tests use no Hypothesis: its plugin imports it at the end of every session, here and in a lab."""


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "long: takes long, and what it tests seldom changes: `make test-long` runs it, every night"
    )


PAGES = '''
import time
from pathlib import Path

from slownet.judge.claim import law
from slownet.hypotheses.experiment import experiment
from slownet.services.nginx import Nginx
from slownet.tools.ab import ab
from slownet.topologies import ClientWebDb

ROOT, GO = Path("/var/tmp/pages"), Path(__file__).with_name("go")


def server(net, folder):
    ROOT.mkdir(exist_ok=True)
    (ROOT / "index.html").write_bytes(b"x" * 52_000)
    return Nginx(net["web"], folder, root=ROOT)


@experiment(topology=ClientWebDb, service=server, vary={"rtt": ["0ms", "20ms", "30ms", "50ms"]})
def pages(net, nginx, rtt):
    """What does a page take?"""
    while rtt in ("30ms", "50ms") and not GO.exists():
        time.sleep(0.1)
    with net.link("client", "switch").set(rtt=rtt):
        return ab(net["client"], nginx.url, requests=10)


pages.claims(law("time_per_request_ms", round_trips=4, within=0.1))
'''


@pytest.fixture(scope="session")
def built():
    """The parts of the lab; exits with one line if they are missing."""
    try:
        found = parts.need()
        calibrate.tdf(found)
    except SlownetError as error:
        pytest.fail(str(error), pytrace=False)
    return found


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """A folder with the package as installed from its wheel, which the first of all workers makes; the wheel is beside it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "installed"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "packages").exists():
            install = [*wheels.PIP, "install", "--no-deps", "--target", folder / "half", wheels.made(folder)]
            subprocess.run(install, check=True)
            (folder / "half").rename(folder / "packages")
    return folder / "packages"


def environment(installed, folder):
    """Make an environment in a folder: the wheel, and by reference what it depends on, which is not fetched; return its bin."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    shutil.copytree(installed, site, dirs_exist_ok=True)
    (site / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    for name, module in {"slownet": "slownet.cli", "pytest": "pytest", "pip": "pip"}.items():
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{folder}/bin/python" -m {module} "$@"\n')
        script.chmod(0o755)
    return folder / "bin"


def of_ones_own(binaries, **others):
    """Return the variables of a process that has this environment, the machine's cache and nothing else of this one."""
    kept = {name: os.environ[name] for name in ("HOME", "USER") if name in os.environ}
    path = os.pathsep.join([str(binaries), os.environ["PATH"]])
    return {**kept, "PATH": path, "XDG_CACHE_HOME": str(cache.root().parent), **others}


class Command:
    """Runs `slownet lab exec` from its own folder."""

    def __init__(self, folder):
        self.folder = folder

    def words(self, *command, options=()):
        return [*SLOWNET, "lab", "exec", *options, "--", *command]

    def __call__(self, *command, options=(), **others):
        if not others.keys() - {"input", "env", "cwd"}:
            return ran(self.words(*command, options=options), **{"cwd": self.folder, "timeout": PATIENCE_S} | others)
        others = {"stdin": subprocess.DEVNULL, "cwd": self.folder, "timeout": PATIENCE_S} | others
        if "input" in others:
            del others["stdin"]
        others = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | others
        return subprocess.run(self.words(*command, options=options), check=False, **others)

    def start(self, *command, options=(), **others):
        others = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "cwd": self.folder,
        } | others
        return subprocess.Popen(self.words(*command, options=options), **others)


class Pages:
    """A user's experiment that stops halfway through its cells until it is told to continue."""

    def __init__(self, folder):
        self.folder, self.file = folder, folder / "pages.py"
        self.file.write_text(PAGES)

    def go_on(self):
        (self.folder / "go").touch()


@pytest.fixture
def pages(built, tmp_path):
    return Pages(tmp_path)


@pytest.fixture
def execute(built, tmp_path):
    """Run a command in a lab: execute("ls", "/", options=["--tdf", "inf"]) -> CompletedProcess with bytes."""
    folder = tmp_path / "folder"
    folder.mkdir()
    return Command(folder)


def one_line(done):
    """Return the error line of a command that ended with a user error or a failure of the lab."""
    assert done.returncode == 2, done
    text = done.stderr.decode()
    assert text.startswith("slownet: "), text
    assert text.count("\n") == 1, text
    assert text.endswith("\n")
    return text[len("slownet: ") : -1]


def alive(pid):
    """Return whether that process runs (a zombie does not)."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def session_of(pid):
    """Return the running processes of a session."""
    members = []
    for each in os.listdir("/proc"):
        try:
            if each.isdigit() and os.getsid(int(each)) == pid and alive(int(each)):
                members.append(int(each))
        except ProcessLookupError:
            continue
    return members


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as children:
        return [int(each) for each in children.read().split()]


def wait_for_a_sample(folder, process):
    """Wait for the first sample of a run below the folder; return the file with the samples."""
    for _ in range(3000):
        found = [path for path in folder.glob("runs/*/samples*.jsonl") if path.read_text().endswith("\n")]
        if found:
            return found[0].with_name("samples.jsonl")
        assert process.poll() is None
        time.sleep(0.1)
    pytest.fail("no sample came")


def lend_lab(built, home, *left_out):
    """Link this machine's lab into another cache, without these kinds.

    Only this version's kernel, image and init: `slownet lab clean` may run there, and removes what other versions have.
    """
    own = home / "slownet"
    own.mkdir(parents=True)
    of_versions = {one.parent.name: one for one in (built.kernel.path.parent, built.image.path.parent, built.tools)}
    for each in cache.root().iterdir():
        if each.name in of_versions:
            (own / each.name).mkdir()
            (own / each.name / of_versions[each.name].name).symlink_to(of_versions[each.name])
        elif each.name not in left_out:
            (own / each.name).symlink_to(each)
