"""Why a lab died, from what its kernel said last."""

from __future__ import annotations

import re
import signal

from slownet.errors import LabError

_SIGNS_OF_LITTLE_MEMORY = ("Out of memory", "unable to allocate", "out of memory", "Cannot allocate", "Failed to allocate")


def explain(console: str, status: int, megabytes: int, host_is_full: bool) -> LabError:
    """The error for a lab whose command did not end. `status`: the kernel's, -N if signal N ended it."""
    panic = re.search(r"Kernel panic - not syncing: (.*)", console)
    why = panic.group(1).strip() if panic else ""
    stood = re.search(r"the clock stood still for (\d+) s of (.+?)(, in .+)?$", why)
    if stood:
        return LabError(
            f"the lab's clock stood still for {stood.group(1)} s while {stood.group(2)} was busy{stood.group(3) or ''}",
            fix="at --tdf inf busy programs get no time: use a number or --clock real",
        )
    if why.startswith("work-clock:"):
        what = why.partition(": ")[2].replace("taken away", "taken away in mid-run")
        return LabError(what, fix="another program may use it: try again, or take --cpu time")
    if status == -signal.SIGBUS or why == f"Kernel mode signal {signal.SIGBUS:d}" or host_is_full:
        return LabError("the host has no room left for the lab's memory", fix="free some, or ask for less with --memory")
    if "memory" in why.lower() or any(sign in console for sign in _SIGNS_OF_LITTLE_MEMORY):
        return full("memory", megabytes)
    if why:
        return LabError(f"the lab's kernel panicked: {why}")
    if status == 0:
        return LabError("the command powered the lab off")
    if status < 0:
        return LabError(f"the lab was ended by signal {-status}", fix="see whether this machine has enough memory")
    last = [line for line in console.splitlines() if line.strip()][-1:] or ["it said nothing"]
    return LabError(f"the lab died (status {status}): {last[0]}")


def full(what: str, megabytes: int) -> LabError:
    """The error for a lab whose "disk" or "memory" was too small for its command."""
    disk = f"the lab's disk is full: it is three quarters of its {megabytes} MB of memory"
    memory = f"the lab ran out of its {megabytes} MB of memory"
    return LabError(disk if what == "disk" else memory, fix="give it more with --memory")
