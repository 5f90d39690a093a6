"""The highest rate that a place's CPU can carry, as `slownet.calibration.carried` measures it.

If CPU is charged, a link with a higher rate is only as fast as the CPU: each packet that waits in a rate limiter takes a timer
in addition to its way through the kernel.
"""

from __future__ import annotations

import json
import platform
from pathlib import Path

from slownet.lab.build import cache
from slownet.lab.build.digests import RATIO
from slownet.lab.build.measurements import measured
from slownet.lab.run.excerpt import Excerpt
from slownet.lab.run.place import Place
from slownet.model.errors import LabError
from slownet.model.importing import PACKAGE

FILE = "ceiling.json"
MEASURES = PACKAGE / "calibration" / "carried.py"
"""The program that measures it in the place."""


def known(place: Place) -> float | None:
    """Return the highest rate in bit/s that this place carries between two programs over a switch; None if the CPU is free.

    On the virtual clock it is measured once per machine, kernel and TDF, and cached, on the exact clock once per emulated
    machine; on the real clock each time, because it
    depends on what else the machine does. Raises LabError.
    """
    if place.clock.cpu_is_free:
        return None
    if place.clock.kind == "real":
        return _measured(place)
    cpu = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith(("model name", "CPU part"))]
    of = [json.dumps(place.facts["machine"])] if place.clock.is_exact else [platform.node(), *cpu]
    name = cache.key(*of, str(place.facts["kernel"]), str(place.clock), MEASURES)
    return float(measured("ceiling", name, FILE, lambda: {"bit_s": _measured(place)}, {"bit_s": RATIO})["bit_s"])


def _measured(place: Place) -> float:
    output, errors = Excerpt(), Excerpt()
    status = place.run(
        [place.python, "-m", "slownet.calibration.carried"],
        stdout=output.add, stderr=errors.add,
    )  # fmt: skip
    if status < 0:
        raise KeyboardInterrupt
    if status:
        raise LabError(f"cannot measure what the CPU carries: {errors.last_line(f'status {status}')}")
    try:
        return float(json.loads(output.data())["bit_s"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise LabError("cannot measure what the CPU carries: the lab printed no rate", fix="try again") from error
