"""Whatever resource a lab lacks, and however it dies, one line says so."""

import re
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import slownet
from conftest import children_of, one_line

from slownet.lab.host import memory
from slownet.lab.run import channel
from slownet.lab.run.clock import INF, Clock
from slownet.lab.run.lab import Share
from slownet.model.errors import LabError

SMALL = ["--memory", "200"]
FULL_DISK = "the lab's disk, three quarters of its 200 MB of memory, is full: raise --memory"
NO_MEMORY = "the lab ran out of its 200 MB of memory: raise --memory"


def with_arguments(kernel, *more):
    """What a lab starts: a kernel with further arguments."""
    return SimpleNamespace(path=kernel.path, arguments=[*kernel.arguments, *more])


def last_line(done):
    """Return the lab's own line, after the command's output."""
    assert done.returncode == 2, done
    line = done.stderr.decode().splitlines()[-1]
    assert line.startswith("slownet: ")
    return line.removeprefix("slownet: ")


def test_a_lab_lives_on_the_least_memory_that_is_allowed(execute):
    assert execute("python3", "-c", "print(6 * 7)", options=["--memory", "160"]).stdout == b"42\n"


def test_memory_is_what_was_asked_for(execute):
    done = execute("sh", "-c", "head -n 1 /proc/meminfo", options=["--memory", "3000"])
    assert 2800 < int(done.stdout.split()[1]) / 1024 < 3000


def test_a_full_disk(execute):
    assert last_line(execute("dd", "if=/dev/zero", "of=/file", "bs=1M", options=SMALL)) == FULL_DISK


def test_a_disk_that_was_full_but_did_not_matter(execute):
    done = execute("sh", "-c", "dd if=/dev/zero of=/file bs=1M; exit 0", options=SMALL)
    assert done.returncode == 0


EAT = "a = []\nwhile True: a.append(bytearray(1 << 20))"


@pytest.mark.parametrize("clock", [["--clock", "real"], ["--tdf", "1"], ["--tdf", "inf"]], ids=" ".join)
def test_too_little_memory(execute, clock):
    assert last_line(execute("python3", "-c", EAT, options=[*SMALL, *clock])) == NO_MEMORY


GROW = """
import decimal, hashlib, json, re, sqlite3
a = [bytearray(100 << 20)]  # half of the lab's memory at once
while True:
    a.append(bytearray(1 << 14))  # and the rest slowly, so that the programs' pages are evicted one by one, and read again
    hashlib.sha256(json.dumps(re.match("a+b", "aaab").span()).encode()), decimal.Decimal(1) / 7
    sqlite3.connect(":memory:").execute("select 1 + 1").fetchall()
"""


@pytest.mark.parametrize("clock", [["--clock", "real"], ["--tdf", "1"]], ids=" ".join)
def test_a_program_whose_pages_are_read_again_and_again(execute, clock):
    assert last_line(execute("python3", "-c", GROW, options=[*SMALL, *clock])) == NO_MEMORY


def test_only_the_program_that_takes_all_memory_is_killed(execute):
    script = f"import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', {GROW!r}]).returncode)"
    done = execute("python3", "-c", script, options=SMALL)
    assert (done.returncode, done.stdout) == (0, b"-9\n"), done


def test_a_program_whose_pages_are_read_again_and_again_while_the_clock_stands_still(built):
    lab = built.lab(Clock("virtual", INF), megabytes=200)
    lab.kernel = with_arguments(lab.kernel, "tdf-watchdog=20")  # of which the memory is full after one or two
    with pytest.raises(LabError) as error:
        lab.run(["python3", "-c", GROW])
    assert str(error.value) == NO_MEMORY


MAPPINGS = int(Path("/proc/sys/vm/max_map_count").read_text())
# The kernel maps four pages at once, so that each second four stay a hole; and more if the page before is written, as the one
# before the memory's first may be.
EVERY_OTHER_PIECE = f"""
import mmap
memory = mmap.mmap(-1, 8 * {MAPPINGS + 100} * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for i in range({MAPPINGS + 100}):
    memory[(8 * i + 4) * mmap.PAGESIZE] = 1
"""


@pytest.mark.skipif(MAPPINGS > 200_000, reason="this machine allows more mappings than a lab has pages")
@pytest.mark.parametrize("clock", [["--clock", "real"], ["--tdf", "1"], ["--tdf", "inf"]], ids=" ".join)
def test_more_pieces_of_memory_than_the_host_maps(execute, clock):
    assert last_line(execute("python3", "-c", EVERY_OTHER_PIECE, options=["--memory", "2400", *clock])) == (
        f"a program in the lab has memory in more separate pieces than this machine allows, {MAPPINGS}: it was ended: "
        "sudo sysctl -w vm.max_map_count=1048576"
    )


BOMB = "f() { f | f & }; f; sleep 5"
NO_PROCESSES = (
    "the lab ran out of room for processes, one thread for each 512 kB of its 200 MB of memory: raise --memory, or start fewer"
)


@pytest.mark.parametrize("clock", [["--clock", "real"], ["--tdf", "inf"]], ids=" ".join)
def test_a_fork_bomb(execute, clock):
    until_it_is_full = BOMB.replace("sleep 5", "sleep 20") if "real" in clock else BOMB  # of seconds of a busy machine
    assert last_line(execute("bash", "-c", f"{until_it_is_full}; exit 1", options=[*SMALL, *clock])) in (
        NO_PROCESSES,
        NO_MEMORY,
    )


GIVE_UP = """
import os, sys, time
if os.fork() == 0:
    while True:
        try:
            if os.fork() == 0:
                time.sleep(1)
                os._exit(1)
        except OSError:
            os._exit(1)
time.sleep(3)
sys.exit(1)
"""


def test_processes_that_ended_before_the_command_did(execute):
    assert last_line(execute("python3", "-c", GIVE_UP, options=[*SMALL, "--tdf", "inf"])) == NO_PROCESSES


PUT_OUT = f"""
import os, subprocess, time
def threads():
    return int(open("/proc/loadavg").read().split()[3].partition("/")[2])
subprocess.Popen(["bash", "-c", "{BOMB}"])
time.sleep(5)
full = threads()
os.kill(-1, 9)
time.sleep(1)
print(full, threads(), subprocess.check_output(["echo", "on"], text=True))
"""


def test_a_lab_in_which_a_bomb_was_put_out_goes_on(execute):
    done = execute("python3", "-c", PUT_OUT, options=["--memory", "512"])
    assert done.returncode == 0, done
    full, after, on = done.stdout.split()
    assert int(full) > 900 > 100 > int(after)
    assert on == b"on"


FORKS = {
    "a shell's": f"subprocess.run(['bash', '-c', '{BOMB}'])",
    "of threads": "while True:\n            threading.Thread(target=time.sleep, args=(1e6,)).start()",
    "of its own": "while True:\n            os.fork()",
    "a child that comes back": "os.fork()",
}
FORKING = """
import os
import subprocess
import threading
import time

from slownet.hypotheses.experiment import experiment
from slownet.topologies import TwoHosts


@experiment(topology=TwoHosts, vary={"rtt": ["0ms", "10ms", "20ms"]}, tdf="inf", unit="ms")
def forking(net, rtt):
    if rtt == "10ms":
        CODE
    return [1.0, 2.0]
"""


@pytest.mark.parametrize("kind", ["a shell's", *(pytest.param(kind, marks=pytest.mark.long) for kind in list(FORKS)[1:])])
def test_a_measuring_function_with_a_fork_bomb_is_named(built, tmp_path, kind):
    (tmp_path / "forking.py").write_text(FORKING.replace("CODE", FORKS[kind]))
    done = slownet("run", "./forking.py", "--repeat", "1", "--place", "lab", "--memory", "400", cwd=tmp_path)
    (run,) = (tmp_path / "runs").iterdir()
    samples = (run / "samples.jsonl").read_text().splitlines()
    if kind == "a child that comes back":
        assert (done.returncode, len(samples)) == (0, 3), done
        return
    assert (done.returncode, len(samples)) == (2, 1), done
    assert done.stderr.splitlines()[-1] == (
        "slownet: forking left no room for processes in cell rtt 10ms, as a fork bomb does: "
        "start fewer processes, or end them; --memory makes room"
    )


def test_memory_and_disk_together_are_too_much(execute):
    script = f"dd if=/dev/zero of=/file bs=1M count=100 2>/dev/null; exec python3 -c '{EAT}'"
    assert last_line(execute("sh", "-c", script, options=SMALL)) == NO_MEMORY


def test_a_lab_with_much_memory_uses_little_of_the_hosts(execute):
    with execute.start("sh", "-c", "echo ready; read line", options=["--memory", "8000"], stdin=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        with open(f"/proc/{children_of(process.pid)[0]}/status") as status:
            used = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
        process.send_signal(signal.SIGTERM)
        process.wait()
    assert used < 400 * 1024


def test_a_kernel_that_panics(built):
    # Without its first process the kernel panics; every other panic is handled alike.
    lab = built.lab(Clock("virtual", 1))
    lab.kernel = with_arguments(lab.kernel, "rdinit=/nosuch", "root=/dev/nosuch")
    with pytest.raises(LabError, match=r"^the lab's kernel panicked: VFS: Unable to mount root fs on "):
        lab.run(["true"])


def test_a_command_that_powers_the_lab_off(execute):
    script = "import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)"
    assert one_line(execute("python3", "-c", script)) == "the command powered the lab off"


def test_a_clock_that_stands_still(built):
    lab = built.lab(Clock("virtual", INF))
    lab.kernel = with_arguments(lab.kernel, "tdf-watchdog=3")
    with pytest.raises(LabError) as error:
        lab.run(["python3", "-c", "while True: pass"])
    assert re.fullmatch(
        r"the lab's clock stood still for 3 s while python3 was busy, in \d+ system calls, the last number \d+: "
        "with --tdf inf a busy program takes no virtual time: give its links a rate, or use a number or --clock real",
        str(error.value),
    )


def test_a_command_for_which_there_is_no_process(built):
    lab = built.lab(Clock())
    lab.kernel = with_arguments(lab.kernel, "sysctl.kernel.threads-max=20")
    with pytest.raises(LabError, match=r"^cannot start a process for the command: Resource temporarily unavailable: the lab"):
        lab.run(["true"])


def test_more_input_than_there_is_room_for(built, monkeypatch, tmp_path):
    (tmp_path / "input").write_bytes(bytes(200_000))  # more than a pipe holds
    more = 500  # than the lab's buffer, but not enough to throttle the line
    monkeypatch.setattr(channel, "WINDOW_BYTES", channel.WINDOW_BYTES + more)
    with (
        open(tmp_path / "input", "rb") as file,
        pytest.raises(LabError, match=r"^\d+ bytes of input where there is room for \d+: the lab was stopped$"),
    ):
        built.lab(Clock()).run(["sleep", "1000"], stdin=file.fileno())


def test_a_share_that_is_not_there(built):
    lab = built.lab(Clock(), shares=[Share(Path("/nosuch/folder"))])
    with pytest.raises(LabError, match=r"^cannot mount the host's /nosuch/folder on /nosuch/folder: "):
        lab.run(["true"])


def test_an_image_that_is_not_there(built):
    lab = built.lab(Clock())
    lab.image = Path("/nosuch/image")
    with pytest.raises(LabError, match=r"^cannot start the lab: No such file or directory, /nosuch/image$"):
        lab.run(["true"])


def test_an_image_that_is_none(built, tmp_path):
    lab = built.lab(Clock())
    lab.image = tmp_path / "image"
    lab.image.write_bytes(bytes(1 << 20))
    line = r"^cannot mount /dev/ubda \(squashfs\) on /image: Invalid argument: the lab was stopped$"
    with pytest.raises(LabError, match=line):
        lab.run(["true"])


def test_labs_started_at_once_wait_for_memory_and_say_so(built, monkeypatch, capfd):
    # With the labs of other tests, and the machine's own memory, left out: there is room for two of these.
    megabytes, look = 217, memory._running
    monkeypatch.setattr(memory, "_running", lambda each: found if (found := look(each)) and found.given == megabytes else None)
    monkeypatch.setattr(memory, "available", lambda: 2 * megabytes + 100 - memory_used(look, megabytes))
    most = []

    def run(number):
        def started(data):
            most.append(len(memory.examine().running))

        return built.lab(Clock("real"), megabytes=megabytes).run(["sh", "-c", "echo up; sleep 1"], stdout=started)

    with ThreadPoolExecutor(4) as labs:
        assert list(labs.map(run, range(4))) == [0, 0, 0, 0]
    assert len(most) == 4
    assert max(most) <= 2
    said = capfd.readouterr().err.splitlines()
    assert len(said) >= 2
    assert all(
        re.fullmatch(r"slownet: [12] labs? runs? here, and no room is left for 217 MB: waiting until one ends", each)
        for each in said
    )


def memory_used(look, megabytes):
    """Return what labs of that memory have taken."""
    found = (look(folder) for folder in memory.PROC.glob("[0-9]*"))
    return sum(each.used for each in found if each and each.given == megabytes)
