"""`slownet lab`: build it, run a command or a shell in it, and say what it is."""

from __future__ import annotations

import os
import sys
import termios
import tty
from pathlib import Path
from typing import Annotated

import typer

from slownet.errors import LabError
from slownet.lab import cache
from slownet.lab.boot import MEGABYTES, Share
from slownet.lab.place import Interrupts, Place, choose

app = typer.Typer(no_args_is_help=True, help="The lab: an emulated network's kernel and programs in one ordinary process.")

ClockOption = Annotated[
    str | None, typer.Option("--clock", metavar="real|virtual", help="The lab's clock; virtual where a lab is used.")
]
TdfOption = Annotated[
    str | None, typer.Option("--tdf", metavar="N|inf|auto", help="How many times faster the CPU looks on the virtual clock.")
]
MemoryOption = Annotated[int, typer.Option("--memory", metavar="MB", help="Memory of a lab.")]
PlaceOption = Annotated[
    str, typer.Option("--place", metavar="auto|native|lab", help="In place (root and an able kernel), or in a lab.")
]

# Folders of the image that a folder of the host must not hide.
SYSTEM_FOLDERS = {
    "",
    "bin",
    "boot",
    "dev",
    "etc",
    "lib",
    "lib64",
    "media",
    "mnt",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "sys",
    "usr",
    "var",
}


@app.command()
def build() -> None:
    """Build kernel and image; what is there already is not made again."""
    from slownet.lab import calibrate, parts

    def report(what: str, done: bool) -> None:
        print(f"lab: {what} {'ready' if done else '...'}", file=sys.stderr, flush=True)

    with_parts = parts.build(report)
    measured = calibrate.tdf(with_parts)
    print(
        f"kernel  {with_parts.kernel.description}\nimage   {with_parts.image.description}\ntdf     {measured['tdf']} (measured {measured['ratio']})"
    )


@app.command("exec", context_settings={"ignore_unknown_options": True})
def execute(
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="The command and its arguments.")],
    clock: ClockOption = None,
    tdf: TdfOption = None,
    memory: MemoryOption = MEGABYTES,
    place: PlaceOption = "lab",
    share: Annotated[
        Path | None, typer.Option("--share", metavar="FOLDER", help="A folder of the host that the command may write to.")
    ] = None,
) -> None:
    """Run one command in the lab: its output, errors and exit status come through."""
    chosen = choose(place, clock, tdf, memory)
    raise typer.Exit(_run(chosen, command, share, terminal=sys.stdin.isatty() and sys.stdout.isatty()))


@app.command()
def shell(
    clock: ClockOption = None, tdf: TdfOption = None, memory: MemoryOption = MEGABYTES, place: PlaceOption = "lab"
) -> None:
    """Open a shell in a new lab."""
    chosen = choose(place, clock, tdf, memory)
    raise typer.Exit(_run(chosen, ["bash", "-i"], None, terminal=sys.stdin.isatty()))


@app.command()
def info() -> None:
    """Say what this machine has: kernel, image, TDF, and whether it can do without a lab."""
    from slownet.lab import calibrate, native, parts

    found = parts.find()
    print(f"cache   {cache.root()}")
    if found:
        measured = calibrate.tdf(found)
        print(
            f"kernel  {found.kernel.description}\nimage   {found.image.description}, {found.image.path.stat().st_size / 2**20:.0f} MB"
        )
        print(f"tdf     {measured['tdf']} (measured {measured['ratio']})")
    else:
        print("lab     not built: slownet lab build")
    missing = native.lacks()
    print(f"native  {'no: this machine lacks ' + ', '.join(missing) if missing else 'yes'}")


def _run(place: Place, command: list[str], share: Path | None, terminal: bool) -> int:
    cwd = Path.cwd()
    shares = [Share(cwd)] if cwd.parts[1:2] and cwd.parts[1] not in SYSTEM_FOLDERS else []
    if share:
        if not share.is_dir():
            raise LabError(f"{share} is no folder", where="--share", fix="name a folder of this machine")
        shares.append(Share(share.resolve(), writable=True))
    here = cwd if shares or place.kind == "native" else None
    size = os.get_terminal_size() if terminal else None
    before = termios.tcgetattr(0) if terminal else None
    try:
        with Interrupts(place) as interrupts:
            if terminal:
                tty.setraw(0)
            status = place.run(
                command, shares=shares, cwd=here, stdin=0, stdout=lambda data: _write(1, data), stderr=lambda data: _write(2, data),
                terminal=(size.lines, size.columns) if size else None,
            )  # fmt: skip
    finally:
        if before:
            termios.tcsetattr(0, termios.TCSADRAIN, before)
    if status < 0 or (interrupts.received and status == 0):
        return 128 + (-status or interrupts.received)
    return status


def _write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]
