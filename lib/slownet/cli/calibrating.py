"""`slownet calibrate`: shows progress and prints the table."""

from __future__ import annotations

import json
from collections.abc import Sequence

from slownet.calibration.calibration_table import show
from slownet.calibration.cases import choose, matrix
from slownet.calibration.measure import calibrate
from slownet.cli.terminal import console, interrupted
from slownet.lab.run.events import Event
from slownet.lab.run.place import Interrupts, Place
from slownet.links.ip import IP
from slownet.model.errors import SlownetError
from slownet.report.bars import bars


def calibrate_and_show(place: Place, only: Sequence[str], quick: bool, seed: int, ip: IP, as_json: bool) -> int:
    """Calibrate and print the table; return the exit status, 1 if a row is not ok. Raises SlownetError."""
    cases = choose(matrix(seed, ip), only, quick)
    try:
        with Interrupts(place) as interrupts, bars() as progress:
            task = progress.add_task("calibrate", total=len(cases), now="booting")

            def follow(event: Event) -> None:
                if event["event"] == "case":
                    progress.update(task, completed=event["index"], now=event["name"])

            found = calibrate(place, cases, seed, follow)
    except (SlownetError, KeyboardInterrupt):
        if interrupts.received:
            return interrupted(interrupts)
        raise
    if as_json:
        print(json.dumps(found.to_json(), allow_nan=False))
    else:
        console().print(show(found))
    return int(bool(found.bad))
