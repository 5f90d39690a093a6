"""crun: its command lines, and the processes of the containers that it runs."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from slownet.model.errors import ImageError, ServiceError, nearest
from slownet.model.options import PLACE

ID = "container"
"""Its name for crun, which has a folder of its own for each."""
STATE, LOG, PID = "crun", "crun.log", "pid"
_LINE = re.compile(r"^\S*\d\d:\d\d\S* *:? *")


def program(search: str) -> str:
    """Return the path of crun. Raises ServiceError if it is not installed."""
    found = shutil.which("crun", path=search)
    if not found:
        raise ServiceError("crun is not installed", fix=f"apt-get install crun, or use a lab ({PLACE.set('lab')})")
    return found


def init(search: str) -> str:
    """Return the path of an init for containers. Raises ServiceError if it is not installed."""
    found = shutil.which("tini-static", path=search)
    if not found:
        raise ServiceError("tini is not installed", fix=f"apt-get install tini, or use a lab ({PLACE.set('lab')})")
    return found


def run(crun: str | Path, folder: Path) -> list[str]:
    """Return the command that starts the bundle of a folder, and ends when the container does, with its exit status."""
    return [*_crun(crun, folder), "run", "--bundle", str(folder), "--pid-file", str(folder / PID), ID]


def execute(crun: str, folder: Path, process: Path) -> list[str]:
    """Return the command that runs another process, described by a file, in the container."""
    return [*_crun(crun, folder), "exec", "--process", str(process), ID]


def _crun(crun: str | Path, folder: Path) -> list[str]:
    return [str(crun), "--root", str(folder / STATE), "--cgroup-manager", "disabled", "--log", str(folder / LOG)]


def complaint(folder: Path) -> str:
    """Return crun's own last message; empty if it printed none."""
    try:
        lines = (folder / LOG).read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return _LINE.sub("", lines[-1]) if lines else ""


def number(name: str, where: str) -> int:
    """Return a signal's number: of ``SIGTERM``, ``term``, ``15`` or ``SIGRTMIN+3``. Raises ImageError."""
    text = name.upper().removeprefix("SIG")
    base, plus, more = text.partition("+")
    if base.isdigit() and 0 < int(base) < signal.NSIG and not plus:
        return int(base)
    known = {each.name: int(each) for each in signal.Signals}
    if f"SIG{base}" not in known or (plus and not more.isdigit()):
        raise ImageError(f"unknown signal '{name}'", where, nearest(f"SIG{base}", known))
    return known[f"SIG{base}"] + int(more or 0)


def first_process(path: Path) -> int | None:
    """Return the number in a file that crun writes; None if it is not there yet."""
    try:
        return int(path.read_text())
    except (FileNotFoundError, ValueError):
        return None


def has_begun(pid: int) -> bool:
    """Return whether a container's first process runs its program: until then it is crun's own."""
    with suppress(OSError):
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        return name != "crun" and not name.startswith("crun:[")
    return False


def is_first(pid: int) -> bool:
    """Return whether a process is the first one of a PID namespace below this one, as a container's."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                inner = line.split()[2:]
                return inner[-1:] == ["1"]
    return False


def heeds(pid: int, number: int) -> bool:
    """Return whether a process handles a signal or waits for it: the first one of a PID namespace gets no other.

    See kernel/signal.c, sig_task_ignored. A process that has ended heeds none.
    """
    bit = 1 << (number - 1)
    with suppress(FileNotFoundError, ProcessLookupError):
        for status in Path(f"/proc/{pid}/task").glob("*/status"):
            fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
            if int(fields["SigCgt"], 16) & bit or int(fields["SigBlk"], 16) & bit:
                return True
    return False


def processes(pid: int) -> Iterator[int]:
    """Yield the processes of the PID namespace that a process is in."""
    with suppress(OSError):
        space = os.stat(f"/proc/{pid}/ns/pid").st_ino
        for each in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                if os.stat(f"/proc/{each}/ns/pid").st_ino == space:
                    yield int(each)
