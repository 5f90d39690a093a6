"""`slownet hunt replay`: a schedule of faults once more, and whether its history is the same."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slownet.cli.hunt import digest, here, violations
from slownet.cli.option_fields import of_fields
from slownet.cli.options import InLabs, JsonOption
from slownet.cli.outputs import need_place
from slownet.cli.terminal import console
from slownet.model.options import stated

if TYPE_CHECKING:
    from slownet.hunt.replaying import Replayed


@dataclass(frozen=True, kw_only=True)
class ReplayOptions:
    """The options of a schedule that is repeated."""

    times: int = field(default=1, metadata=stated("N", "Boots, one after another.", least=1))
    report: Path | None = field(default=None, metadata=stated("FILE", "Write a page of the last boot: its history and logs."))


@of_fields
def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A schedule (TOML), such as hunts/NAME/found.toml.")],
    experiment: Annotated[
        str | None, typer.Argument(metavar="EXPERIMENT", help="Another experiment than the one that the file names.")
    ] = None,
    *,
    options: ReplayOptions,
    where: InLabs,
    as_json: JsonOption = False,
) -> None:
    """Repeat a schedule of faults that a hunt has found, and compare its history."""
    from slownet.hunt.replaying import replay as replayed

    if options.report:
        need_place(options.report, "--report")
    done = replayed(file, experiment, here(where), options.times)
    if as_json:
        print(json.dumps({
            "faults": done.faults.to_json(), "violations": [violations(each) for each in done.examples],
            "same": [not each for each in done.differs], "history_sha256": [digest(each) for each in done.examples],
        }))  # fmt: skip
    else:
        show_replayed(done)
    if options.report:
        from slownet.hunt import replaying

        replaying.write(options.report, done)
        if not as_json:
            print(options.report)
    raise typer.Exit(int(any(each.breaks or each.error for each in done.examples)))


def show_replayed(done: Replayed) -> None:
    """Print what came of a replay."""
    screen = console()
    screen.print(str(done.faults), highlight=False, soft_wrap=True)
    for number, (example, differs) in enumerate(zip(done.examples, done.differs, strict=True), 1):
        what = "; ".join(map(str, example.violations)) or example.error or "nothing breaks"
        same = f"another history, {differs}" if differs else f"the same history, digit for digit ({digest(example)[:12]})"
        if number == 1 and not done.is_compared:
            same = f"the first history ({digest(example)[:12]})"
        screen.print(f"  boot {number}: {what}", highlight=False, soft_wrap=True)
        if example.history:
            screen.print(f"  boot {number}: {same}", highlight=False, soft_wrap=True)
