"""Runs an interpreter of pytest-xdist in a lab: `python -m slownet.pytest_plugin.pytest_worker JOB -u -c CODE`, started by
execnet.

JOB (JSON) holds the clock, the TDF, the memory, what is charged for CPU and whether it may be free, the rootdir, the shares,
and what the lab's environment has beside this process's. Input and output are execnet's messages.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from slownet.lab import caller, pytest_inside
from slownet.lab.boot import Share
from slownet.lab.clock import ClockRequest
from slownet.lab.foreground import attend
from slownet.lab.place import Place, choose
from slownet.model.errors import SlownetError


def main(argv: list[str]) -> int:
    """Run the interpreter in a lab to its end; return its exit status."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the controller handles it and ends its workers
    job, *options, code = argv
    given = json.loads(job)
    env = {**caller.variables(), **given["env"]}
    try:
        place = choose(
            "lab",
            ClockRequest(given["clock"], given["tdf"], given["cpu"]),
            given["megabytes"],
            folder=Path(given["root"]),
            confined=given["confined"],
        )
        place = place.free() if given["free"] else place
        return attend(
            place, [place.python, *options, f"{_begin(place)}; {code}"],
            shares=[Share(Path(path), writable, at) for path, writable, at in given["shares"]],
            env={**env, "PYTEST_PLUGINS": pytest_inside.with_the_plugin(env.get("PYTEST_PLUGINS", ""))},
            cwd=Path.cwd(),
        )  # fmt: skip
    except SlownetError as error:
        print(f"slownet: {error}", file=sys.stderr)
        return 2


def _begin(place: Place) -> str:
    """Calls `slownet.lab.pytest_inside.begin` without an import of its package, which pytest would warn of."""
    inside = str(place.package / "lab" / "pytest_inside.py")
    return f"import runpy; runpy.run_path({inside!r})['begin']('lab-{os.getpid()}')"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
