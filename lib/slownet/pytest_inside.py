"""Runs pytest in the place of a session: `python -P slownet/pytest_inside.py [--link PATH=TARGET]... -- ARGUMENTS...`.

The environment variable SLOWNET_SESSION (JSON) holds data from the outer process: the facts of the place, the folders of its
sys.path outside the standard library, and which tests belong to this place if there are several. It runs as a file and imports
nothing of slownet, because pytest rewrites a plugin's assertions only if its package was not imported before.
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
TEST = "PYTEST_CURRENT_TEST"
_test = os.environ.get(TEST)
"""The test that started this process, if one did."""


def handed_over() -> dict[str, Any]:
    """Return the data from the outer process; empty if there is none.

    A pytest that one of the session's tests started is a session of its own: it runs all of its tests, and on this machine,
    where no facts of a place are handed over, those with a network get a place of their own.
    """
    found: dict[str, Any] = json.loads(os.environ.get(SESSION, "{}"))
    if _test in (None, found.get("test")):
        return found
    return {name: value for name, value in found.items() if name != "only"} if found.get("facts") else {}


def extend_path() -> None:
    """Append the session's folders to sys.path, after this interpreter's own, which have the tested versions."""
    sys.path.extend(each for each in handed_over().get("path", ()) if each not in sys.path)


def begin(hostname: str) -> None:
    """Prepare a worker in a lab of its own.

    All labs are alike and draw the same random numbers at TDF inf, so files named after the host and a random number, such as
    coverage's, would clash without distinct host names.
    """
    socket.sethostname(hostname)
    extend_path()


def main(argv: list[str]) -> int:
    """Create the links, then run pytest with the other arguments; return its exit status."""
    cut = argv.index("--")
    for path, target in (each.split("=", 1) for each in argv[1:cut:2]):
        link(Path(path), Path(target))
    extend_path()
    sys.argv = ["pytest", *argv[cut + 1 :]]
    try:
        import pytest

        return int(pytest.main(["-p", PLUGIN, *argv[cut + 1 :]]))
    except KeyboardInterrupt:  # before pytest handles it
        return INTERRUPTED


def with_the_plugin(names: str) -> str:
    """Add this plugin to a value of PYTEST_PLUGINS; in a lab no entry point loads it."""
    return ",".join([*filter(None, names.split(",")), PLUGIN])


def link(path: Path, target: Path) -> None:
    """Make a path a link to the target, which is outside; keep an existing link."""
    if not path.is_symlink():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
