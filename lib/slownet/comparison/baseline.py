"""A baseline: a run's numbers in one small file that a project commits, for comparison with later runs.

It holds the samples' metrics with their single values, so that its intervals are those of the run, and no raw output.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from slownet.judge.records.charging import TERMS
from slownet.judge.records.measured_folder import load
from slownet.judge.records.result import RunData, gather
from slownet.judge.records.run_json import MALFORMED
from slownet.judge.records.samples import finite
from slownet.model import shapes, userfile, whole_file
from slownet.model.errors import SlownetError
from slownet.model.facts import SHAPE as FACTS_SHAPE
from slownet.model.sample import KEPT

KIND = "baseline"
FACTS = ("experiment", *TERMS, "kernel", "image", "machine", "slownet", "planned", "boots", "sampling")
"""The facts of a run that a comparison needs or mentions."""
SAMPLE = (
    "experiment",
    "cell",
    "condition",
    "index",
    "tool",
    "status",
    "error",
    "verified_rtt_ms",
    "boot",
    "block",
    "random",
    "played",
    "late",
    "rate_bit_s",
    "virtual_s",
    "charged_s",
    "metrics",
)
"""The keys of a sample that hold its numbers, their intervals and the count of instructions."""


def save(run: Path, file: Path) -> RunData:
    """Write the baseline of a run and return the run. Raises SlownetError: a failed cell or damage cannot be a baseline."""
    found = load(run)
    if not found.cells:
        raise SlownetError("nothing was measured", f"in {run}", "run the experiment first")
    if found.damage:
        fix = "a baseline needs all: run it again, or restore them from a copy"
        raise SlownetError("samples are damaged or missing", f"in {run}", fix)
    if found.failed:
        raise SlownetError(f"{found.failed[0].title} failed", f"in {run}", "a baseline needs every cell: run it again")
    if _is_another(file):
        raise SlownetError(f"{file} is not a baseline, and would be overwritten", fix="name another file, or remove it")
    facts = {name: found.facts.get(name) for name in FACTS if name in found.facts}
    samples = (finite({name: sample.get(name) for name in SAMPLE}) for cell in found.cells for sample in cell.samples)
    lines = ",\n".join(json.dumps(each, allow_nan=False) for each in samples)  # a line each, for diffs
    text = f'{{"kind": "{KIND}", "facts": {json.dumps(finite(facts), allow_nan=False)}, "samples": [\n{lines}\n]}}\n'
    whole_file.write(file, text, own={file.suffix.lower(): ""}, is_input=True)  # it was looked at above
    return found


def is_one(path: Path) -> bool:
    """Return whether a file is a baseline, from its content."""
    try:
        return path.is_file() and _parsed(path).get("kind") == KIND
    except (OSError, ValueError, AttributeError):
        return False


def _is_another(file: Path) -> bool:
    """Return whether a file holds something else than a baseline or the rest of one."""
    if not file.is_file() or not file.stat().st_size:
        return False
    try:
        record = _parsed(file)
    except (OSError, ValueError):
        return file.suffix != ".json"  # else one with the marks of a merge, perhaps
    return not (isinstance(record, dict) and record.get("kind") == KIND)


def _parsed(path: Path) -> Any:
    return userfile.json(userfile.read_text(path, userfile.MOST_RECORD))


def read(path: Path) -> RunData:
    """Return a baseline as a run. Raises SlownetError."""
    save_it = f"slownet compare save RUN {path} writes one"
    try:
        record = _parsed(path)
        _SHAPE(record, "it")
        return gather(record["samples"], record["facts"], path)
    except FileNotFoundError as error:
        raise SlownetError(f"there is no baseline {path}", fix=save_it) from error
    except IsADirectoryError as error:
        fix = f"slownet compare {path} RUN compares two runs"
        raise SlownetError(f"{path} is a folder, not a baseline", fix=fix) from error
    except (OSError, *MALFORMED) as error:
        why = userfile.reason(error) if isinstance(error, (OSError, ValueError)) else error
        raise SlownetError(f"{path} is not a baseline ({why})", fix=save_it) from error


_SHAPE = shapes.record(
    {"kind": shapes.one_of(KIND), "facts": FACTS_SHAPE, "samples": shapes.each(KEPT)}, others=shapes.anything
)
