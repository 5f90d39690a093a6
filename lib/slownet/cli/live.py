"""`slownet live`: a page that shows a network while programs run in it."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from slownet.cli import completing
from slownet.cli.options import ClockOption, KernelOption, MemoryOption, StpOption
from slownet.lab.run.lab import MEGABYTES


def live(
    network: Annotated[
        str,
        typer.Argument(
            metavar="NETWORK",
            help="A topology such as star,5, a file for `mn --custom`, a compose.yaml, an experiment, MiniEdit's FILE.mn, or a "
            "link that a page has shared.",
            autocompletion=completing.topologies,
        ),
    ] = "two_hosts",
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="Of the page; by default a free one.")] = 0,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    trace: Annotated[
        list[Path] | None,
        typer.Option(
            "--trace",
            metavar="FILE",
            help="An own recording, to be played on links (see `slownet field trace`). Repeatable.",
        ),
    ] = None,
    stp: StpOption = False,
    clock: ClockOption = None,
    memory: MemoryOption = MEGABYTES,
    kernel: KernelOption = None,
) -> None:
    """Serve a page to draw, change and watch a network.

    Its clock is the real one by default; on the virtual clock the page has a pause and a step. Links have sliders, hosts have
    buttons and shells; what is shown can be undone, shared, and saved as a test, an experiment or a Mininet program. Ctrl-C
    ends it.
    """
    from functools import partial

    from slownet.lab.run.clock import ClockRequest
    from slownet.live import libraries, recordings, server, starting
    from slownet.live.line import Line, own_place
    from slownet.live.session import Session

    server.web()
    asked = ClockRequest(clock, "inf" if clock == "virtual" else None, None).or_real()
    recorded = {each.name: recordings.read(each) for each in trace or ()}
    with starting.beginning(network, stp, virtual=clock == "virtual") as first:
        page = server.Page(libraries.need())
        place = own_place(asked, memory, kernel)

        def make() -> Session:
            session = Session(first.start, first.title, first.source, stp, partial(Line, place), recorded)
            if first.drawn:
                session.place(first.drawn)
            return session

        serving = server.Server(page, make)

        def ready(address: str) -> None:
            print(f"{first.title}: {address}", flush=True)
            print(f"To watch only: {serving.watching}", flush=True)
            print("Whoever has the first address can run commands in the lab. Ctrl-C ends it.", flush=True)
            if show and not webbrowser.open(address):
                print("slownet: no browser can be opened here, --open: open that address in one", file=sys.stderr, flush=True)

        server.serve(serving, port, ready)
