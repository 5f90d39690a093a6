"""Explains why a lab died, from the last lines of its kernel."""

from __future__ import annotations

import re
import signal
from pathlib import Path

from slownet.lab.run.excerpt import clipped
from slownet.model.errors import LabError
from slownet.model.options import CLOCK, CPU, MEMORY, TDF

# How many major faults of a program tell that it read its own pages again and again, instead of being busy: one that starts has
# hundreds, one whose pages are evicted as soon as they are read has thousands a second.
_STARVED = 10_000
_STOOD = re.compile(r"the clock stood still for (\d+) s of (.+?)(, in .+?)?(?:, with (\d+) major faults)?$")
_TOO_MANY_MAPPINGS = "vm.max_map_count has been reached"
_MAPPINGS = Path("/proc/sys/vm/max_map_count")
_OUT_OF_MEMORY = ("Out of memory", "unable to allocate", "out of memory", "Cannot allocate", "Failed to allocate")


def explain(console: str, status: int, megabytes: int, host_is_full: bool) -> LabError:
    """Return the error for a lab whose command did not exit. `status`: exit status of the kernel, -N if signal N ended it."""
    panic = re.search(r"Kernel panic - not syncing: (.*)", console)
    why = clipped(panic.group(1).strip()) if panic else ""
    stood = _STOOD.search(why)
    if stood and int(stood.group(4) or 0) > _STARVED:
        return full("memory", megabytes)
    if stood:
        return LabError(
            f"the lab's clock stood still for {stood.group(1)} s while {stood.group(2)} was busy{stood.group(3) or ''}",
            fix=f"with {TDF.set('inf')} a busy program takes no virtual time: give its links a rate, or use a number or "
            f"{CLOCK.set('real')}",
        )
    if why.startswith("work-clock:"):
        what = why.partition(": ")[2].replace("taken away", "taken away during the run")
        return LabError(what, fix=f"another program may use it: try again, or use {CPU.set('time')}")
    if status == -signal.SIGBUS or why == f"Kernel mode signal {signal.SIGBUS:d}" or host_is_full:
        return LabError("the host has no space left for the lab's memory", fix=f"free some, or lower {MEMORY}")
    if "memory" in why.lower() or any(sign in console for sign in _OUT_OF_MEMORY):
        return full("memory", megabytes)
    if why:
        return LabError(f"the lab's kernel panicked: {why}")
    if status == 0:
        return LabError("the command powered the lab off")
    if status < 0:
        return LabError(f"the lab was killed by signal {-status}", fix="check whether this machine has enough memory")
    last = [line for line in console.splitlines() if line.strip()][-1:] or ["it printed nothing"]
    return LabError(f"the lab died (status {status}): {clipped(last[0])}")


def too_many_mappings(console: str) -> LabError | None:
    """Return the error for a lab that ended a program, because the host did not map a page of it; None if none was."""
    if _TOO_MANY_MAPPINGS not in console:
        return None
    most = _MAPPINGS.read_text().strip()
    return LabError(
        f"a program in the lab has memory in more separate pieces than this machine allows, {most}: it was ended",
        fix="sudo sysctl -w vm.max_map_count=1048576",
    )


def full(what: str, megabytes: int) -> LabError:
    """Return the error for a lab that had too little "disk" or "memory" for its command, or room for too few "processes"."""
    disk = f"the lab's disk, three quarters of its {megabytes} MB of memory, is full"
    memory = f"the lab ran out of its {megabytes} MB of memory"
    if what == "processes":
        room = f"the lab ran out of room for processes, one thread for each 512 kB of its {megabytes} MB of memory"
        return LabError(room, fix=f"raise {MEMORY}, or start fewer")
    return LabError(disk if what == "disk" else memory, fix=f"raise {MEMORY}")
