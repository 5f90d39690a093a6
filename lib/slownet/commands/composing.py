"""`slownet compose`: brings a compose project up and opens Mininet's command line in it; and `slownet run --compose`."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slownet.commands.options import ClockOption, CpuOption, MemoryOption, PlaceOption, ProfileOption, TdfOption
from slownet.errors import ExperimentError
from slownet.lab import foreground
from slownet.lab.boot import MEGABYTES, Share

if TYPE_CHECKING:
    from slownet.compose.model import Project
    from slownet.hypotheses.composed import Composed


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
    from slownet.compose import handover, images, reader
    from slownet.lab.place import choose

    if fields:
        print(table.markdown())
        return
    named = _files(files or [Path.cwd()])
    project = reader.read(named, profile or [])
    images.need(project)
    _warn(project)
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


def asked_for(
    experiments: Sequence[str], vary: Sequence[str], files: Sequence[Path], profiles: Sequence[str], tool: str | None,
    url: str | None, options: Sequence[str],
) -> Sequence[str | Composed]:  # fmt: skip
    """Return what `slownet run` is to run: the experiments, or the one on a compose project. Raises SlownetError."""
    if not files:
        given = {"--tool": tool, "--url": url, "--option": options, "--profile": profiles}
        for name in (each for each, value in given.items() if value):
            raise ExperimentError(f"{name} is for compose projects", name, "add --compose compose.yaml, or leave it out")
        return experiments
    if experiments:
        raise ExperimentError("either experiments or a compose project", "--compose", "leave one of them out")
    if not tool:
        raise ExperimentError("nothing measures the project", "--compose", "add --tool ab --url http://SERVICE:PORT/")
    from slownet.commands.running import chosen_conditions
    from slownet.hypotheses import composed

    made = composed.make(_files(files), profiles, chosen_conditions(vary), tool, url, _options(options))
    _warn(made.project)
    return [made]


def _files(named: Sequence[Path]) -> list[Path]:
    """Return the files, those of a folder in its place. Raises ComposeError."""
    from slownet.compose import files

    return [path for each in named for path in (files.usual(each) if each.is_dir() else [each])]


def _options(texts: Sequence[str]) -> dict[str, str]:
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ExperimentError(f"unclear option '{text}'", "--option", "write NAME=VALUE such as requests=50")
        found[name] = value
    return found


def _warn(project: Project) -> None:
    for line in project.warnings:
        print(f"slownet: {line}", file=sys.stderr)
