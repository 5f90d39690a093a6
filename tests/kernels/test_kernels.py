"""Tests each patch series with the newest Debian kernel source that it applies to: the patches pass checkpatch, sparse and
their own KUnit tests, labs run on the kernel, and a build with the kernel's own debugging checks reports nothing. Needs sparse;
takes hours.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

import carry
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # time_counter.py is also run as a program

import time_counter

from slownet.lab.build import cache, debian, kernel
from slownet.lab.host import counter
from slownet.model.errors import SlownetError

CHECKOUT = Path(__file__).parents[2]
SERIES = {each.name: each for each in kernel.series_folders(kernel.FILES)}
# User-Mode Linux documents __setup parameters with __uml_help, and MAINTAINERS covers all of arch/um.
CHECKPATCH = ["--strict", "--no-tree", "--no-summary", "--ignore", "UNDOCUMENTED_SETUP,FILE_PATH_CHANGES"]
IN_LAB = ["test_network.py", "test_services.py", "test_seeds.py", "test_capture.py", "test_teardown.py", "test_fault_ahead.py"]
OF_COMMANDS = ["test_lab_clock.py", "test_lab_command.py", "test_lab_memory.py", "test_work_clock.py"]
CLOCKS = {"real": "--clock real", "time": "--tdf 1 --cpu time", "work": "--tdf 4 --cpu work", "free": "--tdf inf"}
# Work is charged by counters of CPU time on a machine that has none of instructions.
COUNTING = [] if counter.scope() else [sys.executable, time_counter.__file__, counter.PROCESS]
COMPLAINTS = re.compile(r"WARNING:|BUG:|INFO: (possible|suspicious|task)|inconsistent lock state|Call Trace|ODEBUG")
LIMIT_S = 3600
CHECKS = Path(__file__).with_name("debug.config")
SMALL = Path(__file__).with_name("small.config")
NETWORK = Path(__file__).with_name("network.config")
NAPS = Path(__file__).with_name("naps.py")
PATIENCE_S = 300
KUNIT_SUITES = {
    *(f"uml_{name}" for name in ("skip_idle", "idle_poll", "fault_ahead", "work_clock", "hostfs")),
    *(f"uml_{name}_init" for name in ("skip_idle", "idle_poll", "work_clock")),
}
# Linux 7 wants a newer sparse than Debian's for this word alone.
SPARSE = "sparse -D__typeof_unqual__=__typeof__"
SPARSE_SAYS = re.compile(r"^(?:\S*/)?((?:arch/um|fs/hostfs)/\S+):\d+:\d+: (?:warning|error): (.*)$", re.MULTILINE)


def labs_on(series, name, configs=()):
    """Build that kernel in a cache of its own, with links to this machine's image and init; return an environment with it."""
    usual = cache.root()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(usual / name))
        try:
            cache.make("kernel", kernel.key(), partial(kernel._build, sources=carry.packages(series), configs=configs))
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
    return labs_on(request.param, f"linux-{request.param}-checked", [CHECKS])


def run(environment, *words, clock=""):
    words = [*(COUNTING if clock == "work" else ()), sys.executable, *words]
    done = subprocess.run(words, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert done.returncode == 0, (done.stdout + done.stderr)[-5000:]
    return done.stdout


@pytest.fixture(scope="module", params=SERIES)
def source(request, tmp_path_factory):
    """A patched tree, one as it was before, and a log."""
    folder = tmp_path_factory.mktemp(request.param)
    log = folder / "log"
    tree = kernel._unpack(debian.download(carry.packages(request.param), 1, folder, log), folder, log)
    before = folder / "before"
    shutil.copytree(tree, before, symlinks=True)
    kernel._patch(tree, log)
    return tree, before, log


def test_patches_are_as_the_kernels_maintainers_want_them(source, request):
    tree, _, log = source
    series = request.node.callspec.params["source"]
    patches = kernel.read_series(SERIES[series])
    for each in patches:
        (log.parent / each.name).write_text(each.text)
    words = ["perl", "scripts/checkpatch.pl", *CHECKPATCH, *(str(log.parent / each.name) for each in patches)]
    done = subprocess.run(words, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert f"applied the patches for {series}\n" in log.read_text()


def make(tree, log, *words):
    """Runs make in a kernel's tree; returns what it said."""
    cache.run(["make", "ARCH=um", f"-j{os.cpu_count() or 1}", *words], log, f"make {words[-1]}", cwd=tree)


def configure(tree, log, *configs):
    """Configures a kernel with little more than these files ask for."""
    make(tree, log, "tinyconfig")
    cache.run(["scripts/kconfig/merge_config.sh", "-m", ".config", *configs], log, "configuring", cwd=tree)
    make(tree, log, "olddefconfig")


def complaints(tree, log, names):
    """What sparse says about source files of User-Mode Linux, and how often: without where in the file it is."""
    cache.need_programs({"sparse": "sparse"}, "checking the kernel's patches")
    report = log.with_name("sparse.log")
    report.write_text("")
    configure(tree, log, SMALL, NETWORK)
    objects = [str(Path(each).with_suffix(".o")) for each in names if (tree / each).is_file()]
    make(tree, report, "C=2", f"CHECK={SPARSE}", *objects)
    said = report.read_text()
    assert all(f"CHECK   {name}" in said for name in names if (tree / name).is_file()), said[-5000:]
    return Counter(SPARSE_SAYS.findall(said))


def test_sparse_has_no_complaint_that_is_new(source):
    tree, before, log = source
    names = sorted(
        {
            name
            for series in SERIES.values()
            for patch in kernel.read_series(series)
            for name in patch.files
            if name.endswith(".c") and not name.endswith("_test.c") and (tree / name).is_file()
        }
    )
    new = complaints(tree, log, names) - complaints(before, log, names)
    assert not new


@pytest.fixture(scope="module")
def small(source):
    """A small kernel that checks itself, with the patches' own tests."""
    tree, _, log = source
    configure(tree, log, "arch/um/kernel/.kunitconfig", SMALL, CHECKS)
    make(tree, log, "linux")
    return shutil.copy(tree / "linux", tree.parent / "small")


def started(linux, *words, before=(), **more):
    """A kernel's end and output."""
    words = [*before, linux, "mem=512M", "con=null", "con0=null,fd:1", *words]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE_S, **more)


def boot(linux, *words, **more):
    """What a kernel says until it is off."""
    done = started(linux, *words, **more)
    said = done.stdout + done.stderr
    assert "reboot: Power down" in said, said[-5000:]
    assert not COMPLAINTS.search(said), said[-5000:]
    return said


def test_the_patches_own_tests_pass(small):
    said = boot(small, "kunit_shutdown=poweroff", "kunit.filter_glob=uml_*")
    assert set(re.findall(r"^ok \d+ (uml_\w+)", said, re.MULTILINE)) == KUNIT_SUITES, said[-5000:]
    assert "not ok" not in said, said[-5000:]
    assert "SKIP" not in said, said[-5000:]


@pytest.mark.parametrize("system_calls", ["seccomp=off", "seccomp=auto"])  # 6.12 has one way and ignores this
@pytest.mark.parametrize("clock", ["idle-poll=0", "idle-poll=100", "skip-idle", "tdf=10", "work-clock=process"])
def test_who_sleeps_wakes_beside_a_program_that_only_computes(small, clock, system_calls):
    work, before = (["skip-idle"], COUNTING) if clock.startswith("work-clock") else ([], [])
    root = ["root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", f"init={sys.executable}", "kunit.enable=0"]
    assert "200 naps" in boot(small, *root, *work, clock, system_calls, "--", "-B", str(NAPS), before=before)


def test_the_memory_is_in_the_file_that_is_given(small, tmp_path):
    with tempfile.TemporaryFile(dir=tmp_path) as memory:
        fd = memory.fileno()
        said = boot(
            small, f"mem-fd={fd}", "kunit_shutdown=poweroff", "kunit.filter_glob=uml_skip_idle",
            pass_fds=[fd], env={**os.environ, "TMPDIR": str(tmp_path / "nowhere")},
        )  # fmt: skip
        assert "uml_skip_idle" in said
        assert os.fstat(fd).st_size >= 512 * 2**20
        assert os.fstat(fd).st_blocks > 0
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", ["99", "-1", "", "3x", "99999999999"])
def test_memory_in_no_file_is_an_error(small, number):
    done = started(small, f"mem-fd={number}")
    assert done.returncode == 1
    assert f"mem-fd= needs the number of an open file, not '{number}'" in done.stderr


@pytest.mark.parametrize("default", ["x86_64_defconfig", "i386_defconfig"])
def test_who_does_not_choose_ticks_at_100_hz(source, default):
    tree, _, log = source
    make(tree, log, default)
    assert "CONFIG_HZ=100\n" in (tree / ".config").read_text()


def lines(series):
    """What patches say, wherever it is in the files: these move with each release of Debian's."""
    return [(each.name, re.sub(r"(?m)^@@ .*", "@@", each.text)) for each in series]


def test_the_series_are_what_carrying_makes_of_them(tmp_path):
    """They apply to Debian's sources of now with the context that they have, and carry.py may take edits over."""
    first, *others = SERIES
    sides = {each: carry.Side(each, carry.source(each, tmp_path), kernel.read_series(SERIES[each])) for each in SERIES}
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
    assert " passed" in run(environment, "-m", "slownet.cli", *words, clock=clock)


def test_commands_and_clocks_are_right_on_it(environment):
    files = [f"tests/e2e/{each}" for each in OF_COMMANDS]
    assert " passed" in run(environment, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files)


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_kernel_that_checks_itself_finds_nothing(checked, clock):
    files = " ".join(f"tests/lab/{each}" for each in IN_LAB)
    script = f"python -m pytest -q -p no:cacheprovider {files} && dmesg"
    said = run(checked, "-m", "slownet.cli", "lab", "exec", *CLOCKS[clock].split(), "--", "sh", "-c", script, clock=clock)
    assert "Linux version" in said
    assert not COMPLAINTS.search(said), said[-5000:]
