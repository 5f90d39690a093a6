"""`slownet shell TOPOLOGY`: opens Mininet's command line in a running network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from slownet.commands import completing
from slownet.commands.lab import unless_asked
from slownet.commands.options import ClockOption, CpuOption, MemoryOption, PlaceOption, StpOption, TdfOption
from slownet.errors import LabError
from slownet.lab import foreground
from slownet.lab.boot import MEGABYTES, Share
from slownet.lab.folders import hides


def shell(
    topology: Annotated[
        str,
        typer.Argument(
            metavar="TOPOLOGY",
            help="A name such as two_hosts or star,5, or a file for `mn --custom`.",
            autocompletion=completing.topologies,
        ),
    ],
    link: Annotated[
        list[str] | None,
        typer.Option(
            "--link",
            metavar="A-B=CONDITION",
            help="A link's condition, e.g. client-server=rtt=10ms,loss=1%. Repeatable.",
            autocompletion=completing.links,
        ),
    ] = None,
    stp: StpOption = False,
    clock: ClockOption = None,
    tdf: TdfOption = None,
    cpu: CpuOption = None,
    memory: MemoryOption = MEGABYTES,
    place: PlaceOption = "auto",
) -> None:
    """Build a network and open Mininet's command line in it, on the real clock by default."""
    from slownet import specs
    from slownet.lab.place import choose
    from slownet.net import shape

    planned = specs.topology(topology)
    shape.check(planned, stp)
    links = [specs.link(text, planned) for text in link or []]
    chosen = choose(place, unless_asked(clock, tdf, cpu), tdf, memory, cpu)
    path, _, rest = topology.partition(".py")
    file = Path(f"{path}.py").resolve() if topology.startswith(f"{path}.py") else None
    if file and chosen.kind == "lab" and hides(file.parent):
        raise LabError(f"{file.parent} would hide the lab's own folder", where=topology, fix="move the file to another folder")
    job = json.dumps({"topology": f"{file}{rest}" if file else topology, "links": links, "stp": stp})
    shares = [Share(file.parent)] if file and file.parent != Path.cwd() else []
    terminal = foreground.are_terminals(0, 1)
    raise typer.Exit(foreground.run_here(chosen, [chosen.python, "-m", "slownet.commands.prompt", job], shares, terminal))
