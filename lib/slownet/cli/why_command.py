"""`slownet why`: where the time of an operation went."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from slownet.cli import completing, why_outputs, why_two
from slownet.cli.options import JsonOption
from slownet.cli.outputs import Outputs
from slownet.cli.why_outputs import WhyOutOption
from slownet.model.errors import ExperimentError


def why(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN",
            help="The directory of a run; of two, what made the second one take longer.",
            autocompletion=completing.runs,
        ),
    ],
    cell: Annotated[
        list[str] | None,
        typer.Option("--cell", metavar="NAME=VALUE", help="The cell, such as rtt=40ms. Default: the run's last cell."),
    ] = None,
    client: Annotated[
        str | None,
        typer.Option("--from", metavar="HOST", help="The host that began the operation. Default: the first to send."),
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Account for all connections to a server, not only for the last of several.")
    ] = False,
    each_step: Annotated[bool, typer.Option("--steps", help="Print each step, with what its message says.")] = False,
    out: WhyOutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print where every millisecond of an operation went, from the captures of all hosts.

    A run without captures is measured once more with them, in the cell that is asked for and with its seeds. Of two runs, it
    prints which steps came, went or grew.
    """
    from slownet.judge.records.measured_folder import load
    from slownet.runner.api.accounted import accounted
    from slownet.why.account_text import answer, steps, text
    from slownet.why.of_run import links_between

    wanted = Outputs.read(out or [], why_outputs.OF_ACCOUNTS)
    if len(runs) > 2:
        raise ExperimentError(f"{len(runs)} runs", "RUN", "name one, or two to compare")
    if len(runs) == 2:
        why_two.check(wanted)
    one, *other = [accounted(load(each), _label(cell or []), client, whole=whole, notify=_say) for each in runs]
    if other:
        why_two.show((one, other[0]), wanted, as_json)
        return
    found, captured = one
    links = links_between(captured.facts.get("topology") or {})
    record = {**found.to_json(), "run": str(captured.directory)}
    why_outputs.write(wanted, found, links, captured.directory.name)
    if wanted.write_json(lambda: record):
        return
    if as_json:
        print(json.dumps(record, indent=1))
    elif each_step:
        print("\n".join([answer(found), *steps(found)]))
    else:
        print(text(found, links))


def _label(texts: list[str]) -> dict[str, str]:
    found = {}
    for each in texts:
        name, equals, value = each.partition("=")
        if not equals or not name or not value:
            raise ExperimentError(f"unclear cell '{each}'", "--cell", "write NAME=VALUE such as rtt=40ms")
        found[name] = value
    return found


def _say(line: str) -> None:
    print(f"slownet: {line}", file=sys.stderr)
