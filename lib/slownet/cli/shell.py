"""`slownet shell TOPOLOGY`: opens Mininet's command line in a running network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from slownet.cli import completing, unchanged
from slownet.cli.helping import OwnCommand
from slownet.cli.option_fields import of_fields
from slownet.cli.options import InANetwork, StpOption
from slownet.lab.run import foreground


class Shell(OwnCommand):
    """A shell of a topology; a compose file among its words makes it one of that project."""

    def leads_to(self, words: Sequence[str]) -> str | None:
        """Return the command that brings a compose file up."""
        return "compose" if any(each.endswith(completing.COMPOSE_FILES) for each in words) else None


@of_fields
def shell(
    topology: Annotated[
        str,
        typer.Argument(
            metavar="TOPOLOGY",
            help="A name such as two_hosts or star,5, or a file for `mn --custom`.",
            autocompletion=completing.topologies,
        ),
    ],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="ARGUMENT", help="After --: what the file reads from sys.argv.")
    ] = None,
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
    *,
    where: InANetwork,
) -> None:
    """Open Mininet's command line in a network, or run its programs.

    The network is a topology, or a compose project (a file that ends in .yaml or .yml, or below, `slownet shell compose`). The
    clock is the real one by default; of programs, the virtual one.
    """
    from slownet.hypotheses import specs
    from slownet.net import check_topology

    planned = specs.topology(topology, arguments or [])
    check_topology.check(planned, stp)
    links = specs.links(link or [], planned)
    chosen = where.choose(or_real=True)
    path, _, rest = topology.partition(".py")
    file = Path(f"{path}.py").resolve() if topology.startswith(f"{path}.py") else None
    job = json.dumps(
        {"topology": f"{file}{rest}" if file else topology, "links": links, "stp": stp, "arguments": arguments or []}
    )
    words = [chosen.python, "-m", "slownet.cli.prompt", job]
    raise typer.Exit(unchanged.run(chosen, words, [file] if file else [], foreground.are_terminals(0, 1)))
