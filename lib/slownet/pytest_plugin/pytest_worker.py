"""Runs an interpreter of pytest-xdist in a lab: `python -m slownet.pytest_plugin.pytest_worker JOB -u -c CODE`, started by
execnet.

JOB (JSON) holds the clock, the TDF, the memory, what is charged for CPU and whether it may be free, the rootdir, the shares,
and what the lab's environment has beside this process's. Input and output are execnet's messages; what tells of a test's
timeout (`slownet.pytest_plugin.timeouts`) comes among the error output, and so does that the worker has no test to run.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from slownet.lab.run import caller, pytest_inside
from slownet.lab.run.clock import ClockRequest
from slownet.lab.run.events import Event
from slownet.lab.run.foreground import attend, write
from slownet.lab.run.lab import Share
from slownet.lab.run.place import Place, choose
from slownet.model.errors import SlownetError
from slownet.model.shapes import Json
from slownet.pytest_plugin import timeouts
from slownet.pytest_plugin.relayed_reports import ALARMS, WAIT, Lines

LONGEST_S = 0.1
"""The longest time that a lab stands still and waits for a test: it hears whatever else reached it after that."""


def main(argv: list[str]) -> int:
    """Run the interpreter in a lab to its end; return its exit status."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the controller handles it and ends its workers
    job, *options, code = argv
    given = json.loads(job)
    try:
        place = choose(
            "lab",
            ClockRequest(given["clock"], given["tdf"], given["cpu"]),
            given["megabytes"],
            folder=Path(given["root"]),
            confined=given["confined"],
            kernel=given["kernel"],
        )
        return _attend(place.free() if given["free"] else place, given, [*options, code])
    except SlownetError as error:
        print(f"slownet: {error}", file=sys.stderr)
        return 2


def _attend(place: Place, given: Mapping[str, Json], words: Sequence[str]) -> int:
    """Serve the interpreter, and the timeouts of its tests. Raises SlownetError."""
    alarms = timeouts.alarms(place)
    env = {**caller.variables(), **given["env"]}

    def take(event: Event) -> None:
        if event["event"] in ALARMS:
            alarms.take(event)
        elif event["event"] == WAIT:
            with place.stopped():
                select.select([0], [], [], LONGEST_S)

    try:
        return attend(
            place, [place.python, *words[:-1], f"{_begin(place)}; {words[-1]}"],
            shares=[Share(Path(path), writable, at) for path, writable, at in given["shares"]],
            env={**env, "PYTEST_PLUGINS": pytest_inside.with_the_plugin(env.get("PYTEST_PLUGINS", ""))},
            cwd=Path.cwd(), stderr=Lines(take, lambda data: write(2, data)).feed,
        )  # fmt: skip
    finally:
        alarms.stop()
        if alarms.timed_out:
            print(alarms.timed_out, file=sys.stderr)


def _begin(place: Place) -> str:
    """Calls `slownet.lab.run.pytest_inside.begin` without an import of its package, which pytest would warn of."""
    inside = str(place.package / "lab" / "run" / "pytest_inside.py")
    return f"import runpy; runpy.run_path({inside!r})['begin']('lab-{os.getpid()}')"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
