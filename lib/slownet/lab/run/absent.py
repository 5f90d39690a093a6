"""Programs that processes of this lab could not start because they are not there, whatever started them: see absent.c."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LIBRARY = "absent.so"
NOTES = Path("/run/slownet-absent")
INSTALLED = Path("/usr/lib/slownet-absent.so")
PRELOAD = Path("/etc/ld.so.preload")
FIRST = ("/usr/local/sbin", "/usr/local/bin")
"""The folders where programs are looked for first, by the PATH of a lab and by that of most others."""
FOLDERS = (*FIRST, "/usr/sbin", "/usr/bin", "/sbin", "/bin")


@dataclass(frozen=True)
class Absent:
    """Programs that are not there, as they were named. started: someone tried to; asked: someone asked which(1)."""

    started: Sequence[str]
    asked: Sequence[str]


def watch(library: Path) -> None:
    """Note from now on what the processes of this lab cannot start. library: absent.so."""
    shutil.copyfile(library, INSTALLED)
    INSTALLED.chmod(0o755)
    NOTES.touch()
    NOTES.chmod(0o666)  # of programs of any user
    PRELOAD.write_text(f"{INSTALLED}\n")


def found() -> Absent:
    """Return what was noted since the last call and is still not there."""
    try:
        lines = NOTES.read_text(encoding="utf-8", errors="replace").splitlines()
        os.truncate(NOTES, 0)
    except OSError:
        return Absent((), ())
    notes = list(dict.fromkeys((line[:1], line[2:]) for line in lines if line[1:2] == " "))
    path = os.pathsep.join([*os.get_exec_path(), *FOLDERS])
    asked = [name for kind, name in notes if kind == "W" and not shutil.which(name, path=path)]
    return Absent(_started(notes, path), asked)


def _started(notes: Iterable[tuple[str, str]], path: str) -> list[str]:
    """Return the programs that are not there, in the order of the notes."""
    tried: dict[str, set[str]] = {}
    for kind, name in notes:
        folder, _, base = name.rpartition("/")
        if kind == "E" and folder in path.split(os.pathsep):
            tried.setdefault(base, set()).add(folder)
    missing = []
    for kind, name in notes:
        folder, _, base = name.rpartition("/")
        if kind == "N" and not folder:
            missing += [] if shutil.which(name, path=path) else [name]
        elif kind in "EN" and Path(name).exists():
            missing += _interpreter(name)
        elif kind in "EN" and folder not in path.split(os.pathsep):
            missing.append(name)
        elif kind in "EN" and not shutil.which(base, path=path):
            missing.append(base if len(tried.get(base, ())) > 1 else name)
        elif kind in "EN" and not tried.get(base, set()) & {*FIRST, path.partition(os.pathsep)[0]}:
            missing.append(name)  # it is elsewhere, and nobody looked there
    return list(dict.fromkeys(missing))


def _interpreter(script: str) -> list[str]:
    """Return the program that a script's first line names, if it is not there."""
    with suppress(OSError):
        with open(script, "rb") as file:
            words = file.readline(256).decode(errors="replace").removeprefix("#!").split()
        if words and words[0].startswith("/") and not Path(words[0]).exists():
            return [words[0]]
    return []
