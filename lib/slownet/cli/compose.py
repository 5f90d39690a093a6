"""`slownet shell compose`: brings a compose project up for Mininet's command line, or for one command in a container."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slownet.cli.helping import SectionedCommand
from slownet.cli.option_fields import of_fields
from slownet.cli.options import InANetwork, ProfileOption
from slownet.lab.run import foreground
from slownet.lab.run.lab import Share
from slownet.model.errors import ComposeError, nearest

if TYPE_CHECKING:
    from slownet.compose.model import Project
    from slownet.runner.where import Where

EXEC = "exec"
WORDS = "slownet.compose.exec"
"""The key under which a context has the service and the command after `EXEC`."""


class WithExec(SectionedCommand):
    """A command whose first argument may be ``exec``: what follows the service is the command's own, options too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Set aside what follows ``exec``."""
        files = self._arguments(ctx, args)
        if files[:1] == [EXEC]:
            before, after = args[: len(args) - len(files)], files[1:]
            words = self._arguments(ctx, after)
            ctx.meta[WORDS] = words
            args = [*before, *after[: len(after) - len(words)]]
        return super().parse_args(ctx, args)

    def _arguments(self, ctx: Any, args: Sequence[str]) -> list[str]:
        """Return the arguments from the first that is neither an option nor its value."""
        parser = self.make_parser(ctx)
        parser.allow_interspersed_args = False
        parser.ignore_unknown_options = True  # they are refused afterwards
        found, rest, _ = parser.parse_args(list(args))
        return [*(found.get("files") or ()), *rest]


@of_fields
def compose(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="Compose files, later ones merged over earlier ones, or their folder (default: COMPOSE_FILE, or this folder).",
        ),
    ] = None,
    file: Annotated[
        list[Path] | None, typer.Option("--file", "-f", metavar="FILE", help="The same, as in docker compose. Repeatable.")
    ] = None,
    profile: ProfileOption = None,
    *,
    where: InANetwork,
    check: Annotated[
        bool, typer.Option("--check", help="Only print what is refused and ignored, and all images that are missing.")
    ] = False,
    fields: Annotated[
        bool, typer.Option("--fields", help="Only print what is done with each field of a compose file.")
    ] = False,
) -> None:
    """Bring a compose project up as a network and open Mininet's command line in it, on the real clock by default.

    `slownet shell compose exec SERVICE COMMAND...` runs one command in a service's container instead.
    """
    from slownet.compose import fields as table
    from slownet.compose import project_files as compose_files
    from slownet.compose import project_images, reader

    if fields:
        print(table.markdown())
        return
    for each in files or []:
        if (instead := OF_DOCKER.get(str(each))) and not each.exists():
            raise ComposeError(f"there is no 'slownet shell compose {each}'", fix=f"write {instead}")
    stated = [*(files or []), *(file or [])]
    named = compose_files.named(stated) if stated else compose_files.unnamed(Path.cwd(), os.environ)
    if check:
        raise typer.Exit(_check(named, profile or []))
    project = reader.read(named, profile or [])
    words = _checked(context.meta[WORDS], project) if WORDS in context.meta else []
    project_images.need(project)
    for line in project.warnings:
        print(f"slownet: {line}", file=sys.stderr)
    raise typer.Exit(_bring_up(project, named, profile or [], words, where))


OF_DOCKER: Mapping[str, str] = {
    "up": "slownet shell compose, which brings the project up until the end of its prompt",
    "run": "slownet shell compose exec SERVICE COMMAND, or slownet run compose.yaml for measurements",
    "ps": "slownet shell compose, which prints its services",
    "config": "slownet shell compose --check",
    "build": "slownet shell compose --check, which prints the commands that build what is missing",
    "pull": "slownet shell compose --check, which prints the commands that add what is missing",
}
"""Commands of docker compose that have another name here, and that name."""


def _bring_up(
    project: Project, named: Sequence[Path], profile: Sequence[str], words: Sequence[str],
    where: Where,
) -> int:  # fmt: skip
    """Run the prompt, or one command, in the project's network; return its exit status."""
    from slownet.compose import handover

    chosen = where.choose(or_real=True)
    with tempfile.TemporaryDirectory(prefix="slownet-compose-") as parent:
        folder = Path(parent, "project")
        handover.write(folder, {handover.key(named, profile): project})
        at = f"{handover.AT}/project"
        shares = [Share(folder, at=at), *handover.shares([project])]
        handed = at if chosen.kind == "lab" else str(folder)
        asked = {"compose": [[str(each) for each in named], list(profile)], "handed": handed, "links": [], "exec": list(words)}
        command = [chosen.python, "-m", "slownet.cli.prompt", json.dumps(asked)]
        return foreground.run_here(chosen, command, shares, foreground.are_terminals(0, 1))


def _checked(words: Sequence[str], project: Project) -> list[str]:
    """Return the name of a service's first host and the command. Raises ComposeError."""
    names = list(dict.fromkeys(name for each in project.services for name in (each.name, each.origin)))
    example = f"write slownet shell compose exec {names[0]} COMMAND"
    if not words:
        raise ComposeError("exec names no service", fix=example)
    name, *command = words
    if name not in names:
        raise ComposeError(f"no service '{name}' in {project.name}", fix=nearest(name, names))
    if not command:
        raise ComposeError(f"exec names no command for {name}", fix=example)
    return [next(each.name for each in project.services if name in (each.name, each.origin)), *command]


def _check(named: Sequence[Path], profile: Sequence[str]) -> int:
    """Print all that is wrong with a project, and what is ignored; return 2 if it would not come up."""
    from slownet.compose import project_images, reader

    found = reader.check(named, profile)
    missing = project_images.lacking(found.services)
    refused = [*found.refused, *project_images.unchecked(found.services)]
    for kind, lines in (("refused", refused), ("image", missing)):
        for error in lines:
            print(f"{kind}  {error.line}")
    for line in found.warnings[:-1] if found.ignored else found.warnings:
        print(f"note  {line}")
    for each in found.ignored:
        print(f"ignored  {each}")
    for step in found.steps:
        print(f"fault  {step.words}, {step.at}")
    absent = "image missing" if len(missing) == 1 else "images missing"
    wrong = [f"{len(lines)} {what}" for what, lines in (("refused", refused), (absent, missing)) if lines]
    print(", ".join(wrong) or f"it comes up: {', '.join(each.name for each in found.services)}")
    return 2 if wrong else 0
