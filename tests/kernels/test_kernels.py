"""Tests each patch series with the newest Debian kernel source that it applies to: the patches pass checkpatch, labs run on the
kernel, and a build with the kernel's own debugging checks reports nothing. Takes an hour.
"""

import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import carry
import pytest

from slownet.errors import SlownetError
from slownet.lab import cache, debian, kernel

CHECKOUT = Path(__file__).parents[2]
SERIES = [each.name for each in kernel._series()]
# User-Mode Linux documents __setup parameters with __uml_help, and MAINTAINERS covers all of arch/um.
CHECKPATCH = ["--strict", "--no-tree", "--no-summary", "--ignore", "UNDOCUMENTED_SETUP,FILE_PATH_CHANGES"]
IN_LAB = ["test_network.py", "test_services.py", "test_seeds.py", "test_capture.py", "test_teardown.py", "test_fault_ahead.py"]
OF_COMMANDS = ["test_lab_clock.py", "test_lab_command.py", "test_lab_memory.py", "test_work_clock.py"]
CLOCKS = {"real": "--clock real", "time": "--tdf 1 --cpu time", "work": "--tdf auto", "free": "--tdf inf"}
COMPLAINTS = re.compile(r"WARNING:|BUG:|INFO: (possible|suspicious|task)|inconsistent lock state|Call Trace|ODEBUG")
LIMIT_S = 3600


def labs_on(series, name, configs=()):
    """Build that kernel in a cache of its own, with links to this machine's image and init; return an environment with it."""
    usual = cache.root()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(usual / name))
        try:
            cache.make("kernel", kernel._key(), partial(kernel._build, sources=carry.packages(series), configs=configs))
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
    """An environment whose kernel checks its locks, lists, timers and atomic sleeps."""
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
    tree = kernel._unpack(debian.download(carry.packages(series), 1, tmp_path, log), tmp_path, log)
    patches = sorted(map(str, (kernel.FILES / series).glob("*.patch")))
    words = ["perl", "scripts/checkpatch.pl", *CHECKPATCH, *patches]
    done = subprocess.run(words, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    kernel._patch(tree, log)
    assert f"applied the patches for {series}\n" in log.read_text()


def lines(series):
    """What patches say, wherever it is in the files: these move with each release of Debian's."""
    return [(each.name, re.sub(r"(?m)^@@ .*", "@@", each.text)) for each in series]


def test_the_series_are_what_carrying_makes_of_them(tmp_path):
    """They apply to Debian's sources of now with the context that they have, and carry.py may take edits over."""
    first, *others = SERIES
    sides = {each: carry.Side(each, carry.source(each, tmp_path), carry.series_of(kernel.FILES / each)) for each in SERIES}
    for other in others:
        made = carry.carry(tmp_path / f"{other}-repository", sides[first], sides[first].before, sides[other])
        assert [lines(each) for each in made] == [lines(sides[each].before) for each in (first, other)]


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
