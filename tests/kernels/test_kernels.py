"""The lab's kernel by each series of patches, from the newest source of Debian's that the series is for: the patches are as the
kernel's maintainers want them, labs run on it, and a build in which the kernel checks itself finds nothing. An hour.
"""

import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from slownet.errors import SlownetError
from slownet.lab import cache, debian, kernel

CHECKOUT = Path(__file__).parents[2]
SERIES = [each.name for each in kernel._series()]
# What __setup takes is documented by __uml_help in User-Mode Linux, and MAINTAINERS has all of arch/um.
CHECKPATCH = ["--strict", "--no-tree", "--no-summary", "--ignore", "UNDOCUMENTED_SETUP,FILE_PATH_CHANGES"]
IN_LAB = ["test_network.py", "test_services.py", "test_seeds.py", "test_capture.py", "test_teardown.py", "test_fault_ahead.py"]
OF_COMMANDS = ["test_lab_clock.py", "test_lab_command.py", "test_lab_memory.py", "test_work_clock.py"]
CLOCKS = {"real": "--clock real", "time": "--tdf 1 --cpu time", "work": "--tdf auto", "free": "--tdf inf"}
COMPLAINTS = re.compile(r"WARNING:|BUG:|INFO: (possible|suspicious|task)|inconsistent lock state|Call Trace|ODEBUG")
LIMIT_S = 3600


def sources(series):
    """The packages of Debian's that a series is for: 6.12 is itself, 7 all of 7.x."""
    return f"^linux-source-{re.escape(series)}{'$' if '.' in series else '[.]'}"


def labs_on(series, name, configs=()):
    """An environment whose cache holds that kernel where labs look for theirs, and beside it all that this machine's has."""
    usual = cache.root()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(usual / name))
        try:
            cache.make("kernel", kernel._key(), partial(kernel._build, sources=sources(series), configs=configs))
        except SlownetError as error:
            pytest.fail(str(error), pytrace=False)
        for kind in ("image", "init"):
            link = cache.root() / kind
            if not link.exists():
                link.symlink_to(usual / kind)
        return dict(os.environ)


@pytest.fixture(scope="module", params=SERIES)
def environment(request):
    return labs_on(request.param, f"linux-{request.param}")


@pytest.fixture(scope="module", params=SERIES)
def checked(request):
    """One whose kernel checks its locks, lists, timers and where it sleeps."""
    return labs_on(request.param, f"linux-{request.param}-checked", [Path(__file__).with_name("debug.config")])


def run(environment, *words):
    done = subprocess.run(
        [sys.executable, *words], cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-5000:]
    return done.stdout


@pytest.mark.parametrize("series", SERIES)
def test_patches_are_as_the_kernels_maintainers_want_them(series, tmp_path):
    log = tmp_path / "log"
    tree = kernel._unpack(debian.download(sources(series), 1, tmp_path, log), tmp_path, log)
    patches = sorted(map(str, (kernel.FILES / series).glob("*.patch")))
    words = ["perl", "scripts/checkpatch.pl", *CHECKPATCH, *patches]
    done = subprocess.run(words, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    kernel._patch(tree, log)
    assert f"applied the patches for {series}\n" in log.read_text()


def test_labs_run_on_it(environment, request):
    release = run(environment, "-m", "slownet.cli", "lab", "exec", "--", "uname", "-r")
    assert release.startswith(f"{request.node.callspec.params['environment']}.")


@pytest.mark.parametrize("clock", CLOCKS)
def test_the_smoke_tests_of_the_lab_pass_on_it(environment, clock):
    files = [f"tests/lab/{each}" for each in IN_LAB]
    words = ["lab", "exec", *CLOCKS[clock].split(), "--", "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    assert " passed" in run(environment, "-m", "slownet.cli", *words)


def test_commands_and_clocks_are_right_on_it(environment):
    files = [f"tests/e2e/{each}" for each in OF_COMMANDS]
    assert " passed" in run(environment, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files)


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_kernel_that_checks_itself_finds_nothing(checked, clock):
    files = " ".join(f"tests/lab/{each}" for each in IN_LAB)
    script = f"python -m pytest -q -p no:cacheprovider {files} && dmesg"
    said = run(checked, "-m", "slownet.cli", "lab", "exec", *CLOCKS[clock].split(), "--", "sh", "-c", script)
    assert "Linux version" in said
    assert not COMPLAINTS.search(said), said[-5000:]
