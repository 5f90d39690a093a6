"""`slownet doctor calibrate`: compares the configured and the measured effect of links."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from slownet.cli.option_fields import of_fields
from slownet.cli.options import InANetwork, JsonOption
from slownet.links.ip import IP, IPV4, IPV6
from slownet.model.errors import SlownetError

if TYPE_CHECKING:
    from slownet.lab.run.events import Event
    from slownet.lab.run.place import Place


@of_fields
def calibrate(
    where: InANetwork,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="Only this kind of condition, e.g. delay or loss. Repeatable."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Measure one condition of each kind.")] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, max=2**31, help="Seed of everything random.")] = 1,
    ipv6: Annotated[
        bool, typer.Option("--ipv6", help=f"Send IPv6 instead of IPv4 packets; the least MTU is {IPV6.least_mtu}.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare the configured and the measured effect of links.

    It measures a matrix of conditions.
    """
    from slownet.calibration.cases import choose as choose_cases

    choose_cases((), only or [])
    ip = IPV6 if ipv6 else IPV4
    chosen = where.choose()
    raise typer.Exit(calibrate_and_show(chosen, only or [], quick, seed, ip, as_json))


def calibrate_and_show(place: Place, only: Sequence[str], quick: bool, seed: int, ip: IP, as_json: bool) -> int:
    """Calibrate and print the table; return the exit status, 1 if a row is not ok. Raises SlownetError."""
    from slownet.calibration import measure
    from slownet.calibration.calibration_table import show
    from slownet.calibration.cases import choose, matrix
    from slownet.cli.terminal import console, interrupted
    from slownet.lab.run.place import Interrupts
    from slownet.report.bars import bars

    cases = choose(matrix(seed, ip), only, quick)
    try:
        with Interrupts(place) as interrupts, bars() as progress:
            task = progress.add_task("calibrate", total=len(cases), now="booting")

            def follow(event: Event) -> None:
                if event["event"] == "case":
                    progress.update(task, completed=event["index"], now=event["name"])

            found = measure.calibrate(place, cases, seed, follow)
    except (SlownetError, KeyboardInterrupt):
        if interrupts.received:
            return interrupted(interrupts)
        raise
    if as_json:
        print(json.dumps(found.to_json(), allow_nan=False))
    else:
        console().print(show(found))
    return int(bool(found.bad))
