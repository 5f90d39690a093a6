"""The resident memory of labs, for `make bench`."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

SLOWNET = Path(sys.executable).with_name("slownet")
LOADS = {
    "a program that sleeps": ["lab", "exec", "--clock", "real", "--", "sleep", "2"],
    "nginx, PHP, MariaDB and WordPress": ["run", "client_delay", "--vary", "rtt=0ms", "--repeat", "1"],
    "PostgreSQL and sysbench": ["run", "oltp", "--vary", "threads=1", "--vary", "rtt=0.3ms", "--repeat", "1"],
}


def at_once(number: int) -> float:
    """Start so many labs that wait for input; return the megabytes that they have together when all of them are up."""
    words = [SLOWNET, "lab", "exec", "--clock", "real", "--", "sh", "-c", "echo ready; read line"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    started = [subprocess.Popen(words, **pipes) for _ in range(number)]
    try:
        up = sum(each.stdout.readline() == b"ready\n" for each in started if each.stdout)
        if up < number:
            sys.exit(f"{up} of {number} labs came up")
        return sum(sum(labs(each.pid)) for each in started) / 1024
    finally:
        for each in started:
            each.communicate(b"\n")


def resident(words: Sequence[str | Path], folder: Path, slownet: Path = SLOWNET) -> tuple[float, float]:
    """Run a command; return its seconds and the most megabytes that one of its labs had."""
    began, most = time.monotonic(), 0
    process = subprocess.Popen([slownet, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        most = max([most, *labs(process.pid)])
        time.sleep(0.2)
    return time.monotonic() - began, most / 1024


def labs(process: int) -> list[int]:
    """Return the resident kilobytes of each lab of a process: those of its kernel, which include its programs' pages."""
    found = []
    for child in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            numbers = child.read_text().split()
        except OSError:
            continue
        for path in (Path("/proc", number) for number in numbers):
            try:
                if re.search(rb"\0ubd0r=", (path / "cmdline").read_bytes()):
                    rollup = (path / "smaps_rollup").read_text()
                    found.append(sum(int(kb) for kb in re.findall(r"^Rss:\s+(\d+)", rollup, re.MULTILINE)))
            except OSError:
                continue
            found += labs(int(path.name))
    return found
