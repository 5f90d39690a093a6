"""Measures what system calls, faults, forks and round trips cost in a lab and natively; `make docs-figures` runs it.

    python docs/calls.py

docs/figures/calls.json has, for `lab`, `native` and `parts` (what the host does for a lab), by operation, the microseconds of
CPU time: the median, the least and the most of a few rounds.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import bench_calls  # stands with the other figures of `make bench`

RESULT = Path(__file__).parent / "figures/calls.json"


def main() -> None:
    found = zip(("lab", "native", "parts"), bench_calls.measured(), strict=True)
    figures = {where: {name: asdict(cost) for name, cost in costs.items()} for where, costs in found}
    RESULT.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
