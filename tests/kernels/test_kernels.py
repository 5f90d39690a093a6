"""The lab's kernel of each series of patches, from the newest source of Debian's that the series is for: the patches are as
the kernel's maintainers want them, it builds, boots and passes the tests of clock and command; and a build in which the kernel
checks itself has nothing to complain of. Half an hour; no part of `make test`.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from slownet.lab import cache, debian, kernel, parts

CHECKOUT = Path(__file__).parents[2]
SERIES = [each.name for each in kernel._series()]
SMOKE = ["test_lab_clock.py", "test_lab_command.py", "test_work_clock.py"]
# __setup options of User-Mode Linux are documented by __uml_help, and MAINTAINERS has all of arch/um.
CHECKPATCH = ["--strict", "--no-tree", "--no-summary", "--ignore", "UNDOCUMENTED_SETUP,FILE_PATH_CHANGES"]
COMPLAINTS = re.compile(r"WARNING:|BUG:|INFO: (possible|suspicious|task)|Call Trace|inconsistent lock state|ODEBUG")
WORK = ["tests/lab/test_network.py", "tests/lab/test_services.py", "tests/lab/test_fault_ahead.py"]
CLOCKS = {
    "real": ["--clock", "real"],
    "time": ["--tdf", "1", "--cpu", "time"],
    "work": ["--tdf", "1"],
    "free": ["--tdf", "inf"],
}


@pytest.fixture(scope="module", params=SERIES)
def source(request, tmp_path_factory):
    """A patched tree."""
    work = tmp_path_factory.mktemp("source")
    log = work / "log"
    deb = debian.download(rf"^linux-source-{re.escape(request.param)}" + ("$" if "." in request.param else "[.]"), 1, work, log)
    tree = kernel._unpack(deb, work, log)
    kernel._patch(tree, log)
    assert f"applied the patches for {request.param}\n" in log.read_text()
    return tree, deb


def built(source, folder, configs=()):
    """A cache of its own with that kernel, and else what this machine's has."""
    tree, deb = source
    there, here = cache.root(), folder / "slownet"
    log = folder / "log"
    place = here / "kernel" / kernel._key()
    place.mkdir(parents=True)
    kernel._compile(tree, log, configs)
    kernel._keep(tree, deb, place, log)
    for kind in ("image", "init"):
        (here / kind).symlink_to(there / kind)
    return {**os.environ, "XDG_CACHE_HOME": str(folder)}


def slownet(environment, *words, **options):
    command = [sys.executable, "-m", "slownet.cli", *words]
    options = {"capture_output": True, "text": True, "timeout": 1800, "check": False, "cwd": CHECKOUT} | options
    return subprocess.run(command, env=environment, **options)


def test_checkpatch_has_nothing_to_say(source, request):
    tree, _ = source
    series = request.node.callspec.params["source"]
    patches = sorted(map(str, (kernel.FILES / series).glob("*.patch")))
    done = subprocess.run(["perl", "scripts/checkpatch.pl", *CHECKPATCH, *patches], cwd=tree, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_it_boots_and_passes_the_tests_of_clock_and_command(source, tmp_path):
    parts.need()
    environment = built(source, tmp_path)
    facts = json.loads(next((tmp_path / "slownet" / "kernel").glob("*/kernel.json")).read_text())
    assert slownet(environment, "lab", "exec", "uname", "-r").stdout == facts["release"] + "\n"
    words = [sys.executable, "-m", "pytest", "-q", *(f"tests/e2e/{name}" for name in SMOKE)]
    done = subprocess.run(words, env=environment, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("clock", CLOCKS)
def test_the_kernel_that_checks_itself_does_not_complain(checked, clock):
    script = f"python -m pytest -q -p no:cacheprovider {' '.join(WORK)}; echo status $?; dmesg"
    done = slownet(checked, "lab", "exec", *CLOCKS[clock].split(), "--", "sh", "-c", script)
    said, _, messages = done.stdout.partition("status ")
    assert messages.startswith("0\n"), said
    assert not COMPLAINTS.search(messages), messages


@pytest.fixture(scope="module")
def checked(source, tmp_path_factory):
    parts.need()
    return built(source, tmp_path_factory.mktemp("checked"), [Path(__file__).with_name("debug.config")])
