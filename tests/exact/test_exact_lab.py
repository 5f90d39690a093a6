"""`slownet lab exec --clock exact`: the same digits each time, and all that a command has in any other lab."""

import contextlib
import itertools
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from needs_qemu import needs_qemu

from slownet.lab.build import cache
from slownet.lab.exact import emulator, standstill
from slownet.lab.exact.exact import LONGEST

pytestmark = needs_qemu
SLOWNET = [sys.executable, "-m", "slownet.cli"]
TIMED = """
import hashlib, subprocess, time

def timed(what):
    began = time.monotonic_ns()
    what()
    print(time.monotonic_ns() - began)

timed(lambda: sum(range(100_000)))
timed(lambda: time.sleep(100))
times = hashlib.md5()
for _ in range(3000):
    time.sleep(0.0037)
    times.update(str(time.monotonic_ns()).encode())
print(times.hexdigest())
for line in '''netns add a
netns add b
link add va netns a type veth peer name vb netns b
-n a addr add 10.0.0.1/24 dev va
-n b addr add 10.0.0.2/24 dev vb
-n a link set va up
-n b link set vb up'''.splitlines():
    subprocess.run(["ip", *line.split()], check=True)
for name in "ab":
    words = ["ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", f"v{name}", "root", "netem", "delay", "5ms"]
    subprocess.run(words, check=True)
ping = ["ip", "netns", "exec", "a", "ping", "-c", "4", "-i", "0.2", "10.0.0.2"]
print(subprocess.run(ping, check=True, capture_output=True, text=True).stdout)
print(open("/dev/urandom", "rb").read(8).hex())
"""


def with_cache(folder: Path) -> dict[str, str]:
    """Return the environment of a command whose cache of its own has no snapshot yet."""
    return {**os.environ, "XDG_CACHE_HOME": str(folder), "SLOWNET_SYSTEM_CACHE": str(cache.root())}


def snapshots(folder: Path) -> list[Path]:
    return [each for each in (folder / "slownet" / standstill.KIND).glob("[!.]*") if each.is_dir()]


def exact(*words: str, cwd: Path, **how: object) -> subprocess.CompletedProcess[str]:
    argv = [*SLOWNET, "lab", "exec", "--clock", "exact", *words]
    return subprocess.run(argv, cwd=cwd, capture_output=True, text=True, timeout=900, check=False, **{"stdin": -3, **how})


@contextlib.contextmanager
def hog():
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        busy.kill()
        busy.wait()


@contextlib.contextmanager
def disturbed():
    """Let each thread of emulators have its turn sooner and later than it would, as on a machine with much else to do."""

    def disturb() -> None:
        policies = itertools.cycle([os.SCHED_IDLE, os.SCHED_OTHER, os.SCHED_BATCH])
        while not over.wait(0.02):
            for thread in threads_of_emulators():
                with contextlib.suppress(OSError):
                    os.sched_setscheduler(thread, next(policies), os.sched_param(0))

    over = threading.Event()
    disturber = threading.Thread(target=disturb)
    disturber.start()
    try:
        with hog(), hog():
            yield
    finally:
        over.set()
        disturber.join()


def threads_of_emulators() -> Iterator[int]:
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if emulator.NAME.encode() in (process / "cmdline").read_bytes().split(b"\0"):
                yield from (int(each.name) for each in (process / "task").iterdir())


def test_times_of_a_loop_a_sleep_and_a_ping_are_the_same_digits_three_times(tmp_path):
    (tmp_path / "timed.py").write_text(TIMED)
    runs = [exact("--", "python", "timed.py", cwd=tmp_path) for _ in range(2)]
    with hog():
        runs.append(exact("--", "python", "timed.py", cwd=tmp_path))
    assert [(each.returncode, each.stderr) for each in runs] == [(0, "")] * 3
    assert len({each.stdout for each in runs}) == 1
    loop, slept = map(int, runs[0].stdout.split()[:2])
    assert 0 < loop < 1e9
    assert 0 <= slept - 100e9 < 1e6
    times = [float(each) for each in re.findall(r"time=([\d.]+) ms", runs[0].stdout)]
    assert len(times) == 4
    assert all(10 <= each < 10.1 for each in times[1:])  # the first one has to ask for the address


def test_hosts_have_what_those_of_the_virtual_clock_have_or_it_is_named():
    root = Path(__file__).parents[2]
    tests = ["tests/lab/test_kernel_features.py", "tests/lab/test_multicast.py"]
    done = exact("--", "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, cwd=root)
    assert done.returncode == 0, done.stdout
    assert "wireguard" in done.stderr
    assert "--clock virtual --kernel wide" in done.stderr


def test_digits_are_the_same_from_another_snapshot_and_where_none_can_be_kept(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work/timed.py").write_text(TIMED)
    runs = []
    for name in ("own", "own", "of another", "full"):
        (tmp_path / name).mkdir(exist_ok=True)
        if name == "full":
            (tmp_path / name / "slownet").mkdir()
            (tmp_path / name / "slownet" / standstill.KIND).touch()
        env = with_cache(tmp_path / name)
        if name == "of another":
            (tmp_path / name / "file").write_bytes(bytes(range(256)) * 4096)
            assert exact("--", "true", "of another length", cwd=tmp_path / name, env=env).returncode == 0
        runs.append(exact("--", "python", "timed.py", cwd=tmp_path / "work", env=env))
    assert [each.returncode for each in runs] == [0, 0, 0, 0]
    assert len({each.stdout for each in runs}) == 1
    assert [each.stderr for each in runs[:3]] == ["", "", ""]
    assert runs[3].stderr.startswith("slownet: the lab has to boot, because its snapshot cannot be kept: ")
    assert len(runs[3].stderr.splitlines()) == 1
    assert len(snapshots(tmp_path / "own")) == 1


LATER = """
import hashlib, time
from slownet.lab.exact import later

later.told()
times = hashlib.md5()
for _ in range(3000):
    time.sleep(0.0037)
    times.update(str(time.monotonic_ns()).encode())
print(times.hexdigest())
"""
SEES_STATES = """
import os
from slownet.lab.exact import exact

def seen(state, put_back=exact.at_its_stop):
    with open(os.environ["STATES"], "a") as file:
        print(exact.moved_on(state), file=file)
    return put_back(state)

exact.at_its_stop = seen
"""
ASKS = """
import sys
from slownet.lab.run.clock import ClockRequest
from slownet.lab.run.place import choose

place = choose("lab", ClockRequest("exact"), exact=True)
for later in sys.argv[2:]:
    place.run([place.python, "-c", sys.argv[1]], later=later, stdout=lambda data: sys.stdout.buffer.write(data))
"""


def test_digits_do_not_depend_on_what_another_run_was_told_that_made_the_snapshot(tmp_path):
    found = []
    for name, told in (("own", ["short"]), ("of another", ["long" * 1000, "short"])):
        env = with_cache(tmp_path / name)
        words = [sys.executable, "-c", ASKS, LATER, *told]
        done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=900, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        found.append(done.stdout.splitlines())
        assert len(snapshots(tmp_path / name)) == 2
    (own,), (_, others) = found
    assert own == others


def test_digits_do_not_depend_on_which_of_an_emulators_threads_was_the_first_to_stop(tmp_path):
    found, moved = [], []
    for name in ("calm", "a", "b"):
        env = with_cache(tmp_path / name) | {"STATES": str(tmp_path / f"{name}.states")}
        words = [sys.executable, "-c", SEES_STATES + ASKS, LATER, "short"]
        with disturbed() if name != "calm" else contextlib.nullcontext():
            done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=900, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        found.append(done.stdout)
        moved += [int(each) for each in (tmp_path / f"{name}.states").read_text().split()]
    assert len(moved) == 6
    assert all(0 <= each < LONGEST for each in moved)
    assert len(set(found)) == 1


def test_output_errors_status_input_and_shares(tmp_path):
    for each in ("work", "read", "write"):
        (tmp_path / each).mkdir()
    (tmp_path / "read/file").write_text("to read\n")
    (tmp_path / "write/changed").write_text("old\n")
    (tmp_path / "write/removed").write_text("old\n")
    (tmp_path / "input").write_text("from the input\n" * 1000)
    script = """
        cat ../read/file; echo to errors >&2; wc -l
        echo no >../read/file || echo refused
        cd ../write; echo new >changed; rm removed; mkdir -m 750 folder; seq 100000 >folder/numbers; ln -s changed link
        exit 7
    """
    with (tmp_path / "input").open() as given:
        done = exact("--share", str(tmp_path / "read"), "--share", f"{tmp_path / 'write'}:rw", "--", "sh", "-c", script,
                     cwd=tmp_path / "work", stdin=given)  # fmt: skip
    assert done.returncode == 7
    assert done.stdout.split() == ["to", "read", "1000", "refused"]
    assert done.stderr.startswith("to errors\n")
    written = tmp_path / "write"
    assert sorted(each.name for each in written.iterdir()) == ["changed", "folder", "link"]
    assert (written / "changed").read_text() == "new\n"
    assert (written / "folder/numbers").read_text() == "".join(f"{each}\n" for each in range(1, 100_001))
    assert (written / "folder").stat().st_mode & 0o777 == 0o750
    assert (written / "link").readlink() == Path("changed")
    assert (tmp_path / "read/file").read_text() == "to read\n"


def test_a_panic_is_one_line(tmp_path):
    done = exact("--", "sh", "-c", "echo c >/proc/sysrq-trigger", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "slownet: the lab's kernel panicked: sysrq triggered crash\n"


def test_a_command_that_waits_for_ever_is_ended_and_named(tmp_path):
    done = exact("--limit", "100s", "--", "sleep", "1000", cwd=tmp_path)
    assert done.returncode == 2
    assert "the command said nothing for 100 s of the lab's clock; what waits: sleep in clock_nanosleep" in done.stderr


def test_a_command_that_never_idles_is_ended_and_named(tmp_path):
    done = exact("--limit", "2s", "--", "python", "-c", "while True: pass", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("slownet: the command said nothing for 2 s of the lab's clock")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("megabytes", ["400", "500"])  # pages of programs were read again for hours, so nothing was killed
def test_memory_that_runs_out_is_one_line(tmp_path, megabytes):
    done = exact("--memory", megabytes, "--", "tail", "/dev/zero", cwd=tmp_path)
    assert done.returncode == 2
    assert f"the lab ran out of its {megabytes} MB of memory" in done.stderr


def test_a_shell_is_refused(tmp_path):
    near, far = os.openpty()
    argv = [*SLOWNET, "lab", "shell", "--clock", "exact"]
    done = subprocess.run(argv, cwd=tmp_path, stdin=far, capture_output=True, text=True, timeout=300, check=False)
    os.close(near)
    os.close(far)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "slownet: only `slownet run`, `check`, `sweep`, "
        "`hunt`, `reproduce`, `lab exec` and tests have the exact clock, --clock exact: "
    )
    assert len(done.stderr.splitlines()) == 1


def test_the_emulator_reaches_nothing_of_the_host_but_its_files(tmp_path):
    argv = [*SLOWNET, "lab", "exec", "--clock", "exact", "--", "python", "-c", "print(1, flush=True)\nwhile True: pass"]
    lab = subprocess.Popen(argv, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert lab.stdout
        assert lab.stdout.readline() == b"1\n"
        (emulator,) = [int(each) for each in Path(f"/proc/{lab.pid}/task/{lab.pid}/children").read_text().split()]
        status = Path(f"/proc/{emulator}/status").read_text()
        assert "qemu-system" in Path(f"/proc/{emulator}/cmdline").read_text()
        assert re.search(r"^NoNewPrivs:\t1$", status, re.MULTILINE)
        assert re.search(r"^Seccomp:\t2$", status, re.MULTILINE)
        capabilities = int(re.search(r"^CapEff:\t([0-9a-f]+)$", status, re.MULTILINE)[1], 16)
        assert not capabilities >> 21 & 1  # CAP_SYS_ADMIN
        sockets = [link for each in Path(f"/proc/{emulator}/fd").iterdir() if (link := os.readlink(each)).startswith("socket:")]
        assert sockets == []
        lab.send_signal(signal.SIGINT)
        assert lab.wait(60) == 128 + signal.SIGINT
        deadline = time.monotonic() + 30
        while Path(f"/proc/{emulator}").exists():
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        lab.kill()
        lab.communicate()


def test_no_emulator_is_one_line(tmp_path):
    names = [each for each in os.environ["PATH"].split(os.pathsep) if not (Path(each) / "qemu-system-x86_64").exists()]
    done = exact("true", cwd=tmp_path, env={**os.environ, "PATH": os.pathsep.join(names)})
    assert done.returncode == 2
    assert done.stderr == (
        "slownet: the exact clock needs QEMU (qemu-system-x86_64), which is not installed: apt-get install qemu-system-x86\n"
    )


@pytest.mark.parametrize("words", [["--tdf", "inf"], ["--cpu", "work"]])
def test_what_means_nothing_on_the_exact_clock_is_one_line(tmp_path, words):
    done = exact(*words, "true", cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "exact clock" in done.stderr
