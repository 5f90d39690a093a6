"""Measures how CPU time grows with hosts, flows, packets, cells and values; `make docs-figures` runs it.

    python docs/growth.py

docs/figures/growth.json has, by what grows, the CPU seconds of each size, the exponent, and the milliseconds of each one more.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import bench_growth  # stands with the other figures of `make bench`

RESULT = Path(__file__).parent / "figures/growth.json"


def main() -> None:
    found = {}
    for what, sizes in bench_growth.measured():
        print(what, sizes, flush=True)
        by_size = {size: round(seconds, 2) for size, seconds in sizes.items()}
        found[what] = {
            "cpu_s": by_size, "exponent": round(bench_growth.exponent(by_size), 2), "each_ms": bench_growth.each_ms(by_size),
        }  # fmt: skip
    RESULT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
