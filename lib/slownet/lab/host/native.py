"""Tests if this machine can emulate links without a lab, by doing it, not by names and versions."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from slownet.lab.build import cache
from slownet.lab.run.clock import FREE, Clock, check_tdf

if TYPE_CHECKING:
    from slownet.model.facts import ClockFacts

INSIDE = "SLOWNET_LAB"  # an environment variable set inside a lab: "real", "exact" or the TDF
CPU = "SLOWNET_CPU"  # likewise: what the clock charges for CPU

_TRIALS = {
    "netem": ["unshare", "--net", "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"],
    "HTB": ["unshare", "--net", "tc", "qdisc", "add", "dev", "lo", "root", "htb"],
    "Open vSwitch in the kernel": ["genl", "ctrl", "get", "name", "ovs_datapath"],
}
_PROGRAMS = ("mn", "ovs-vsctl", "ovs-vswitchd", "tc")


def inside_lab() -> bool:
    """Return whether this process runs inside a lab."""
    return INSIDE in os.environ


def clock_facts() -> ClockFacts:
    """Return the clock of this process as in records, {"clock", "tdf", "cpu"}: its lab's clock, or else the real one."""
    text = os.environ.get(INSIDE, "real")
    clock = Clock(text) if text in ("real", "exact") else Clock("virtual", check_tdf(text) or 1)
    return {**clock.facts, "cpu": os.environ.get(CPU) or clock.cpu}


def cpu_is_free() -> bool:
    """Return whether CPU is free here, as on a virtual clock with an infinite TDF."""
    return clock_facts()["cpu"] == FREE


def clock_is_virtual() -> bool:
    """Return whether this process runs in a lab whose clock skips waits."""
    return clock_facts()["clock"] == "virtual"


def lacks() -> list[str]:
    """Return what this machine lacks for native mode, each in a few words; empty if nothing."""
    if os.geteuid() != 0:
        return ["root"]
    missing = [f"the program {each}" for each in _PROGRAMS if not shutil.which(each, path=cache.search_path())]
    if not inside_lab():  # the modules may exist but not be loaded yet
        succeeds(["modprobe", "--all", "--quiet", "sch_netem", "sch_htb", "openvswitch"])
    return missing + [what for what, trial in _TRIALS.items() if not succeeds(trial)]


def succeeds(argv: Sequence[str]) -> bool:
    """Return whether a program can be run, and ends with 0 within twenty seconds."""
    environment = {**os.environ, "PATH": cache.search_path()}
    try:
        return subprocess.run(argv, capture_output=True, env=environment, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


class RealTime:
    """Real time where the clock is virtual: the host gives its own to a file that is written in a folder which it shares."""

    _numbers = itertools.count()

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self) -> float:
        """Return seconds since 1970."""
        # Labs that share the folder give their processes the same numbers, and a signal's handler may call this within a call.
        file = self._folder / f".real-time-{os.uname().nodename}-{os.getpid()}-{next(self._numbers)}"
        file.write_bytes(b"")
        found = file.stat().st_mtime
        file.unlink()
        return found
