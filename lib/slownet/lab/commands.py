"""`slownet lab`: build it, run a command or a shell in it, and say what it is."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from slownet.errors import LabError
from slownet.lab import cache
from slownet.lab.boot import MEGABYTES, Share
from slownet.lab.clock import check_limit
from slownet.lab.parts import Parts
from slownet.lab.place import Interrupts, Place, choose

app = typer.Typer(no_args_is_help=True, help="The lab: an emulated network's kernel and programs in one ordinary process.")

ClockOption = Annotated[
    str | None, typer.Option("--clock", metavar="real|virtual", help="The lab's clock; virtual where a lab is used.")
]
TdfOption = Annotated[
    str | None, typer.Option("--tdf", metavar="N|inf|auto", help="How many times faster the CPU looks on the virtual clock.")
]
CpuOption = Annotated[
    str | None,
    typer.Option(
        "--cpu", metavar="work|time|auto", help="What the virtual clock charges: instructions, or the time they take."
    ),
]
MemoryOption = Annotated[int, typer.Option("--memory", metavar="MB", help="Memory of a lab.")]
PlaceOption = Annotated[
    str, typer.Option("--place", metavar="auto|native|lab", help="In place (root and an able kernel), or in a lab.")
]

# No folder of the host may hide what the image has there, or below.
SYSTEM_FOLDERS = ["/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr", "/opt/slownet",
                  "/var/lib/slownet"]  # fmt: skip


@app.command()
def build() -> None:
    """Build kernel and image; what is there already is not made again."""
    from slownet.lab import bytecode, parts

    def report(what: str, done: bool) -> None:
        sys.stderr.write(f"lab: {what} {'ready' if done else '...'}\n")  # whole lines, from several threads

    built = parts.build(report)
    if stale := bytecode.stale():
        report("bytecode", False)
        bytecode.make(built, stale)
        report("bytecode", True)
    print(_describe(built))


@app.command("exec", context_settings={"ignore_unknown_options": True})
def execute(
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="The command and its arguments.")],
    clock: ClockOption = None,
    tdf: TdfOption = None,
    cpu: CpuOption = None,
    memory: MemoryOption = MEGABYTES,
    place: PlaceOption = "lab",
    limit: Annotated[
        str | None, typer.Option("--limit", metavar="TIME", help="Of silence on the virtual clock, then the lab ends: 720h.")
    ] = None,
    share: Annotated[
        Path | None, typer.Option("--share", metavar="FOLDER", help="A folder of the host that the command may write to.")
    ] = None,
) -> None:
    """Run one command in the lab: its output, errors and exit status come through."""
    chosen = choose(place, clock, tdf, memory, cpu)
    if limit is not None:
        chosen.clock = replace(chosen.clock, limit_s=check_limit(limit))
    shares = [Share(_checked(share), writable=True)] if share else []
    raise typer.Exit(run_here(chosen, command, shares, terminal=are_terminals(0, 1, 2)))


@app.command()
def shell(
    clock: ClockOption = None,
    tdf: TdfOption = None,
    cpu: CpuOption = None,
    memory: MemoryOption = MEGABYTES,
    place: PlaceOption = "lab",
) -> None:
    """Open a shell in a new lab, on the real clock unless asked: a virtual one runs on for as long as a person thinks."""
    chosen = choose(place, unless_asked(clock, tdf, cpu), tdf, memory, cpu)
    raise typer.Exit(run_here(chosen, ["bash", "-i"], [], terminal=are_terminals(0)))


@app.command()
def info() -> None:
    """Say what this machine has: kernel, image, TDF, and whether it can do without a lab."""
    from slownet.lab import native, parts

    found = parts.find()
    print(f"cache   {cache.root()}")
    print(_describe(found) if found else "lab     not built: slownet lab build")
    missing = native.lacks()
    print(f"native  {'no: this machine lacks ' + ', '.join(missing) if missing else 'yes'}")


def _describe(found: Parts) -> str:
    from slownet.lab import calibrate, counter
    from slownet.lab.place import charged

    scope = counter.scope()
    measured = charged(found)
    if not scope:
        cpu = f"time: {'; '.join(counter.why_not())}"
    elif "counter" in measured:
        cpu = f"work, by the {scope}'s counter: {measured['price']} times the CPU of charging time"
    else:
        dear = calibrate.work(found, scope)["price"]
        cpu = f"time: to charge work (--cpu work) costs {dear} times as much, more than {calibrate.WORTH}"
    image = f"{found.image.description}, {found.image.path.stat().st_size / 2**20:.0f} MB"
    lines = {"kernel": found.kernel.description, "image": image, "cpu": cpu}
    lines["tdf"] = f"{measured['tdf']} (measured {measured['ratio']})"
    return "\n".join(f"{name:<8}{text}" for name, text in lines.items())


def unless_asked(clock: str | None, tdf: str | None, cpu: str | None) -> str | None:
    """The clock of what waits for a person: the real one, unless something of the virtual one is asked for."""
    return "real" if (clock, tdf, cpu) == (None, None, None) else clock


def run_here(place: Place, command: list[str], shares: list[Share], terminal: bool) -> int:
    """Runs a command from the caller's folder with the caller's input and output; returns its exit status.

    terminal: whether input and output are one, which the command shall have. Raises LabError.
    """
    _open_what_is_closed()
    here = _here(place)
    if here and place.kind == "lab":
        shares = [Share(here), *shares]
    return attend(place, command, shares=shares, cwd=here, terminal=terminal)


def attend(
    place: Place,
    command: Sequence[str],
    *,
    shares: Sequence[Share] = (),
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: int | None = 0,
    terminal: bool = False,
) -> int:
    """Runs a command in a place as if it ran here: its input, output and signals are this process's.

    terminal: whether it gets one; this process's descriptors 0, 1 and 2 are terminals then. Returns the exit status as a
    shell tells it, 128 + N after signal N. Raises LabError.
    """
    size = os.get_terminal_size(0) if terminal else None
    raw = terminal and place.kind == "lab"
    before = termios.tcgetattr(0) if raw else None
    try:
        with Interrupts(place) as interrupts:
            if raw:
                tty.setraw(0)
                signal.signal(signal.SIGWINCH, lambda number, frame: _resize(place))
            status = place.run(
                command, shares=shares, env=env, cwd=cwd, stdin=stdin, stdout=lambda data: _write(1, data),
                stderr=lambda data: _write(2, data), terminal=(size.lines, size.columns) if size else None,
            )  # fmt: skip
    except BrokenPipeError:  # nobody reads on: `... | head`
        return 128 + signal.SIGPIPE
    finally:
        if before:
            signal.signal(signal.SIGWINCH, signal.SIG_DFL)
            termios.tcsetattr(0, termios.TCSADRAIN, before)
    if status < 0 or (interrupts.received and status == 0):
        return 128 + (-status or interrupts.received)
    return status


def _here(place: Place) -> Path | None:
    """The working directory, if the command can have the same one."""
    try:
        here = Path.cwd()
    except FileNotFoundError:
        return None
    return here if place.kind == "native" or not hides(here) else None


def hides(folder: Path) -> bool:
    """Whether that folder of the host would hide one that the lab needs, or contain it."""
    if any(folder.is_relative_to(each) or Path(each).is_relative_to(folder) for each in SYSTEM_FOLDERS):
        return True
    return str(folder) in ("/root", "/tmp") or (folder.is_relative_to("/var") and len(folder.parts) < 4)


def _checked(share: Path) -> Path:
    if not share.is_dir():
        raise LabError(f"{share} is no folder", where="--share", fix="name a folder of this machine")
    folder = share.resolve()
    if hides(folder):
        raise LabError(f"{folder} would hide the lab's own", where="--share", fix="name another folder, one of its own")
    return folder


def are_terminals(*fds: int) -> bool:
    return all(os.isatty(fd) for fd in fds)


def _open_what_is_closed() -> None:
    """Gives 0, 1 and 2 something to stand for, before a pipe of ours gets such a number."""
    fd = os.open(os.devnull, os.O_RDWR)
    while fd < 3:
        fd = os.dup(fd)
    os.close(fd)


def _resize(place: Place) -> None:
    size = os.get_terminal_size(0)
    place.resize(size.lines, size.columns)


def _write(fd: int, data: bytes) -> None:
    while data:
        try:
            data = data[os.write(fd, data) :]
        except BlockingIOError:  # somebody else made it so
            select.select([], [fd], [])
        except BrokenPipeError:
            raise
        except OSError as error:
            raise LabError(f"cannot pass on what the command writes ({error.strerror})") from error
