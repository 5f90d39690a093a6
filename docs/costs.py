"""Measures the catalogue of `slownet costs` and keeps it: `make delays`, or some entries by their names.

    python docs/costs.py [NAME]...

What is as expected is written into lib/slownet/costs/measured.json, which `slownet costs` and the documentation show; of
everything else a line says what was found, and the exit status is 1.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from slownet.costs import catalogue, record
from slownet.costs.measuring import Item, Measured, measure

LABS = 2


def main(names: Sequence[str]) -> int:
    """Measure and keep; return the exit status."""
    bad = 0
    chosen = catalogue.choose(names)
    for ecosystem in dict.fromkeys(each.ecosystem for each in chosen):
        began = time.monotonic()
        items = [Item(each, one) for each in chosen if each.ecosystem == ecosystem for one in (each.version, *each.versions)]
        results: list[Measured] = []
        try:
            measure(items, LABS, accounts=True, done=results)
        finally:  # also of what was measured before it was interrupted
            wrong = {result.item.entry.name for result in results if result.complaints}
            record.keep(record.of(result for result in results if result.item.entry.name not in wrong))
        for line in (line for result in results for line in result.complaints):
            sys.stderr.write(f"costs: {line}\n")
        bad += len(wrong)
        counted = sum(len(result.costs) for result in results)
        print(f"{ecosystem}: {counted} operations of {len(results)} programs in {time.monotonic() - began:.0f} s", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
