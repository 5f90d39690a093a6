"""`make bench`: prints the figures that the project wants to reach. Measures, asserts nothing."""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

SLOWNET = Path(sys.executable).with_name("slownet")
PING = """
import re
from slownet.net import Network
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


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'figure':<58}{'measured':>12}  wanted")
        first_command()
        switch()
        round_trips()
        clocks(Path(folder))
        memory(Path(folder))


def say(what: str, measured: str, wanted: str) -> None:
    print(f"{what:<58}{measured:>12}  {wanted}", flush=True)


def timed(words: Sequence[str | Path], cwd: Path | None = None) -> tuple[float, str]:
    began = time.monotonic()
    done = subprocess.run([SLOWNET, *words], capture_output=True, text=True, check=False, cwd=cwd)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return time.monotonic() - began, done.stdout


def median_of(times: int, measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(times))


def first_command() -> None:
    seconds = median_of(7, lambda: timed(["lab", "exec", "--", "true"])[0])
    say("lab, from the command line to the end of `true`", f"{seconds:.2f} s", "under 0.6 s")


def switch() -> None:
    words = ["lab", "exec", "--clock", "real", "--", "python", "-c", OVS]
    say("boot and Open vSwitch", f"{median_of(5, lambda: timed(words)[0]):.2f} s", "under 1.2 s")


def round_trips() -> None:
    for clock, wanted in (
        (["--tdf", "inf"], "within 0.1 ms"),
        (["--tdf", "auto"], "within 0.5 ms"),
        (["--clock", "real"], "within 0.5 ms"),
    ):
        lines = timed(["lab", "exec", *clock, "--", "python", "-c", PING])[1].split("\n")
        worst = max(abs(float(line.split()[2]) - float(line.split()[0])) for line in lines if line)
        say(f"RTT by ping against the stated one, {' '.join(clock)[2:]}", f"{worst:.3f} ms", wanted)


def clocks(folder: Path) -> None:
    runs = {}
    for name, options in (("real", ["--clock", "real"]), ("virtual", ["--tdf", "1"])):
        seconds, text = timed(["run", "client_delay", "--place", "lab", "--json", *options], folder)
        runs[name] = seconds, {cell["condition"]["rtt_ms"]: cell for cell in json.loads(text)["runs"][0]["cells"]}
    say("client_delay on the real clock", f"{runs['real'][0]:.1f} s", "")
    say("client_delay on the virtual clock, TDF 1", f"{runs['virtual'][0]:.1f} s", "")
    say("the virtual clock is faster by", f"{runs['real'][0] / runs['virtual'][0]:.1f} times", "at least 12 times")
    for rtt_ms in runs["real"][1]:
        real, virtual = (runs[name][1][rtt_ms]["metrics"]["time_per_request_ms"]["mean"] for name in ("real", "virtual"))
        say(
            f"ms per page at {rtt_ms:g} ms, virtual against real",
            f"{virtual / real - 1:+.1%}",
            "within 2 %" if rtt_ms else "within 10 %",
        )


def memory(folder: Path) -> None:
    """The largest resident memory of all processes of one lab, sampled while it runs the site."""
    began = time.monotonic()
    process = subprocess.Popen(
        [SLOWNET, "run", "client_delay", "database_delay"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    most = 0
    while process.poll() is None:
        most = max([most, *labs()])
        time.sleep(0.2)
    say("both experiments, everything there already", f"{time.monotonic() - began:.1f} s", "under 45 s")
    say("resident memory of a lab with the three services", f"{most / 1024:.0f} MB", "under 1500 MB")


def labs() -> list[int]:
    """Kilobytes of each lab: its kernel's, in which its programs' pages are counted as well."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if re.search(rb"\0ubd0r=", (path / "cmdline").read_bytes()):
                found.append(
                    sum(int(kb) for kb in re.findall(r"^Rss:\s+(\d+)", (path / "smaps_rollup").read_text(), re.MULTILINE))
                )
        except OSError:
            continue
    return found


if __name__ == "__main__":
    main()
