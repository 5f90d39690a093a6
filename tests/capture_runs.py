"""Keeps the cells and claims of runs for the tests of their answers: capture_runs.py FOLDER, of `slownet reproduce --all`.

What was kept of other experiments stays.
"""

import json
import sys
from pathlib import Path

from slownet.judge.records.result import load

KEPT = Path(__file__).parent / "unit" / "captured_runs.json"
FACTS = ("question", "operation", "clock", "tdf", "cpu")
CLAIM = ("name", "verdict", "expected", "text", "kind", "metric")
DIGITS = 6


def captured(run):
    """Return what an answer is made of."""
    cells = [
        {
            "label": dict(cell.label),
            "condition": dict(cell.condition),
            "metrics": {name: numbers(each) for name, each in cell.metrics.items()},
        }
        for cell in run.cells
    ]
    claims = [{name: value for name, value in claim.to_json().items() if name in CLAIM} for claim in run.claims]
    return {name: run.facts[name] for name in FACTS if name in run.facts} | {"cells": cells, "claims": claims}


def numbers(summary):
    """Return a summary's mean, ends and count, with as many digits as an answer has at most."""
    return [float(f"{each:.{DIGITS}g}") for each in (summary.mean, summary.low, summary.high)] + [summary.n]


def main(folder):
    """Write the runs of a folder, by their experiment."""
    runs = [load(path.parent) for path in sorted(Path(folder).rglob("run.json"))]
    lines = {name: json.dumps(kept) for name, kept in json.loads(KEPT.read_text()).items()}
    lines |= {run.experiment: json.dumps(captured(run)) for run in runs if run.cells}
    KEPT.write_text("{\n" + ",\n".join(f'"{name}": {lines[name]}' for name in sorted(lines)) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
