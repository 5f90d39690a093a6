"""`make bench`: measures the project's performance and prints it next to the targets. Asserts nothing."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import bench_against
import bench_calls
import bench_growth
import bench_live
import bench_memory
import bench_sweep
from trust import rates, t0
from trust.steps import Log, Options

from slownet.lab.build import cache

SLOWNET = Path(sys.executable).with_name("slownet")
SHOP = Path(__file__).with_name("shop")
PING = """
import re
from slownet.net.network import Network
from slownet.topologies import ClientWebDb
with Network(ClientWebDb) as net:
    for ms in (0.1, 1, 10, 40, 120):
        with net.link("client", "switch").set(rtt=f"{ms}ms"):
            print(ms, net.verified[-1].rtt_ms.min, net.verified[-1].rtt_ms.avg)
"""
OVS = """
from slownet.net import openvswitch
openvswitch.ensure(may_start=True)
"""
# In each network a host's first change has to start a tc there; every change is read back, without the ping.
CHANGE = """
import time
from slownet.net.network import Network
from slownet.topologies import ClientWebDb
CONDITIONS = (
    {"rtt": "10ms"}, {"rtt": "40ms", "loss": "1%"}, {"rate": "2Mbit"}, {"rate": "10Mbit", "aqm": "fq_codel"},
    {"delay": "20ms", "jitter": "2ms", "distribution": "normal"}, {},
)
for number in range(5):
    with Network(ClientWebDb) as net:
        for host, others in (("client", 24), ("web", 0), ("db", 0)):
            for change in range(1 + others):
                fields = CONDITIONS[change % len(CONDITIONS)]
                began = time.monotonic()
                net.link(host, "switch").set(ping=False, **fields)
                print("later" if change else "first", 1000 * (time.monotonic() - began))
"""
# The same page without a browser, or loaded so many times in one that is started once.
BROWSED = """
import os
from slownet import ClientWebDb, WordPress, browse, experiment
from slownet.tools.curl import curl

@experiment(topology=ClientWebDb, service=WordPress, cells=[{"rtt": "0ms"}], tdf="inf", blocks=1, warm_up=0)
def browsed(net, site, rtt):
    loads = int(os.environ["LOADS"])
    return browse(net["client"], site.url, loads=loads) if loads else curl(net["client"], [site.url])
"""
# Stock Mininet is configured like the Mininet inside Network: the same topology, switch and link; it pins and pings nothing.
BUILD = """
import sys, time
from mininet.link import TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.node import OVSSwitch
from mininet.topo import Topo
from slownet.net import openvswitch
from slownet.net.network import Network

class Star(Topo):
    def build(self, hosts):
        switch = self.addSwitch("s1", failMode="standalone")
        for number in range(1, hosts + 1):
            self.addLink(self.addHost(f"h{number}"), switch, cls=TCLink)

def memory():
    return dict(line.split(":") for line in open("/proc/meminfo"))["MemAvailable"].split()[0]

def stock(hosts):
    net = Mininet(topo=Star(hosts), switch=OVSSwitch, controller=None, link=TCLink, autoSetMacs=True, build=False)
    net.build()
    net.start()
    return net.stop

def ours(hosts):
    net = Network(Star(hosts)).__enter__()
    return lambda: net.__exit__(None, None, None)

setLogLevel("error")
openvswitch.ensure(may_start=True)
ours(2)()
for word in sys.argv[1:]:
    who, hosts = word.split(":")
    free, began = int(memory()), time.monotonic()
    stop = {"stock": stock, "ours": ours}[who](int(hosts))
    built, used = time.monotonic(), free - int(memory())
    stop()
    print(who, hosts, built - began, time.monotonic() - built, used / 1024, flush=True)
"""

# The same program on ten hosts, started plainly and in containers; a start is from the call until the port answers.
CONTAINERS = """
import os, sys, time
from contextlib import ExitStack
from pathlib import Path
sys.path.insert(0, sys.argv[1])
os.environ["XDG_CACHE_HOME"] = "/tmp/cache"
from slownet.lab.build import cache
from slownet.lab.run import container_shares
container_shares.root = lambda: cache.root() / container_shares.KIND
import images
from slownet import Command, Container, Network, Star

def memory():
    return int(dict(line.split(":") for line in open("/proc/meminfo"))["MemAvailable"].split()[0])

program = Path("/tmp/server")
images.keep("server:1", {"/server": images.file(images.compiled(images.PROGRAM, program), 0o755)}, Entrypoint=["/server"])
KINDS = {
    "plain": lambda host: Command(host, [program, "serve", "80"], "/tmp/logs", port=80),
    "container": lambda host: Container(host, "server:1", command=["serve", "80"], directory="/tmp/logs", port=80),
}
with Network(Star(n=10)) as net:
    hosts = net.hosts[:10]
    for host in hosts:
        host.popen(["true"]).communicate()
    for each in KINDS.values():
        each(hosts[0]).start().stop()
    for _ in range(3):
        for kind, make in KINDS.items():
            with ExitStack() as stack:
                free, began = memory(), time.monotonic()
                for host in hosts:
                    stack.enter_context(make(host))
                print(kind, (time.monotonic() - began) / 10, (free - memory()) / 10240, flush=True)
    with ExitStack() as stack:
        began = time.monotonic()
        servers = [KINDS["container"](host) for host in hosts]
        for each in servers:
            stack.callback(each.stop)
            each.launch()
        for each in servers:
            each.wait()
        print("ten", time.monotonic() - began, 0, flush=True)
"""


def main(wanted: Sequence[str]) -> None:
    known = (
        wrong_verdicts, first_command, completion, switch, building, changes, round_trips, calibration, clocks, decided,
        charged, calls, memory, growth, reproduction, containers, images, layer, compose, browser, live, sweep,
    )  # fmt: skip
    sections = {each.__name__: each for each in known}
    if revision := os.environ.get("AGAINST"):
        bench_against.against(revision, say)
        return
    if unknown := [name for name in wanted if name not in sections]:
        sys.exit(f"bench: unknown section {', '.join(unknown)}: choose from {', '.join(sections)}")
    print(f"{'figure':<58}{'measured':>12}  wanted")
    for name in wanted or sections:
        sections[name]()


def say(what: str, measured: str, wanted: str) -> None:
    print(f"{what:<58}{measured:>12}  {wanted}", flush=True)


def timed(words: Sequence[str | Path], cwd: Path | None = None, home: Path | None = None, **more: str) -> tuple[float, str]:
    """Run a command; return its seconds and its output. home: the folder of the caches, the user's own unless given."""
    environment = {**os.environ, **({"XDG_CACHE_HOME": str(home)} if home else {}), **more}
    began = time.monotonic()
    done = subprocess.run([SLOWNET, *words], capture_output=True, text=True, check=False, cwd=cwd, env=environment)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return time.monotonic() - began, done.stdout


def median_of(times: int, measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(times))


def first_command() -> None:
    seconds = median_of(7, lambda: timed(["lab", "exec", "--", "true"])[0])
    say("lab, from the command line to the end of `true`", f"{seconds:.2f} s", "under 0.6 s")


def completion() -> None:
    asked = {"COMP_WORDS": "slownet\nrun\nclient_d", "COMP_CWORD": "2", "_SLOWNET_COMPLETE": "complete_bash"}
    of_list = median_of(7, lambda: timed(["list"])[0])
    seconds = median_of(7, lambda: timed([], **asked)[0])
    say("completion of an experiment's name in bash", f"{seconds:.2f} s", f"under 2/3 of `slownet list`, {of_list:.2f} s")


def switch() -> None:
    words = ["lab", "exec", "--clock", "real", "--", "python", "-c", OVS]
    say("boot and Open vSwitch", f"{median_of(5, lambda: timed(words)[0]):.2f} s", "under 1.2 s")


def building() -> None:
    """Build and close networks in one lab, alternating between stock Mininet and Network; times are CPU seconds."""
    sizes = (10, 50, 100)
    words = [*(f"{who}:{hosts}" for hosts in sizes for who in ("stock", "ours")), "ours:200", "ours:500"]
    lines = timed(["lab", "exec", "--tdf", "1", "--memory", "2048", "--", "python", "-c", BUILD, *words])[1].split("\n")
    found = {tuple(line.split()[:2]): [float(word) for word in line.split()[2:]] for line in lines if line}
    for hosts in map(str, sizes):
        stock, ours = found["stock", hosts], found["ours", hosts]
        say(f"{hosts} hosts up, stock Mininet", f"{stock[0]:.2f} s", f"down {stock[1]:.2f} s")
        say(f"{hosts} hosts up, pinned and pinged", f"{ours[0]:.2f} s", f"down {ours[1]:.2f} s")
        say(f"{hosts} hosts, stock Mininet's time / ours", f"{stock[0] / ours[0]:.1f} times", "at least 10 times")
    for hosts in ("200", "500"):
        say(f"{hosts} hosts up, pinned and pinged", f"{found['ours', hosts][0]:.2f} s", f"down {found['ours', hosts][1]:.2f} s")
    for hosts in ("10", "100", "200", "500"):
        seconds, _, megabytes = found["ours", hosts]
        say(
            f"per host, of {hosts}",
            f"{seconds / int(hosts) * 1000:.1f} ms",
            f"{megabytes / int(hosts):.2f} MB; should not grow",
        )


def changes() -> None:
    for clock in (["--tdf", "1"], ["--clock", "real"]):
        words = ["lab", "exec", *clock, "--", "python", "-c", CHANGE]
        lines = [line.split() for line in timed(words)[1].splitlines()]
        for which in ("first", "later"):
            took = [float(milliseconds) for name, milliseconds in lines if name == which]
            what = f"a link change, {which} one of a host, {' '.join(clock)[2:]}"
            say(what, f"{statistics.median(took):.1f} ms", "under 20 ms")
            say(f"    slowest of {len(took)}", f"{max(took):.1f} ms", "under 20 ms")


def round_trips() -> None:
    for clock, wanted in (
        (["--tdf", "inf"], "within 0.1 ms"),
        (["--tdf", "auto"], "within 0.5 ms"),
        (["--clock", "real"], "within 0.5 ms"),
    ):
        lines = timed(["lab", "exec", *clock, "--", "python", "-c", PING])[1].split("\n")
        worst = max(abs(float(line.split()[2]) - float(line.split()[0])) for line in lines if line)
        say(f"RTT by ping minus stated RTT, {' '.join(clock)[2:]}", f"{worst:.3f} ms", wanted)


def wrong_verdicts() -> None:
    """Simulate runs for each kind of claim and noise, sampled until decided; `make trust` simulates more."""
    for kind, noise, refutes, supports, edge, power, boots in rates.rows(100):
        say(
            f"{kind}, {noise}: refutes a true claim, supports a false one",
            f"{refutes}, {supports}",
            "under 1 %",
        )
        say("    decides either way on the margin", edge, "at most 1 %")
        say("    supports a true one; boots needed", f"{power}, {boots}", "")
    for bend, (refuted, supported) in rates.wrong_of_bent_laws(300).items():
        say(f"law, cells {bend:g} ms off its line: refutes a true claim", f"{refuted:.1%}", "under 1 %")
        say("    supports a claim off by twice the margin", f"{supported:.1%}", "under 1 %")


def calibration() -> None:
    """Print the worst error of each kind of row, and how many random rows lie outside their interval."""
    for clock, own in (("--tdf inf", "0.05"), ("--clock real", "0.3")):
        seconds, text = timed(["doctor", "calibrate", *clock.split(), "--json"])
        record = json.loads(text)
        rows = record["rows"]
        measured = [row for row in rows if row["measured"] is not None]
        late = max(abs(row["error"]) for row in measured if row["what"] == "round trip")
        worst = {
            what: max(abs(row["error"]) / row["stated"] for row in measured if row["what"] == what)
            for what in ("goodput", "queue delay")
        }
        say(f"calibrate {clock}, worst round trip", f"{late:.4f} ms", f"within {own} ms")
        say(f"calibrate {clock}, worst goodput", f"{worst['goodput']:.3%}", "within 2 % of rate x payload / frame")
        say(f"calibrate {clock}, worst queue delay", f"{worst['queue delay']:.2%}", "within 5 % of size / rate")
        outside = record["outside_own_interval"]
        chancy = sum(row["alone"] is not None for row in rows)
        say(f"calibrate {clock}, outside their 99 % interval", f"{outside['found']} of {chancy}", f"{outside['expected']:.1f}")
        bad = [f"{row['condition']} ({row['what']})" for row in rows if not row["ok"]]
        say(f"calibrate {clock}, rows not ok", f"{len(bad)} of {len(rows)}", "; ".join(bad) or "none wanted")
        say(f"calibrate {clock}, rows beyond the CPU", f"{len(record['left_out'])}", "; ".join(record["left_out"]))
        say(f"calibrate {clock}", f"{seconds:.1f} s", "under 60 s" if "inf" in clock else "")


def clocks() -> None:
    """Run one repetition on each clock, with the same CPU speed."""
    on_both_clocks("--repeat", "1")


def decided() -> None:
    """Run as many repetitions on each clock as it takes to decide the claims."""
    on_both_clocks()


def on_both_clocks(*options: str) -> None:
    """Compare how long `client_delay` takes on each clock, and the times of its pages."""
    what = " ".join(("client_delay", *options))
    took, pages = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for name, clock in (("real", ["--clock", "real"]), ("virtual", ["--tdf", "1"])):
            took[name], text = timed(
                ["run", "client_delay", "--place", "lab", "--out", "json=-", *options, *clock], Path(folder)
            )
            (run,) = json.loads(text)["runs"]
            pages[name] = {cell["condition"]["rtt_ms"]: cell["metrics"]["time_per_request_ms"]["mean"] for cell in run["cells"]}
            say(f"{what} on the {name} clock", f"{took[name]:.1f} s", "TDF 1" if name == "virtual" else "")
    say("real clock's time / virtual clock's", f"{took['real'] / took['virtual']:.1f} times", "at least 12 times")
    for rtt_ms, real in pages["real"].items():
        say(
            f"time per page at {rtt_ms:g} ms, virtual vs. real",
            f"{pages['virtual'][rtt_ms] / real - 1:+.1%}",
            "within 2 %" if rtt_ms else "within 10 %",
        )


def charged() -> None:
    """Measure T0 in a few boots for each way of charging the CPU, alone and beside hogs; `make trust` uses more boots."""
    with tempfile.TemporaryDirectory() as folder:
        options = Options(Path(folder), rounds=3, processors=len(os.sched_getaffinity(0)))
        log = Log(Path(folder, "steps.jsonl"))
        for step in t0.steps(options, log):
            log.append(step.take())
        for figure in t0.report(log, options).figures:
            say(figure.what, figure.measured, figure.wanted)


AT_ONCE = 16


def memory() -> None:
    """Measure the peak resident memory of labs by what runs in them, sampled while they run, and that of many at once."""
    with tempfile.TemporaryDirectory() as folder:
        for what, words in bench_memory.LOADS.items():
            say(f"memory of a lab: {what}", f"{bench_memory.resident(words, Path(folder))[1]:.0f} MB", "")
        seconds, megabytes = bench_memory.resident(["run", "client_delay", "database_delay"], Path(folder))
    say("both experiments, lab already built", f"{seconds:.1f} s", "under 45 s")
    say("resident memory of a lab with the three services", f"{megabytes:.0f} MB", "under 1500 MB")
    together = bench_memory.at_once(AT_ONCE)
    say(f"resident memory of {AT_ONCE} labs at once, each with a shell", f"{together:.0f} MB", "under 24000 MB")


def calls() -> None:
    """Measure what system calls, faults, forks and round trips cost in labs and natively."""
    bench_calls.calls(say)


def growth() -> None:
    """Measure how CPU time grows with hosts, flows, packets, cells and values."""
    bench_growth.growth(say)


def live() -> None:
    """Open the page of `slownet live` in Chromium: first paint, frames, memory, and a slider's way to tc."""
    bench_live.live(say)


def reproduction() -> None:
    """Reproduce all articles once; prints CPU time as well, because other load on this machine increases wall time."""
    with tempfile.TemporaryDirectory() as folder:
        seconds, text = timed(["reproduce", "--out", "json=-"], Path(folder))
    done = json.loads(text)["reproduction"]
    say("reproduce, all articles", f"{seconds:.0f} s", "under 360 s on 2 processors")
    say("reproduce, CPU", f"{done['cpu_s']:.0f} s", "under 480 s")
    say("reproduce, the same on a real clock", f"{done['real_s'] / 3600:.2f} h", "about 1.9 h in the articles")
    supported, claims = (sum(each[name] for each in done["experiments"]) for name in ("supported", "claims"))
    say("reproduce, claims supported", f"{supported} of {claims}", "all")


def sweep() -> None:
    """Sweep with one lab and two, and with stub labs; print the numbers' differences, and time and memory of the scheduling."""
    bench_sweep.labs(say, timed)
    bench_sweep.scheduling(say)
    bench_sweep.cluster(say)


def containers() -> None:
    """Start the same program on ten hosts, plainly and in containers."""
    helpers = Path(__file__).with_name("lab").resolve()
    for clock in (["--clock", "real"], ["--tdf", "1"]):
        lines = timed(["lab", "exec", *clock, "--", "python", "-c", CONTAINERS, helpers])[1].splitlines()
        found: dict[str, list[tuple[float, float]]] = {}
        for kind, seconds, megabytes in map(str.split, lines):
            found.setdefault(kind, []).append((float(seconds), float(megabytes)))
        (plain, of_plain), (contained, of_contained) = (
            map(statistics.median, zip(*found[kind], strict=True)) for kind in ("plain", "container")
        )
        name = " ".join(clock)[2:]
        wanted = f"under 0.15 s; plain {plain:.3f} s"
        say(f"a container's start less a plain program's, {name}", f"{contained - plain:.3f} s", wanted)
        say("    memory", f"{of_contained - of_plain:.1f} MB", f"under 15 MB; plain {of_plain:.1f} MB")
        say(f"ten containers up at once, {name}", f"{found['ten'][0][0]:.2f} s", "under 5 s")


def images() -> None:
    """Add an archive as `docker save` writes it: 300 MB in three layers, half of it incompressible; then add it again."""
    with tempfile.TemporaryDirectory() as folder:
        archive, environment = Path(folder, "shop.tar"), {**os.environ, "XDG_CACHE_HOME": folder}
        write_image(archive)
        for what, wanted in (("the first time", "under 30 s"), ("the second time", "under 1 s")):
            began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([SLOWNET, "lab", "image", "add", archive], env=environment, stdout=subprocess.DEVNULL, check=True)
            took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            megabytes = archive.stat().st_size / 1e6
            say(f"add an image of {megabytes:.0f} MB, {what}", f"{took:.2f} s", f"{wanted}; {cpu:.2f} s of CPU")


def write_image(path: Path) -> None:
    """Write an archive with an image like a program's: most files are small, most bytes are in large ones."""
    chance, text = random.Random(1), b"slow networks need fast answers\n"
    with tarfile.open(path, "w") as archive:

        def put(name: str, data: bytes, into: tarfile.TarFile = archive) -> None:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            into.addfile(member, io.BytesIO(data))

        digests = []
        for number in range(3):
            layer = io.BytesIO()
            with tarfile.open(fileobj=layer, mode="w") as tar:
                while tar.offset < 100e6:
                    half = chance.choices((2_000, 10_000, 100_000, 1_000_000), (70, 20, 8, 2))[0]
                    put(f"usr/lib/{number}/{tar.offset}", chance.randbytes(half) + text * (half // len(text)), tar)
            digests.append(hashlib.sha256(layer.getvalue()).hexdigest())
            put(f"{digests[-1]}/layer.tar", layer.getvalue())
        layers = {"type": "layers", "diff_ids": [f"sha256:{each}" for each in digests]}
        config = json.dumps({"architecture": "amd64", "os": "linux", "config": {}, "rootfs": layers}).encode()
        name = f"{hashlib.sha256(config).hexdigest()}.json"
        put(name, config)
        image = {"Config": name, "RepoTags": ["shop:1"], "Layers": [f"{each}/layer.tar" for each in digests]}
        put("manifest.json", json.dumps([image]).encode())


def without_layers(folder: Path) -> Path:
    """Return a folder for caches, in which there are the parts of the lab, and no layer."""
    home = folder / "cache"
    (home / "slownet").mkdir(parents=True)
    for each in cache.root().iterdir():
        if each.name not in ("layer", "projects"):
            (home / "slownet" / each.name).symlink_to(each)
    return home


def layer() -> None:
    """Build a layer with one Debian package in a cache that has the lab and no layer, and ask for it again."""
    with tempfile.TemporaryDirectory() as name:
        home, project = without_layers(Path(name)), Path(name, "project")
        project.mkdir()
        (project / "slownet.toml").write_text('packages = ["jq"]\n')
        for what, wanted in (("layer with one Debian package", "under 60 s"), ("the same layer again", "")):
            say(what, f"{timed(['lab', 'build'], project, home)[0]:.1f} s", wanted)


def compose() -> None:
    """Time a compose project from the command to its first sample: PostgreSQL, Redis, a shop, and a program before the shop."""
    sys.path.insert(0, str(SHOP))
    import kept_images

    kept_images.keep()
    words = ["--tool", "ab", "--option", "url=http://web:8000/checkout", "--option", "requests=1", "--vary", "db:rtt=0ms,10ms"]
    before = os.times()
    seconds = median_of(3, lambda: until_the_first_sample(["run", SHOP / "compose.yaml", *words]))
    after = os.times()
    cpu = (after.children_user + after.children_system - before.children_user - before.children_system) / 3
    say("a compose project of three services, to its first sample", f"{seconds:.1f} s", "under 12 s on 2 processors")
    say("    CPU, to the end of two cells and the report", f"{cpu:.1f} s", "other load on this machine increases wall time")


def browser() -> None:
    """Measure pages in Chromium: from nothing to the first waterfall, loads in a running browser, and the examples' numbers."""
    with tempfile.TemporaryDirectory() as name:
        _a_project_of_ones_own(Path(name))
        folder = Path(name, "examples")
        shutil.copytree(Path(__file__).parents[1] / "examples" / "browser", folder)
        timed(["lab", "build"], folder)
        _repeated(folder)
        _wordpress(folder)


def _a_project_of_ones_own(folder: Path) -> None:
    """Time `slownet init --browser` to its first waterfall, with a layer to build, and then single loads in that layer."""
    home, project = without_layers(folder), folder / "shop"
    steps = (
        (["init", project, "--browser", "--ci", "none"], folder),
        (["lab", "build"], project),
        (["run", "page.py", "--repeat", "1"], project),
    )
    say(
        "from nothing to the first waterfall",
        f"{sum(timed(words, where, home)[0] for words, where in steps):.0f} s",
        "under 240 s",
    )
    (project / "browsed.py").write_text(BROWSED)
    words = ["run", "browsed.py", "--memory", "1500", "--repeat", "1"]
    none, one, many = (
        median_of(3, lambda loads=loads: timed([*words, "--env", f"LOADS={loads}"], project, home)[0]) for loads in (0, 1, 21)
    )
    say("a load of WordPress in a running browser", f"{(many - one) / 20:.2f} s", "under 2 s")
    say("the browser's start in a boot, and one load", f"{one - none:.1f} s", "under 8 s")


def _repeated(folder: Path) -> None:
    """Measure how far the loads of one page in four boots are from each other."""
    _, text = timed(["run", "page_in_browser.py", "--memory", "1500", "--repeat", "4", "--out", "json=-"], folder)
    (run,) = json.loads(text)["runs"]
    loads: dict[str, list[float]] = {}
    for line in (folder / run["directory"] / "samples.jsonl").read_text().splitlines():
        sample = json.loads(line)
        loads.setdefault(json.dumps(sample["cell"]), []).extend(sample["metrics"]["load_ms"]["values"])
    widest = max(max(each) - min(each) for each in loads.values())
    say("loads of a page in four boots, latest less earliest", f"{widest:.1f} ms", "within a frame, 16.7 ms")


def _wordpress(folder: Path) -> None:
    seconds, megabytes = bench_memory.resident(["run", "wordpress_in_browser.py", "--memory", "1500"], folder)
    say("WordPress in a browser at four distances, decided", f"{seconds:.0f} s", "")
    say("resident memory of a lab with WordPress and Chromium", f"{megabytes:.0f} MB", "under 700 MB")
    (directory,) = folder.glob("runs/*-wordpress_in_browser")
    for claim in json.loads((directory / "run.json").read_text())["claims"]:
        found = f"{claim['measured']:.3f}, {claim['verdict']}"
        say(f"WordPress in a browser, round trips to {claim['metric']}", found, f"{claim['expected']:g} within 2 %")


def until_the_first_sample(words: Sequence[str | Path]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        process = subprocess.Popen([SLOWNET, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while not any(path.stat().st_size for path in Path(folder).glob("runs/*/samples*.jsonl")):
            if process.poll():
                sys.exit(process.communicate()[1].decode())
            time.sleep(0.01)
        took = time.monotonic() - began
        process.communicate()
        return took


if __name__ == "__main__":
    main(sys.argv[1:])
