"""`slownet why RUN1 RUN2`: which steps of an operation came, went or grew from one run to another."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from slownet.cli.outputs import JSON, OUT, Outputs
from slownet.cli.terminal import console, say_page
from slownet.cli.why_options import PAGE
from slownet.model.errors import ExperimentError

if TYPE_CHECKING:
    from slownet.judge.records.result import RunData
    from slownet.model.shapes import Json
    from slownet.waits.account import Account
    from slownet.waits.difference import Difference

OF_TWO = (PAGE, JSON)


def check(wanted: Outputs, cures: bool) -> None:
    """Raise ExperimentError if something is wanted that only one account has."""
    if cures:
        raise ExperimentError("cures apply to one run", "--cures", "name one run")
    if other := [each for each in wanted.files if each not in OF_TWO]:
        raise ExperimentError(
            f"two runs cannot be written as '{other[0]}'", OUT, f"write {' or '.join(f'{each}=FILE' for each in OF_TWO)}"
        )


def show(found: tuple[tuple[Account, RunData], tuple[Account, RunData]], wanted: Outputs, as_json: bool) -> None:
    """Print and write what makes the second operation take longer than the first. Raises SlownetError."""
    from slownet.report.account_section import write_difference
    from slownet.waits.difference import difference
    from slownet.waits.difference_text import difference_text
    from slownet.waits.of_run import links_between

    (before, one), (after, two) = found
    changes = difference(before, after)
    names = one.directory.name, two.directory.name
    record = _record(changes, names)
    if path := wanted.files.get(PAGE):
        between = [links_between(each.facts.get("topology") or {}) for each in (one, two)]
        write_difference(path, names, changes, (between[0], between[1]))
    if wanted.write_json(lambda: record):
        return
    if as_json:
        print(json.dumps(record, indent=1))
        return
    print(difference_text(changes, names))
    if path:
        say_page(console(), path)


def _record(found: Difference, names: tuple[str, str]) -> Json:
    """Return the difference as data: times in ms; steps and ms are those before and after."""
    from slownet.waits.difference_text import difference_notes

    return {
        "runs": list(names), "difference_ms": found.ns / 1e6,
        "elapsed_ms": [found.before.elapsed_ns / 1e6, found.after.elapsed_ns / 1e6],
        "changes": [
            {
                "cause": str(each.kind.cause), "hosts": list(each.kind.hosts), "what": each.kind.what, "trip": each.kind.trip,
                "steps": list(each.steps), "ms": [ns / 1e6 for ns in each.ns], "more_ms": each.difference_ns / 1e6,
            }
            for each in found.changes
        ],
        "notes": difference_notes(found),
    }  # fmt: skip
