"""pytest in the place of a session: `python -P slownet/pytest_inside.py [--link PATH=TARGET]... -- ARGUMENTS...`.

The environment's SLOWNET_SESSION (JSON) says what the process outside knows: the facts of the place, the folders that its
sys.path has beside the standard library, and which of the tests are this place's if there are several. It runs as a
file and imports nothing of slownet: pytest rewrites a plugin's assertions only if nobody imported its package before.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

SESSION = "SLOWNET_SESSION"
INTERRUPTED = 2  # as pytest has it
PLUGIN = "slownet.pytest_plugin"


def handed_over() -> dict[str, Any]:
    """What the process outside said; empty if this session was started here."""
    found: dict[str, Any] = json.loads(os.environ.get(SESSION, "{}"))
    return found


def extend_path() -> None:
    """The session's own folders after those of this interpreter, which has the versions that were tested."""
    sys.path.extend(each for each in handed_over().get("path", ()) if each not in sys.path)


def begin(hostname: str) -> None:
    """What a worker in a lab of its own does first. Labs are all alike and draw the same random numbers at TDF inf, so
    files that are named after the host and such a number, as coverage's are, would be the same without a name for each."""
    socket.sethostname(hostname)
    extend_path()


def main(argv: list[str]) -> int:
    """Makes the links, then runs pytest with the rest; returns its exit status."""
    cut = argv.index("--")
    for path, target in (each.split("=", 1) for each in argv[1:cut:2]):
        link(Path(path), Path(target))
    extend_path()
    sys.argv = ["pytest", *argv[cut + 1 :]]
    try:
        import pytest

        return int(pytest.main(["-p", PLUGIN, *argv[cut + 1 :]]))
    except KeyboardInterrupt:  # before pytest was ready for it
        return INTERRUPTED


def with_the_plugin(names: str) -> str:
    """A value of PYTEST_PLUGINS with this project's; in a lab no entry point brings it."""
    return ",".join([*filter(None, names.split(",")), PLUGIN])


def link(path: Path, target: Path) -> None:
    """What is written to a path goes to the target, which is outside; links that are there already stay."""
    if not path.is_symlink():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
