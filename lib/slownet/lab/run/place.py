"""Runs commands in a lab or natively, behind one interface."""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from slownet.lab.build import image, project
from slownet.lab.build import parts as lab_parts
from slownet.lab.build.kernel import BASE
from slownet.lab.host import calibrate, counter, native
from slownet.lab.run import confinement, container_shares, host_programs, missing_features
from slownet.lab.run.caller import Given, set_variables
from slownet.lab.run.clock import ANY_CLOCK, EXACT, INF, SPEED, TIME, WORK, Clock, ClockRequest, check_tdf
from slownet.lab.run.inplace import InPlace
from slownet.lab.run.lab import MEGABYTES, Lab, Share, Sink, check_megabytes
from slownet.lab.run.missing_features import HasModules
from slownet.model import extensions, options
from slownet.model.errors import LabError, nearest
from slownet.model.importing import PACKAGE
from slownet.model.options import CLOCK, CPU, KERNEL, PLACE

if TYPE_CHECKING:
    from slownet.model.facts import Facts


# Shares extension packages (`slownet.model.extensions`) with a lab at a path of their own, and nothing else.

_EXTENSIONS_AT = "/opt/slownet/added"


def extension_shares() -> list[Share]:
    """Return read-only shares of their code and metadata. Raises ExperimentError."""
    return [Share(each, at=f"{_EXTENSIONS_AT}/{each.name}") for each in extensions.folders()]


def extensions_on_path(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with the extension packages last on Python's path."""
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, [environment.get("PYTHONPATH"), _EXTENSIONS_AT]))}


NO_KERNEL = "labs on the exact clock have Debian's own kernel"
VENV = "/opt/slownet/venv"
CODE = "/opt/slownet/code"
"""Folder in a lab with the installed package and nothing else: its neighbours may be packages for another Python."""
OF_A_CHECKOUT = ("lib", "topologies", "experiments", "setup.py", "pyproject.toml")
"""The files that make a copy of a checkout usable."""
COPY = "/opt/slownet/checkout"
"""Its path in an exact lab: the path of the checkout would be among what decides its digits."""
# On the virtual clock every run sees the same dates. They begin a day after the image was built, because programs mishandle
# files dated in the future: PHP's cache, for example, ignores them. Each further boot of a run begins a second later: a program
# that takes its random numbers from the date would draw the same ones in all of them, which would look as if it drew none.
DAY_S = 86_400
# On the exact clock they are the same for everybody, whenever the image was built: another date moves a page of WordPress by
# some microseconds. It is a year after the image's files, so that certificates of that year are valid.
EXACT_DATE = image.FILES_UNTIL + 365 * DAY_S

CONFINED = "confined"
"""A lab, but only where this machine's kernel confines it."""
NATIVE, LAB, REAL = "native", "lab", "real"
PLACES = ("auto", NATIVE, LAB, CONFINED)

_printed: set[str] = set()
"""Lines about labs that were printed, each once a process."""


@dataclass
class Place:
    """A kernel and clock to run commands on; `facts` go into every result."""

    clock: Clock
    facts: Facts
    parts: lab_parts.Parts | None = None  # None: native
    megabytes: int = MEGABYTES
    given: Given = field(default_factory=Given)  # what the caller adds to an experiment's surroundings
    shares: Sequence[Share] = ()  # what the project's file shares with every lab
    early_s: int = 0  # how long before the date of other boots a virtual clock begins
    clock_is_asked_for: bool = False  # by the caller; if not, an experiment may choose its own
    cpu_is_asked_for: bool = False  # what it costs: then it is not made free because no claim depends on it
    kernel_is_asked_for: bool = False  # by the caller or the project; the exact clock has none that can be chosen
    only_exact: bool = False  # because there is no kernel for labs with another clock
    _running: list[Lab | InPlace] = field(default_factory=list)
    received: list[int] = field(default_factory=list)
    """Signals that `Interrupts` received: no command starts after one."""

    @property
    def kind(self) -> str:
        return "lab" if self.parts else "native"

    def with_clock(self, clock: Clock) -> Place:
        """Return the same place on this clock."""
        return replace(self, clock=clock)

    def free(self) -> Place:
        """Return the same place with free CPU where it has a virtual clock; unchanged on the real one, as natively."""
        return self.with_clock(Clock("virtual", INF)) if self.clock.kind == "virtual" else self

    def on(self, tdf: str | None, clock: str | None = None) -> Place:
        """Return the same place on the virtual clock with this TDF, or on the exact clock.

        Unchanged if the caller chose a clock, or natively. Raises LabError if it is to be the exact clock and cannot.
        """
        if clock == EXACT and not self.clock_is_asked_for:
            if self.kernel_is_asked_for:
                raise LabError(NO_KERNEL, KERNEL, "leave it out, or the exact clock")
            if self.parts is None:
                raise LabError(
                    "the experiment asks for the exact clock, which needs a lab", fix=f"{PLACE.set(LAB)}, or {CLOCK.set(REAL)}"
                )
            exact = Clock(EXACT)
            return replace(self, clock=exact, facts={**self.facts, **_exact_facts(self.parts, exact)})
        if tdf is None or self.parts is None or self.clock_is_asked_for:
            return self
        if self.only_exact:
            self.parts.need_kernel()
        factor = check_tdf(tdf)
        return self if factor is None else replace(self, clock=Clock("virtual", factor, counter=self.clock.counter))

    @property
    def python(self) -> str:
        """Path of the interpreter with the project's packages in that place."""
        return f"{VENV}/bin/python" if self.parts else sys.executable

    @property
    def package(self) -> Path:
        """Folder of this package in that place."""
        if self.parts and not checkout():
            return Path(CODE, PACKAGE.name)
        return Path(COPY, "lib", PACKAGE.name) if self.clock.is_exact else PACKAGE

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
        later: str = "",
    ) -> int:
        """Run a command to its end; return its exit status, -N if signal N ended it or came before it. Raises LabError.

        terminal: rows and columns, None for no terminal; a lab's command gets a terminal of its own, a native one uses this
        process's. turn, pinned, later: see `Lab`; a native command is not pinned.
        """
        if self.received:
            return -self.received[-1]
        if not self.parts:
            here = InPlace()
            with self._as_running(here):
                return here.run(
                    _apart(argv), env={"PYTHONPATH": own_path(), **(env or {})}, cwd=cwd, stdin=stdin, stdout=stdout,
                    stderr=stderr, on_terminal=terminal is not None,
                )  # fmt: skip
        if self.only_exact:  # not before: what is wrong with a command is found without a lab, and is one line then
            _print_once(f"the lab's own kernel is not built, so the clock is the exact one ({lab_parts.BUILD})")
        # Outer folders first: an outer share mounted later would hide the inner one.
        more = extension_shares()
        brought = [] if self.clock.is_exact else [*host_programs.shares(), *container_shares.shares()]
        asked = [*code_shares(self.clock), *brought, *more, *shares]
        projects = [each for each in self.shares if each.mount[2] not in {other.mount[2] for other in asked}]
        nested = sorted([*asked, *projects], key=lambda share: len(share.path.parts))
        lab = self._lab(self.parts, nested)
        lab.turn, lab.pinned, lab.later = turn, pinned, later
        programs = {} if self.clock.is_exact else host_programs.environment()
        given = {**lab_environment(self.clock), **programs, **(env or {})}
        given = extensions_on_path(given) if more else given
        with self._as_running(lab):
            return lab.run(
                argv, env=given, cwd=str(cwd) if cwd else "", stdin=stdin,
                stdout=stdout, stderr=stderr, terminal=terminal,
                wall_clock=self._date(self.parts, turn),
                asked=partial(_name_what_is_missing, lab.kernel),
            )  # fmt: skip

    def _date(self, parts: lab_parts.Parts, turn: int) -> int:
        """Return the date when a boot begins, in seconds since 1970; 0 for the host's."""
        if self.clock.kind == "real":
            return 0
        if self.clock.is_exact:  # it begins a second later in further boots as well: see init_exact.h
            return max(EXACT_DATE, parts.layer.built + DAY_S if parts.layer else 0)
        return parts.built + DAY_S - self.early_s + turn

    def _lab(self, parts: lab_parts.Parts, shares: Sequence[Share]) -> Lab:
        if not self.clock.is_exact:
            return parts.lab(self.clock, megabytes=self.megabytes, shares=shares)
        from slownet.lab.exact import exact_parts  # only such labs need it

        return exact_parts.lab(parts, self.clock, megabytes=self.megabytes, shares=shares)

    def signal(self, number: int) -> None:
        """Pass a signal to every running command."""
        for each in list(self._running):
            each.signal(number)

    def notify(self, number: int) -> None:
        """Pass a signal, which does not ask it to end, to every command that runs in a lab."""
        for each in list(self._running):
            if isinstance(each, Lab):
                each.notify(number)

    def resize(self, rows: int, columns: int) -> None:
        """Resize the terminal of every running command."""
        for each in list(self._running):
            each.resize(rows, columns)

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the labs that run, and with them a virtual clock, for a ``with`` block in a sink of their output."""
        with contextlib.ExitStack() as stack:
            for each in self._running:
                if isinstance(each, Lab) and self.clock.kind == "virtual":
                    stack.enter_context(each.stopped())
            yield

    @contextlib.contextmanager
    def _as_running(self, command: Lab | InPlace) -> Iterator[None]:
        self._running.append(command)
        if self.received:  # since `run` looked, while the command was not among those that `signal` tells
            command.signal(self.received[-1])
        try:
            yield
        finally:
            self._running.remove(command)


def _apart(argv: Sequence[str]) -> list[str]:
    """Return a native command whose Python imports nothing from the working directory, where anyone may have put a module."""
    ours = list(argv[:2]) == [sys.executable, "-m"]
    return [sys.executable, "-P", *argv[1:]] if ours else list(argv)


def checkout() -> Path | None:
    """Return the project's folder if this runs from a checkout; None if it is installed."""
    folder = PACKAGE.parents[1]
    return folder if (folder / "setup.py").is_file() else None


def code_shares(clock: Clock) -> list[Share]:
    """Return a read-only share of the project's code: the checkout or the installed package."""
    home = checkout()
    if home:
        return [Share(home, at=COPY, only=OF_A_CHECKOUT) if clock.is_exact else Share(home)]
    return [Share(PACKAGE, at=f"{CODE}/{PACKAGE.name}")]


def own_path() -> str:
    """Return the PYTHONPATH of a command in place: this package, then the caller's folders."""
    return os.pathsep.join(filter(None, [str(PACKAGE.parent), os.environ.get("PYTHONPATH")]))


def lab_environment(clock: Clock) -> dict[str, str]:
    """Return the environment of every command in a lab; the caller's environment is not inherited."""
    home, terminal = str(PACKAGE.parent), os.environ.get("TERM", "dumb")
    if clock.is_exact:
        home, terminal = f"{COPY}/lib", "dumb"
    return {
        native.INSIDE: clock.tdf_text if clock.kind == "virtual" else clock.kind,
        native.CPU: clock.cpu or "",
        "PATH": f"{VENV}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "PYTHONPATH": home if checkout() else CODE,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "LANG": "C.UTF-8",
        "TERM": terminal,
    }


def choose(
    place: str = "auto",
    asked: ClockRequest = ANY_CLOCK,
    megabytes: int = MEGABYTES,
    *,
    folder: Path | None = None,
    confined: bool = False,
    exact: bool = False,
    kernel: str | None = None,
) -> Place:
    """Return the place with the clock that is asked for.

    Parameters
    ----------
    place : str
        "native", "lab", or "auto": native if the machine supports it and neither the virtual clock nor confinement is
        requested, else a lab.
    asked : ClockRequest
        The clock.
    megabytes : int
        Of a lab's memory.
    folder : Path, optional
        From where upwards the project's file is searched, which may request confinement, too; the working directory unless
        given.
    confined : bool
        Whether labs have to be confined.
    exact : bool
        Whether the caller can do with the exact clock, to which nothing comes from outside.
    kernel : str, optional
        "base" or "wide", the kind of the lab's kernel; unless given, that of the project's file, else the base one.

    Raises
    ------
    LabError
        The request is invalid, or this machine cannot meet it. A line reports labs that cannot and need not be confined.
    """
    if place not in PLACES:
        raise LabError(f"unknown place '{place}'", where=PLACE, fix=nearest(place, PLACES))
    if place == CONFINED:
        place, confined = "auto" if native.inside_lab() else "lab", True
    asked.check()
    kind, speed = asked.kind, _speed(asked, exact)
    check_megabytes(megabytes)
    of = here(folder) if not native.inside_lab() else None
    if kernel is not None:
        project.check_kernel(kernel, str(KERNEL))
        place = _with_own_kernel(place, asked, kernel)
    if not native.inside_lab() and (confined or (of and of.require_confinement)):
        place = _confined(place, of if not confined else None)
    if place == "native" or (place == "auto" and not asked.takes_a_lab):
        missing = native.lacks()
        if not missing:
            if asked.takes_a_lab:
                fix = f"leave out {PLACE}, or use {CLOCK.set(REAL)}"
                raise LabError(f"the {kind or 'virtual'} clock needs a lab", PLACE.set(NATIVE), fix)
            return _native(clock_is_asked_for=asked.clock is not None)
        if place == "native":
            fix = f"use a lab ({PLACE.set(LAB)}), or run as root on a kernel that has them"
            raise LabError(f"this machine lacks {', '.join(missing)}", PLACE.set(NATIVE), fix)
    or_exact = exact and asked.cpu is None and not asked.names_a_clock and kernel is None
    of_kind = kernel or (of.kernel if of else "") or BASE
    chosen = _lab(kind or "virtual", asked.factor, megabytes, asked.charged, of, speed, or_exact, of_kind)
    return replace(
        chosen, clock_is_asked_for=asked.names_a_clock, cpu_is_asked_for=asked.cpu is not None,
        kernel_is_asked_for=kernel is not None or of_kind != BASE,
    )  # fmt: skip


def _name_what_is_missing(kernel: HasModules, asked: Sequence[str]) -> None:
    """Print what a lab's kernel lacks of what was asked for, once for all boots of a command."""
    if line := missing_features.line(asked, kernel):
        _print_once(options.here(line))


def _print_once(line: str) -> None:
    if line not in _printed:
        _printed.add(line)
        sys.stderr.write(f"slownet: {line}\n")


def _with_own_kernel(place: str, asked: ClockRequest, kernel: str) -> str:
    """Return "lab", as only labs have a kernel that can be chosen. Raises LabError if the request is for another place."""
    if place == "native":
        raise LabError("without a lab, this machine's own kernel runs", KERNEL, f"leave it out, or use {PLACE.set(LAB)}")
    if asked.kind == EXACT:
        raise LabError(NO_KERNEL, KERNEL, "leave it out, or the exact clock")
    return "lab"


def _native(clock_is_asked_for: bool) -> Place:
    facts: Facts = {
        "kernel": platform.release(),
        "image": "",
        "place": "native",
        "tdf_probe": None,
        "versions": image.installed(),
    }
    return Place(Clock("real"), facts, clock_is_asked_for=clock_is_asked_for)


def _speed(asked: ClockRequest, exact: bool) -> int:
    """Return the speed of the exact clock. Raises LabError for an invalid one, or if the caller cannot use that clock."""
    if asked.kind == EXACT and not exact:
        what = "only `slownet run`, `check`, `sweep`, `hunt`, `reproduce`, `lab exec` and tests have the exact clock"
        raise LabError(what, CLOCK.set(EXACT), "use the virtual clock, or leave it out")
    return SPEED if asked.speed is None else asked.speed


def _confined(place: str, asker: project.Project | None) -> str:
    """Return "lab", as only there programs are confined. Raises LabError.

    asker: the project whose file asks for it, None if an option does.
    """
    where = str(asker.file) if asker else PLACE.set(CONFINED)
    if place == "native":
        raise LabError("without a lab, nothing is confined", where, f"leave out {PLACE}, or what requires confinement")
    confinement.need(where)
    return "lab"


def here(folder: Path | None = None) -> project.Project | None:
    """Return the project of a folder, by default of the working directory. Raises LabError."""
    try:
        return project.find(folder or Path.cwd())
    except FileNotFoundError:  # the working directory is gone
        return None


def _lab(
    kind: str,
    factor: float | None,
    megabytes: int,
    cpu: str | None,
    of: project.Project | None,
    speed: int = SPEED,
    or_exact: bool = False,
    of_kind: str = BASE,
) -> Place:
    """Return a lab. or_exact: whether one on the exact clock will do where the kernel of the others was not built."""
    found = lab_parts.usable()
    found = found if kind == EXACT or (or_exact and not found.own_kernel) else found.with_kernel(of_kind)
    confinement.warn()
    whole = found.with_layer(of)
    only_exact = or_exact and not found.own_kernel
    if kind == EXACT or only_exact:
        clock = Clock(EXACT, speed=speed)
        facts: Facts = {**_exact_facts(whole, clock), **_of_project(of)}
        return Place(clock, facts, whole, megabytes, shares=of.shares if of else (), only_exact=only_exact)
    measured = charged(found, cpu) if kind == "virtual" else calibrate.tdf(found)
    tdf = factor if factor is not None else float(str(measured["tdf"]))
    chosen = Clock("real") if kind == "real" else Clock("virtual", tdf, counter=str(measured.get("counter", "")))
    facts = {
        "kernel": found.kernel.description,
        "image": whole.description,
        "place": "lab",
        "confined": confinement.describe(confinement.landlock()),
        "tdf_probe": measured,
        "versions": whole.versions,
        **_of_project(of),
    }
    return Place(chosen, facts, whole, megabytes, shares=of.shares if of else ())


def _of_project(of: project.Project | None) -> Facts:
    return {"project": {"file": str(of.file), "share": [each.text for each in of.shares]}} if of else {}


def _exact_facts(whole: lab_parts.Parts, clock: Clock) -> Facts:
    from slownet.lab.exact import exact, exact_parts

    return {
        "kernel": exact_parts.need(whole).kernel.description,
        "image": whole.description,
        "place": "lab",
        "confined": confinement.describe(confinement.landlock()),
        "tdf_probe": None,
        "machine": exact.facts(clock),
        "versions": whole.versions,
    }


def charged(found: lab_parts.Parts, cpu: str | None = None) -> dict[str, object]:
    """Return what a virtual clock on this machine charges for CPU, and its TDF, as from `calibrate.work` or `calibrate.tdf`.

    cpu: "work" or "time"; None lets `calibrate.worth` decide. Raises LabError if work is requested but cannot be counted.
    """
    counter_of = counter.scope() if cpu != TIME else None
    if cpu == WORK and counter_of is None:
        why, fix = counter.why_not()
        raise LabError(f"CPU time cannot be charged: {why}", where=CPU, fix=fix)
    if counter_of is not None:
        measured = calibrate.work(found, counter_of)
        if cpu == WORK or calibrate.worth(measured):
            return measured
    return calibrate.tdf(found)


def with_given(place: Place, env: Sequence[str], shares: Sequence[str]) -> Place:
    """Return the place with what ``--env`` and ``--share`` add; the variables are set here too, where claims are made.

    Raises LabError.
    """
    return replace(place, given=set_variables(env, shares))


class Interrupts:
    """A context manager (main thread only) that passes SIGINT, SIGTERM and SIGHUP to the place's commands and starts no more.

    Signals that the caller ignores, as under nohup or the shell's `&`, stay ignored.
    """

    NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self, place: Place) -> None:
        self._place = place
        self.received = 0

    def __enter__(self) -> Interrupts:
        handled = [number for number in self.NUMBERS if signal.getsignal(number) != signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._pass_on) for number in handled}
        return self

    def _pass_on(self, number: int, frame: object) -> None:
        self.received = number
        self._place.received.append(number)
        self._place.signal(number)

    def __exit__(self, *error: object) -> None:
        self._place.received.clear()
        for number, handler in self._before.items():
            signal.signal(number, handler)
