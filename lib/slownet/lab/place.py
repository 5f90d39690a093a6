"""Where a command runs, in a lab or natively, behind one interface."""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from slownet.errors import LabError, nearest
from slownet.lab import calibrate, counter, extension_shares, host_programs, image, native
from slownet.lab import parts as lab_parts
from slownet.lab.boot import MEGABYTES, Lab, Share, Sink, check_megabytes
from slownet.lab.clock import INF, TIME, WORK, Clock, check_cpu, check_kind, check_tdf
from slownet.lab.inplace import InPlace

VENV = "/opt/slownet/venv"
PACKAGE = Path(__file__).resolve().parent.parent
CODE = "/opt/slownet/code"
"""Where a lab has the installed package, alone: beside it may be packages for another Python."""
# On the virtual clock two runs see the same dates. They begin a day after the image was built: files that seem to come
# from the future upset programs, PHP's cache for one leaves them out.
DAY_S = 86_400


@dataclass
class Place:
    """Runs commands on one kernel and clock; `facts` go into every result."""

    clock: Clock
    facts: dict[str, Any]
    parts: lab_parts.Parts | None = None  # None: native
    megabytes: int = MEGABYTES
    clock_is_asked_for: bool = False  # by the caller; else an experiment may state its own
    _running: list[Lab | InPlace] = field(default_factory=list)
    told_to_end: list[int] = field(default_factory=list)
    """The signals that `Interrupts` heard: no command starts after one."""

    @property
    def kind(self) -> str:
        return "lab" if self.parts else "native"

    def on(self, tdf: str | None) -> Place:
        """The same place on the virtual clock with this factor; as it is natively, or where the caller chose a clock."""
        if tdf is None or self.parts is None or self.clock_is_asked_for:
            return self
        factor = check_tdf(tdf)
        return self if factor is None else replace(self, clock=Clock("virtual", factor, counter=self.clock.counter))

    @property
    def python(self) -> str:
        """The interpreter that has the project's packages there."""
        return f"{VENV}/bin/python" if self.parts else sys.executable

    @property
    def package(self) -> Path:
        """The folder of this package there."""
        return Path(CODE, PACKAGE.name) if self.parts and not checkout() else PACKAGE

    def run(
        self,
        argv: Sequence[str],
        *,
        shares: Sequence[Share] = (),
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: int | None = None,
        stdout: Sink = lambda data: None,
        stderr: Sink = lambda data: None,
        terminal: tuple[int, int] | None = None,
        turn: int = 0,
        pinned: Callable[[int], None] = lambda processor: None,
    ) -> int:
        """Runs a command to its end; returns its exit status, -N if signal N ended it, or came before it. Raises LabError.

        terminal: rows and columns; in a lab of a terminal of its own, natively it gets this process's. turn, pinned: as a
        `Lab` takes them; natively nothing is pinned.
        """
        if self.told_to_end:
            return -self.told_to_end[-1]
        if not self.parts:
            here = InPlace()
            with self._as_running(here):
                return here.run(
                    argv, env={"PYTHONPATH": _own_path(), **(env or {})}, cwd=cwd, stdin=stdin, stdout=stdout, stderr=stderr,
                    on_terminal=terminal is not None,
                )  # fmt: skip
        # Outer folders first: a share mounted later would hide one inside it.
        more = extension_shares.shares()
        nested = sorted([*code_shares(), *host_programs.shares(), *more, *shares], key=lambda share: len(share.path.parts))
        lab = self.parts.lab(self.clock, megabytes=self.megabytes, shares=nested)
        lab.turn, lab.pinned = turn, pinned
        given = {**lab_environment(self.clock), **host_programs.environment(), **(env or {})}
        given = extension_shares.on_path(given) if more else given
        with self._as_running(lab):
            return lab.run(
                argv, env=given, cwd=str(cwd) if cwd else "", stdin=stdin,
                stdout=stdout, stderr=stderr, terminal=terminal,
                wall_clock=self.parts.image.built + DAY_S if self.clock.kind == "virtual" else 0,
            )  # fmt: skip

    def signal(self, number: int) -> None:
        """Passes a signal to every command that runs there now."""
        for each in list(self._running):
            each.signal(number)

    def resize(self, rows: int, columns: int) -> None:
        """Tells every command that runs there now the size of its terminal."""
        for each in list(self._running):
            each.resize(rows, columns)

    @contextlib.contextmanager
    def _as_running(self, command: Lab | InPlace) -> Iterator[None]:
        self._running.append(command)
        try:
            yield
        finally:
            self._running.remove(command)


def checkout() -> Path | None:
    """The project's folder, if this runs from one; None where it is installed."""
    folder = PACKAGE.parents[1]
    return folder if (folder / "setup.py").is_file() else None


def code_shares() -> list[Share]:
    """The project's code, read-only: the checkout, or the installed package."""
    home = checkout()
    return [Share(home) if home else Share(PACKAGE, at=f"{CODE}/{PACKAGE.name}")]


def _own_path() -> str:
    """The PYTHONPATH of a command in place: this package before what the caller named."""
    return os.pathsep.join(filter(None, [str(PACKAGE.parent), os.environ.get("PYTHONPATH")]))


def lab_environment(clock: Clock) -> dict[str, str]:
    """What every command in a lab finds in its environment; nothing of the caller's gets in by itself."""
    return {
        native.INSIDE: clock.tdf_text if clock.kind == "virtual" else "real",
        native.CPU: clock.cpu or "",
        "PATH": f"{VENV}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "PYTHONPATH": str(PACKAGE.parent) if checkout() else CODE,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "LANG": "C.UTF-8",
        "TERM": os.environ.get("TERM", "dumb"),
    }


def choose(
    place: str = "auto",
    clock: str | None = None,
    tdf: str | None = None,
    megabytes: int = MEGABYTES,
    cpu: str | None = None,
) -> Place:
    """The place for these options, as written on the command line.

    auto: native where the machine can and no virtual clock is asked for, else a lab. Raises LabError.
    """
    if place not in ("auto", "native", "lab"):
        raise LabError(f"unknown place '{place}'", where="--place", fix=nearest(place, ["auto", "native", "lab"]))
    kind = check_kind(clock) if clock is not None else None
    factor = check_tdf(tdf) if tdf is not None else None
    if tdf is not None and kind == "real":
        raise LabError(
            f"a time dilation factor of {tdf} means nothing on the real clock",
            where="--tdf",
            fix="leave out --tdf or --clock real",
        )
    wanted = check_cpu(cpu) if cpu is not None else None
    if wanted is not None and (kind == "real" or factor == INF):
        where = "the real clock" if kind == "real" else "a virtual clock with free CPU"
        raise LabError(f"{where} does not charge the CPU's {wanted}", where="--cpu", fix="leave out --cpu")
    check_megabytes(megabytes)
    wants_virtual = kind == "virtual" or tdf is not None or wanted is not None
    if place == "native" or (place == "auto" and not wants_virtual):
        missing = native.lacks()
        if not missing:
            if wants_virtual:
                raise LabError(
                    "the virtual clock needs a lab", where="--place native", fix="leave out --place, or take --clock real"
                )
            return Place(
                Clock("real"),
                {
                    "kernel": platform.release(),
                    "image": "",
                    "place": "native",
                    "tdf_probe": None,
                    "versions": image.installed(),
                },
            )
        if place == "native":
            raise LabError(
                f"this machine lacks {', '.join(missing)}",
                where="--place native",
                fix="take the lab (--place lab), or run as root on a kernel that has them",
            )
    asked = clock is not None or tdf is not None
    return replace(_lab(kind or "virtual", factor, megabytes, wanted), clock_is_asked_for=asked)


def _lab(kind: str, factor: float | None, megabytes: int, cpu: str | None) -> Place:
    found = lab_parts.need()
    measured = charged(found, cpu) if kind == "virtual" else calibrate.tdf(found)
    tdf = factor if factor is not None else float(str(measured["tdf"]))
    chosen = Clock("real") if kind == "real" else Clock("virtual", tdf, counter=str(measured.get("counter", "")))
    facts = {
        "kernel": found.kernel.description,
        "image": found.image.description,
        "place": "lab",
        "tdf_probe": measured,
        "versions": found.image.versions,
    }
    return Place(chosen, facts, found, megabytes)


def charged(found: lab_parts.Parts, cpu: str | None = None) -> dict[str, object]:
    """What a virtual clock on this machine charges for CPU, and its TDF: as `calibrate.work` or `calibrate.tdf` say it.

    cpu: "work" or "time"; None for the best that this machine has as far as `calibrate.worth` says.
    Raises LabError where work is asked for and cannot be counted.
    """
    counter_of = counter.scope() if cpu != TIME else None
    if cpu == WORK and counter_of is None:
        why, fix = counter.why_not()
        raise LabError(f"work cannot be charged: {why}", where="--cpu", fix=fix)
    if counter_of is not None:
        measured = calibrate.work(found, counter_of)
        if cpu == WORK or calibrate.worth(measured):
            return measured
    return calibrate.tdf(found)


class Interrupts:
    """While it is entered (in the main thread), SIGINT, SIGTERM and SIGHUP go to what runs in the place; no more starts then.

    One that the caller ignores, as nohup and the shell's `&` make it, stays ignored.
    """

    NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self, place: Place) -> None:
        self._place = place
        self.received = 0

    def __enter__(self) -> Interrupts:
        heard = [number for number in self.NUMBERS if signal.getsignal(number) != signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._pass_on) for number in heard}
        return self

    def _pass_on(self, number: int, frame: object) -> None:
        self.received = number
        self._place.told_to_end.append(number)
        self._place.signal(number)

    def __exit__(self, *error: object) -> None:
        self._place.told_to_end.clear()
        for number, handler in self._before.items():
            signal.signal(number, handler)
