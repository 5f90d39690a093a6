"""The lab's clocks as seen by programs. Nothing here asserts the speed of the host."""

import json
import math
import time

import pytest
from scapy.utils import RawPcapReader

CLOCKS = {"auto": [], "1": ["--tdf", "1"], "4": ["--tdf", "4"], "inf": ["--tdf", "inf"]}

STEP_S = 256e-9  # the clock of User-Mode Linux goes by these

# Runs `body`, which fills `found`, and prints that.
PROGRAM = """
import json, os, select, socket, subprocess, sys, threading, time
found = {{}}
def took(name, run):
    start = time.monotonic()
    run()
    found[name] = time.monotonic() - start
{body}
print(json.dumps(found))
"""


def run(execute, body, options):
    done = execute("python3", "-c", PROGRAM.format(body=body), options=options)
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


@pytest.mark.parametrize("options", CLOCKS.values(), ids=CLOCKS)
def test_a_thousand_seconds_pass_for_the_guest_alone(execute, options):
    start = time.monotonic()
    done = execute(
        "sh", "-c", "cut -d' ' -f1 /proc/uptime; date +%s; sleep 1000; cut -d' ' -f1 /proc/uptime; date +%s", options=options
    )
    wall = time.monotonic() - start
    up, date, up_after, date_after = map(float, done.stdout.split())
    assert 1000 <= up_after - up < 1000 + wall + 0.1
    assert 1000 <= date_after - date + 1 < 1002 + wall
    assert wall < 500


def test_the_real_clock_waits(execute):
    start = time.monotonic()
    found = run(execute, 'took("sleep", lambda: time.sleep(1))', ["--clock", "real"])
    assert time.monotonic() - start >= 1
    assert found["sleep"] >= 1


def test_the_real_clocks_calendar_is_the_hosts(execute):
    before = time.time()
    done = execute("date", "+%s.%N", options=["--clock", "real"])
    assert before - 1 < float(done.stdout) < time.time() + 1


# The instruction rdtsc as a function, with its result in one register.
COUNTS = """
import ctypes, mmap
from pathlib import Path
code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("0f31 48c1e220 4809d0 c3"))
count = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
counted, start = count(), time.monotonic()
time.sleep(0.5)
found["measured"] = (count() - counted) / (time.monotonic() - start) / 1000
found["told"] = int(Path("/sys/devices/system/cpu/cpu0/tsc_freq_khz").read_text())
"""


def test_programs_are_told_how_fast_the_time_stamp_counter_counts(execute):
    found = run(execute, COUNTS, ["--clock", "real"])
    assert found["told"] == pytest.approx(found["measured"], rel=0.01)


WAITS = """
took("sleep", lambda: time.sleep(0.25))
took("select", lambda: select.select([], [], [], 0.25))
poll = select.poll()
took("poll", lambda: poll.poll(250))
with select.epoll() as epoll:
    took("epoll", lambda: epoll.poll(0.25))
lock = threading.Lock()
lock.acquire()
took("futex", lambda: lock.acquire(timeout=0.25))
a, b = socket.socketpair()
a.settimeout(0.25)
def receive():
    try: a.recv(1)
    except TimeoutError: pass
took("socket", receive)
import ctypes, struct
libc = ctypes.CDLL(None)
fd = libc.timerfd_create(1, 0)
def expire():
    libc.timerfd_settime(fd, 0, struct.pack("qqqq", 0, 0, 0, 250_000_000), None)
    os.read(fd, 8)
took("timerfd", expire)
a.settimeout(None)
def thread():
    threading.Timer(0.25, lambda: b.send(b"x")).start()
    a.recv(1)
took("thread", thread)
took("process", lambda: subprocess.run(["sleep", "0.25"]))
import signal
signal.signal(signal.SIGALRM, lambda number, frame: None)
def alarm():
    signal.setitimer(signal.ITIMER_REAL, 0.25)
    signal.pause()
took("alarm", alarm)
"""


@pytest.mark.parametrize("options", [*CLOCKS.values(), ["--clock", "real"]], ids=[*CLOCKS, "real"])
def test_every_way_to_wait_takes_its_time(execute, options):
    found = run(execute, WAITS, options)
    assert len(found) == 10
    late = 0.01 if options == CLOCKS["inf"] else 100
    assert {name: seconds for name, seconds in found.items() if not 0.25 - STEP_S <= seconds < 0.25 + late} == {}


BUSY = """
def count():
    for _ in range(300_000): pass
took("loop", count)
took("fork", lambda: [subprocess.run(["true"]) for _ in range(5)])
a, b = socket.socketpair()
def serve():
    while data := b.recv(1): b.send(data)
if not (pid := os.fork()):
    a.close()
    serve()
    os._exit(0)
b.close()
def ping_pong():
    for _ in range(1000):
        a.send(b"x")
        a.recv(1)
took("ping-pong", ping_pong)
a.close()
os.waitpid(pid, 0)
read = "cat /usr/lib/python3/dist-packages/*/*.py /usr/share/perl/*/*.pm /usr/bin/* > /dev/null"
took("disk", lambda: subprocess.run(["sh", "-c", read], stderr=subprocess.DEVNULL))
"""


def test_the_time_that_work_takes_is_no_more_than_passes(execute):
    wall = time.monotonic()
    took = run(execute, BUSY, [*CLOCKS["1"], "--cpu", "time"])  # work takes the reference computer's time
    wall = time.monotonic() - wall
    assert sum(took.values()) < wall


def test_work_takes_time_divided_by_the_factor(execute):
    one = run(execute, BUSY, CLOCKS["1"])
    assert all(seconds > 0 for seconds in one.values())
    many = run(execute, BUSY, ["--tdf", "1000"])
    # 1000 times faster if the host had the same speed both times: a hundred leaves a margin.
    assert all(many[name] < one[name] / 100 + 1e-4 for name in one), (one, many)


def test_work_takes_no_time_at_inf(execute):
    found = run(execute, BUSY, CLOCKS["inf"])
    # A microsecond for each read of the clock and each unsuccessful poll, and nothing for disk access.
    assert {name: seconds for name, seconds in found.items() if seconds > 0.0001} == {}


def test_at_inf_two_runs_tell_the_same_time(execute):
    body = WAITS + BUSY + "found['end'] = time.monotonic()\nfound['date'] = time.time()"
    assert run(execute, body, CLOCKS["inf"]) == run(execute, body, CLOCKS["inf"])


def test_at_inf_a_timer_comes_at_its_nanosecond_whatever_came_before(execute):
    body = f"""
fd = os.timerfd_create(time.CLOCK_MONOTONIC)
def late(due):
    os.timerfd_settime_ns(fd, flags=os.TFD_TIMER_ABSTIME, initial=due)
    os.read(fd, 8)
    return time.monotonic_ns() - due
now, step = time.monotonic_ns(), {round(STEP_S * 1e9)}
found["phase"] = now % step
found["late"] = [late(now + n * 1000 * step) for n in range(1, 201)]
"""
    assert run(execute, body, CLOCKS["inf"]) == {"phase": 0, "late": [0] * 200}


# 10 MiB over 100 ms with 10 % loss take more than four virtual minutes.
TRANSFER = """
import sys
from pathlib import Path
from slownet.net.network import Network
from slownet.net.interface_captures import Capture
from slownet.services.files import FileServer
from slownet.tools.wget import wget
from slownet.topologies import TwoHosts

folder = Path(sys.argv[1])
with Network(TwoHosts) as net, FileServer(net, folder, length="10MiB") as files:
    with net.link("server", "client").set(delay_up="100ms", loss_up="10%", seed=1):
        interface = net["client"].defaultIntf().name
        with Capture(net["client"], interface, folder / "client.pcap", filter="tcp", snaplen=80):
            print(wget(net["client"], files.url).seconds)
"""


def test_at_inf_a_long_transfer_with_loss_is_the_same_packet_by_packet(execute):
    def transferred(name):
        folder = execute.folder / name
        folder.mkdir()
        done = execute("python", "-c", TRANSFER, str(folder), options=[*CLOCKS["inf"], "--share", f"{folder}:rw"])
        assert (done.returncode, done.stderr) == (0, b"")
        with RawPcapReader(str(folder / "client.pcap")) as frames:  # ports and sequence numbers should differ
            return float(done.stdout), [(meta.sec, meta.usec, meta.wirelen) for _, meta in frames]

    (first_s, first), (again_s, again) = transferred("first"), transferred("again")
    assert 200 < first_s < 350
    assert len(first) > 10_000
    parted = [pair for pair in zip(first, again, strict=False) if pair[0] != pair[1]]
    assert parted[:1] == []
    assert (first_s, len(first)) == (again_s, len(again))


def test_at_inf_a_loop_that_waits_for_the_clock_ends(execute):
    body = """
def until(now):
    end = now() + 0.01
    while now() < end: pass
took("monotonic", lambda: until(time.monotonic))
took("time", lambda: until(time.time))
took("perf_counter", lambda: until(time.perf_counter))
def poll():
    timer = threading.Timer(0.005, lambda: None)
    timer.start()
    while timer.is_alive(): os.sched_yield()
took("yield", poll)
"""
    found = run(execute, body, CLOCKS["inf"])
    assert 0.0099 < found["monotonic"] < 0.0102
    assert 0.0099 < found["time"] < 0.0102
    assert 0.0099 < found["perf_counter"] < 0.0102
    assert 0.0049 < found["yield"] < 0.02


def test_at_inf_a_program_that_reads_the_clock_itself_reads_what_the_kernel_would_tell(execute):
    body = """
import ctypes
libc = ctypes.CDLL(None)
def read(name, of, *words):
    value = (ctypes.c_long * 2)()
    assert of(*words, value, None) == 0
    return name, value[0] * 10**9 + value[1] * (1000 if "day" in name else 1)
ways = [
    ("itself", lambda: read("monotonic", libc.clock_gettime, time.CLOCK_MONOTONIC)),
    ("kernel", lambda: read("monotonic", libc.syscall, 228, time.CLOCK_MONOTONIC)),
    ("itself", lambda: read("realtime", libc.clock_gettime, time.CLOCK_REALTIME)),
    ("kernel", lambda: read("realtime", libc.syscall, 228, time.CLOCK_REALTIME)),
    ("itself", lambda: read("day", libc.gettimeofday)),
    ("kernel", lambda: read("day", libc.syscall, 96)),
    ("kernel", lambda: read("boot", libc.syscall, 228, time.CLOCK_BOOTTIME)),
    ("itself", lambda: read("boot", libc.clock_gettime, time.CLOCK_BOOTTIME)),
]
found["read"] = [(way, *how()) for _ in range(2000) for way, how in ways]
asked = ((libc.clock_gettime, ()), (libc.syscall, (228,)))
found["coarse"] = [read("coarse", of, *words, clock)[1] for clock in (5, 6) for of, words in asked]
found["time"] = [libc.time(None), libc.syscall(201, None)]
"""  # fmt: skip
    found = run(execute, body, CLOCKS["inf"])
    first = {}
    for number, (way, name, ns) in enumerate(found["read"]):
        start = first.setdefault(name, ns - 1000 * number)
        assert abs(ns - 1000 * number - start) < (1000 if name == "day" else 256), (number, way, name)
    assert found["coarse"][0] == found["coarse"][1]
    assert found["coarse"][2] == found["coarse"][3]
    assert found["time"][0] == found["time"][1]


def test_at_inf_a_program_reads_the_clock_itself(execute):
    body = """
import ctypes, struct
libc = ctypes.CDLL(None)
# From now on the kernel refuses clock_gettime, 228 of x86-64.
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 228), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
filter = b"".join(struct.pack("HBBI", *step) for step in steps)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, struct.pack("HxxxxxxP", len(steps), ctypes.cast(filter, ctypes.c_void_p).value)) == 0
value = (ctypes.c_long * 2)()
def refused(clock):
    return libc.clock_gettime(clock, value) != 0 and libc.sched_yield() == 0  # the call that ends the slice is not that one
found["refused"] = sum(refused(clock) for _ in range(1000) for clock in (0, 1, 4, 5, 6, 7))
found["kernel"] = libc.syscall(228, 1, value)
"""
    found = run(execute, body, CLOCKS["inf"])
    # The kernel is asked when a timer is due, and at the end of each time slice of 4000 calls.
    assert found["refused"] < 20
    assert found["kernel"] == -1


def test_at_inf_a_timer_interrupts_a_loop_that_only_reads_the_clock(execute):
    body = """
import signal
def rings(number, frame): found["rang"] = time.monotonic() - began
signal.signal(signal.SIGALRM, rings)
for delay in (0.0001, 0.0123, 0.05):
    began = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, delay)
    while "rang" not in found: time.monotonic()
    found[str(delay)] = found.pop("rang")
"""
    for delay, rang in run(execute, body, CLOCKS["inf"]).items():
        assert float(delay) < rang < float(delay) + 1e-5


def test_at_inf_programs_that_only_read_the_clock_share_the_cpu(execute):
    body = """
here, there = os.pipe()
ends = time.monotonic() + 1
if not os.fork():
    while time.monotonic() < ends: pass
    os.write(there, b"1")
    os._exit(0)
reads = 0
while time.monotonic() < ends: reads += 1
found["reads"] = reads
os.wait()
"""
    # Both together read a million times in a second.
    assert 300_000 < run(execute, body, CLOCKS["inf"])["reads"] < 700_000


LINK = """
ip netns add far
ip link add near type veth peer name eth netns far
ip address add 10.0.0.1/24 dev near
ip -n far address add 10.0.0.2/24 dev eth
ip link set near up
ip -n far link set eth up
tc qdisc add dev near root netem delay 20ms
tc -n far qdisc add dev eth root netem delay 30ms
for i in $(seq 50); do ping -q -c 1 -W 1 10.0.0.2 > /dev/null && break; done
ping -c 20 -i 0.2 10.0.0.2
"""


@pytest.mark.parametrize(("options", "margin_ms"), [(CLOCKS["inf"], 0.1), (CLOCKS["auto"], 2)], ids=["inf", "auto"])
def test_a_link_delays_as_it_was_told(execute, options, margin_ms):
    done = execute("sh", "-ec", LINK, options=options)
    times = [float(line.split("time=")[1].split()[0]) for line in done.stdout.decode().splitlines() if "time=" in line]
    assert len(times) == 20, done
    # The median, because a busy host occasionally adds time to a packet.
    median = sorted(times)[10]
    assert 50 <= median <= 50 + margin_ms
    if options == CLOCKS["inf"]:
        assert all(math.isclose(each, 50, abs_tol=0.1) for each in times)


def test_labs_with_the_same_clock_start_at_the_same_date(execute):
    assert execute("date", "+%s", options=CLOCKS["inf"]).stdout == execute("date", "+%s", options=CLOCKS["inf"]).stdout


def test_the_factor_is_the_one_that_was_measured(execute, built):
    from slownet.lab.run.place import charged

    done = execute("sh", "-c", "cat /proc/cmdline; echo $SLOWNET_LAB")
    assert f"skip-idle tdf={charged(built)['tdf']}".encode() in done.stdout
