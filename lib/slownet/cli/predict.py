"""`slownet predict`: the time of a run's operation at another site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slownet.cli import completing
from slownet.cli.options import (
    JsonOption,
)


def predict(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="The directory of a run at several delays.", autocompletion=completing.runs)
    ],
    t0: Annotated[str, typer.Option("--t0", metavar="TIME", help="Time per operation on your machine without delay.")],
    rtt: Annotated[str, typer.Option("--rtt", metavar="TIME", help="Round-trip time of your users.")],
    metric: Annotated[
        str | None, typer.Option("--metric", metavar="NAME", help="Which time to predict, if the run measured several.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Predict a time at another site from a run's law, your machine's T0 and your users' round trip."""
    from slownet.cli.prediction import run_and_show

    run_and_show(run, metric, t0, rtt, as_json)
