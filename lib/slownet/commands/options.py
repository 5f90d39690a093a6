"""The options that several commands have: where something runs, and on which clock."""

from __future__ import annotations

from typing import Annotated

import typer

ClockOption = Annotated[
    str | None, typer.Option("--clock", metavar="real|virtual", help="The lab's clock; virtual where a lab is used.")
]
TdfOption = Annotated[
    str | None, typer.Option("--tdf", metavar="N|inf|auto", help="How many times faster the CPU looks on the virtual clock.")
]
CpuOption = Annotated[
    str | None,
    typer.Option(
        "--cpu", metavar="work|time|auto", help="What the virtual clock charges: instructions, or the time they take."
    ),
]
MemoryOption = Annotated[int, typer.Option("--memory", metavar="MB", help="Memory of a lab.")]
PlaceOption = Annotated[
    str, typer.Option("--place", metavar="auto|native|lab", help="In place (root and an able kernel), or in a lab.")
]
