"""Runs a Mininet program, or Mininet's prompt, in a place as it would run here: its folders are there, and its results here."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from slownet.cli import results
from slownet.lab.build import init
from slownet.lab.run import foreground
from slownet.lab.run.absent import LIBRARY
from slownet.lab.run.folders import hides
from slownet.lab.run.lab import Share
from slownet.lab.run.place import Place
from slownet.model.errors import LabError

ELSEWHERE = "/run/slownet-folders"
"""The path in a lab of folders that, at their own path, would hide one of its own; the overlay is at their own path."""
TOOLS = "/run/slownet-tools"
"""The path in a lab of the folder with the library that notes missing programs."""
COVERED = ("/tmp", "/root")
NOT_TAKEN = 2
"""The exit status if a file that the program wrote could not be taken out of the lab."""


def run(place: Place, command: Sequence[str], files: Iterable[Path], terminal: bool) -> int:
    """Run a command in the working directory with this process's input and output; return its exit status.

    files: what the command reads: their folders are in the lab, too. Raises LabError.
    """
    foreground.open_what_is_closed()
    if place.kind != "lab":
        return foreground.attend(place, command, terminal=terminal)
    here = _working_directory()
    trees = outermost([*([here] if here else []), *folders(files)])
    elsewhere = {tree: f"{ELSEWHERE}/{number}" for number, tree in enumerate(trees) if str(tree) in COVERED}
    shares = [Share(tree, at=elsewhere.get(tree, "")) for tree in trees]
    shares.append(Share(init.need(), at=TOOLS))
    with results.Results(trees, here) as taking:
        words = [
            place.python,
            "-m",
            "slownet.cli.in_folder",
            results.job(trees, elsewhere, here, f"{TOOLS}/{LIBRARY}"),
            *command,
        ]
        # Modules that the user of this machine has installed for another Python would be found in a home that the lab has.
        env = {"PYTHONNOUSERSITE": "1"} if elsewhere else {}
        status = 1
        try:
            with Silence() if place.clock.cpu_is_free and not terminal else contextlib.nullcontext() as silence:
                status = foreground.attend(
                    place, words, shares=[*shares, taking.share], env=env, terminal=terminal,
                    heard=silence.heard if silence else lambda: None,
                )  # fmt: skip
        finally:
            taken = taking.take()
            for line in taken.lines():
                foreground.say(line)
    return NOT_TAKEN if taken.refused and status == 0 else status


def files_in(words: Sequence[str]) -> list[Path]:
    """Return the files and folders of this machine that a command's words name, such as in `--custom=a.py,b.py`."""
    found = []
    for word in words:
        for text in (word, *word.partition("=")[2].split(","), *word.split(",")):
            path = Path(text)
            with contextlib.suppress(OSError, ValueError):
                if "/" in text and path.exists() and not hides(_folder(path)):
                    found.append(path)
    return found


def folders(files: Iterable[Path]) -> list[Path]:
    """Return the folders of files, also of what a link leads to. Raises LabError for one that a lab cannot have."""
    found: list[Path] = []
    for file in files:
        for folder in (_folder(file), _folder(file.resolve())):
            if hides(folder) and str(folder) not in COVERED:
                raise LabError(f"{folder} would hide the lab's own folder", str(file), "move the file to another folder")
            found.append(folder)
    return found


def _folder(path: Path) -> Path:
    whole = Path(os.path.abspath(path))
    return whole if whole.is_dir() else whole.parent


def _working_directory() -> Path | None:
    """Return the working directory if a lab can have it under the same path."""
    try:
        here = Path.cwd()
    except FileNotFoundError:
        return None
    return None if hides(here) and str(here) not in COVERED else here


def outermost(folders: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for folder in sorted(dict.fromkeys(folders), key=lambda each: len(each.parts)):
        if not any(folder.is_relative_to(each) for each in found):
            found.append(folder)
    return found


# Says once that a lab with free CPU computes in silence: its clock may hardly advance.
#
# Where computing takes no time, what asks again and again without a pause (for the time, or whether there is input) takes a
# microsecond each time. Two seconds are two million such questions then, and minutes here. A lab whose clock does not
# advance at all is ended by its kernel.

QUIET_S = 120.0
LOOK_S = 5.0
BUSY = 0.1
"""The share of a processor that a lab takes at least which computes."""
LINE = (
    f"slownet: nothing was printed for {QUIET_S:.0f} s, and the lab computes: with free CPU, a program that asks for the time "
    "or for input again and again hardly advances the lab's clock: let it sleep in between, or charge the CPU with --tdf 1"
)


class Silence:
    """A context manager for the time that a command runs; `heard` is called whenever it prints."""

    def __init__(
        self, say: Callable[[str], object] = foreground.say, quiet_s: float = QUIET_S, look_s: float = LOOK_S,
        cpu: Callable[[], float] | None = None,
    ) -> None:  # fmt: skip
        """say: prints the line. cpu: returns the seconds of CPU time of the lab's processes."""
        self._say, self._quiet_s, self._look_s, self._cpu = say, quiet_s, look_s, cpu or _cpu
        self._ended = threading.Event()
        self.heard()

    def heard(self) -> None:
        """Begin anew: something was printed."""
        self._last, self._before = time.monotonic(), None

    def __enter__(self) -> Silence:
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    _before: tuple[float, float] | None

    def _watch(self) -> None:
        while not self._ended.wait(self._look_s):
            now, used = time.monotonic(), self._cpu()
            began, then = self._before = self._before or (now, used)
            if now - self._last > self._quiet_s and used - then > BUSY * (now - began):
                self._say(LINE)
                return


def _cpu() -> float:
    """Return the seconds of CPU time that the processes which this one started have taken."""
    from slownet.net.process import family  # not at the top: completion imports this module

    ticks = 0
    for pid in family(os.getpid()):
        if pid != os.getpid():
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
