"""Confinement of a lab's process on the host: its kernel, its shares, and nothing else (see confine.c).

The lab's own kernel refuses the same requests first. Landlock holds even where a program in the lab takes that kernel over.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from slownet.model.errors import LabError
from slownet.model.options import PLACE

LANDLOCK_CREATE_RULESET, ASK_VERSION = 444, 1  # the number is the same on every architecture
READ = ["/proc/cpuinfo"]
"""Files that the kernel reads besides its own: the processor's features."""
DEVICES = ["/dev/null"]
SINCE = {"truncation": 3, "TCP": 4, "devices": 5, "signals": 6}
"""The version of Landlock that first confines these; each confines all files, and ptrace."""

WARNED = "_SLOWNET_UNCONFINED"
"""The variable that keeps the processes of a command from repeating that labs are not confined."""


@lru_cache(maxsize=1)
def landlock() -> int:
    """Return the version of Landlock that this kernel has (its ABI), or -errno if it has none or hides it."""
    import ctypes  # imported here because labs import neighbours of this module

    version = ctypes.CDLL(None, use_errno=True).syscall(LANDLOCK_CREATE_RULESET, None, 0, ASK_VERSION)
    return int(version) if version > 0 else -ctypes.get_errno()


def describe(version: int) -> str:
    """Return whether labs are confined, given what `landlock` returned: "yes: Landlock ABI 7" or "no: why"."""
    if version > 0:
        beyond = [what for what, since in SINCE.items() if version < since]
        return f"yes: Landlock ABI {version}" + (f", which does not confine {', '.join(beyond)}" if beyond else "")
    return f"no: {why_not(version)}"


def why_not(version: int) -> str:
    """Return why there is no Landlock, given what `landlock` returned."""
    reasons = {
        errno.ENOSYS: "this machine's kernel has no Landlock (Linux 5.13 and newer have it)",
        errno.EOPNOTSUPP: "Landlock is off: boot with landlock in lsm=",
    }
    return reasons.get(-version, f"Landlock is denied here ({os.strerror(-version)})")


def need(where: str) -> None:
    """Raise LabError, with what requires it, if labs are not confined."""
    version = landlock()
    if version < 1:
        fix = "use a machine that confines them, or leave out what requires confinement"
        raise LabError(f"labs are not confined: {why_not(version)}", where, fix)


def warn() -> None:
    """Say in one line what does not hold without Landlock, once for a command and the processes that it starts."""
    version = landlock()
    if version > 0 or os.environ.get(WARNED):
        return
    os.environ[WARNED] = "1"
    what = "a program that takes a lab's kernel over can do to files and processes what you can"
    sys.stderr.write(f"slownet: labs are not confined: {why_not(version)}; {what} ({PLACE.set('confined')} refuses that)\n")


def words(confine: Path, run: Path, *, read: Sequence[Path], write: Sequence[Path], loaders: Sequence[Path] = ()) -> list[str]:
    """Return the command that confines the program `run`, up to the program's own arguments.

    read, write: files and folders that it may read, or write as well; loaders: programs that start it.
    """
    rules = [
        *(f"run={each}" for each in [run, *loaders]), *(f"read={each}" for each in [*READ, *read]),
        *(f"write={each}" for each in write),
        *(f"device={each}" for each in DEVICES),
    ]  # fmt: skip
    return [str(confine), *rules, "--", str(run)]
