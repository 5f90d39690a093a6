"""`slownet compose`: brings a compose project up and opens Mininet's command line in it."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from slownet.commands.options import ClockOption, CpuOption, MemoryOption, PlaceOption, ProfileOption, TdfOption
from slownet.lab import foreground
from slownet.lab.boot import MEGABYTES, Share


def compose(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="Compose files, later ones merged over earlier ones, or their folder (default: this).",
        ),
    ] = None,
    profile: ProfileOption = None,
    clock: ClockOption = None,
    tdf: TdfOption = None,
    cpu: CpuOption = None,
    memory: MemoryOption = MEGABYTES,
    place: PlaceOption = "auto",
    fields: Annotated[
        bool, typer.Option("--fields", help="Only print what is done with each field of a compose file.")
    ] = False,
) -> None:
    """Bring a compose project up as a network and open Mininet's command line in it, on the real clock by default."""
    from slownet.commands.lab import unless_asked
    from slownet.compose import fields as table
    from slownet.compose import files as compose_files
    from slownet.compose import handover, images, reader
    from slownet.lab.place import choose

    if fields:
        print(table.markdown())
        return
    named = compose_files.named(files or [Path.cwd()])
    project = reader.read(named, profile or [])
    images.need(project)
    for line in project.warnings:
        print(f"slownet: {line}", file=sys.stderr)
    chosen = choose(place, unless_asked(clock, tdf, cpu), tdf, memory, cpu)
    with tempfile.TemporaryDirectory(prefix="slownet-compose-") as parent:
        folder = Path(parent, "project")
        handover.write(folder, {handover.key(named, profile or []): project})
        at = f"{handover.AT}/project"
        shares = [Share(folder, at=at), *handover.shares([project])]
        handed = at if chosen.kind == "lab" else str(folder)
        job = json.dumps({"compose": [[str(each) for each in named], profile or []], "handed": handed, "links": []})
        words = [chosen.python, "-m", "slownet.commands.prompt", job]
        raise typer.Exit(foreground.run_here(chosen, words, shares, foreground.are_terminals(0, 1)))
