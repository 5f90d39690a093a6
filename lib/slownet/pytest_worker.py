"""An interpreter of pytest-xdist's in a lab: `python -m slownet.pytest_worker JOB -u -c CODE`, started by execnet.

JOB (JSON) holds the clock, the TDF, what is charged for CPU, the shares and the environment. Input and output are
execnet's messages.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from slownet import pytest_inside
from slownet.errors import SlownetError
from slownet.lab.boot import Share
from slownet.lab.foreground import attend
from slownet.lab.place import choose


def main(argv: list[str]) -> int:
    """Runs the interpreter in a lab to its end; returns its exit status."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the controller hears it, and ends its workers
    job, *options, code = argv
    given = json.loads(job)
    inside = pytest_inside.__name__
    try:
        place = choose("lab", given["clock"], given["tdf"], cpu=given["cpu"])
        return attend(
            place, [place.python, *options, f"import {inside}; {inside}.begin('lab-{os.getpid()}'); {code}"],
            shares=[Share(Path(path), writable) for path, writable in given["shares"]],
            env={**given["env"], "PYTEST_PLUGINS": pytest_inside.with_the_plugin(given["env"].get("PYTEST_PLUGINS", ""))},
            cwd=Path.cwd(),
        )  # fmt: skip
    except SlownetError as error:
        print(f"slownet: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
