"""The options of `slownet why`: of any account, and of a command that is run for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from slownet.cli.outputs import JSON, PICTURES
from slownet.model.errors import ExperimentError
from slownet.model.options import Option, same, stated
from slownet.runner.run_options import RunOptions

PAGE, FLAME, FOLDED, SPEEDSCOPE, CHROME = "page", "flame", "folded", "speedscope", "chrome-trace"
OF_ACCOUNTS = (PAGE, *PICTURES, FLAME, FOLDED, SPEEDSCOPE, CHROME, JSON)


@dataclass(frozen=True, kw_only=True)
class WhyOptions:
    """The options of an account."""

    cell: tuple[str, ...] = field(
        default=(), metadata=stated("NAME=VALUE", "The cell, such as rtt=40ms. Default: the last one.")
    )
    from_: str | None = field(
        default=None, metadata=stated("HOST", "The host that began. Default: the first; of a command, client.")
    )
    whole: bool = field(default=False, metadata=stated("", "Account for all connections to a server, not only for the last."))
    steps: bool = field(default=False, metadata=stated("", "Print each step, with its message."))
    cures: bool = field(default=False, metadata=stated("", "Measure again with each cure, beside what it promises."))
    out: tuple[str, ...] = field(
        default=(),
        metadata=stated(
            "KIND=FILE",
            "Write it to a file, too: page, svg, png, pdf, flame (SVG), folded (for flamegraph.pl), speedscope, chrome-trace, "
            "json. Repeatable.",
            [f"{each}=" for each in OF_ACCOUNTS],
        ),
    )
    json: bool = field(default=False, metadata=stated("", "Print one JSON object instead of text."))
    profile: tuple[str, ...] = field(default=(), metadata=stated("NAME", "A profile of the compose project. Repeatable."))
    runs: Path = same(RunOptions, "runs")  # noqa: RUF009  # it is a field

    @property
    def label(self) -> Mapping[str, str]:
        """The conditions of the cell. Raises ExperimentError."""
        found = {}
        for each in self.cell:
            name, equals, value = each.partition("=")
            if not equals or not name or not value:
                raise ExperimentError(f"unclear cell '{each}'", Option("cell"), "write NAME=VALUE such as rtt=40ms")
            found[name] = value
        return found


@dataclass(frozen=True, kw_only=True)
class CommandOptions:
    """The options of a command after ``--``, but for the host that it runs on."""

    topology: str | None = field(
        default=None, metadata=stated("NAME|FILE", "Its network: star,5, or a file for `mn --custom`.")
    )
    link: tuple[str, ...] = field(default=(), metadata=stated("A-B=CONDITION", "client-server=rtt=10ms,loss=1%. Repeatable."))
    limit: str | None = field(default=None, metadata=stated("TIME", "End it after this long, on its clock. Default: 10min."))
    compose: tuple[Path, ...] = field(
        default=(), metadata=stated("FILE", "Run it beside this project. Repeatable: files are merged.")
    )
