"""Downloads Python packages for the lab's Python with the host's pip and its settings."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from slownet.lab.build import cache, distribution

PLATFORMS = ["manylinux_2_40_x86_64", "manylinux_2_34_x86_64", "manylinux_2_28_x86_64", "manylinux_2_27_x86_64",
             "manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux_2_12_x86_64"]  # fmt: skip
NO_INDEX = "PyPI cannot be reached: check the network and pip's settings, then try again; nothing unfinished was kept"
HINTS = (
    ("NewConnectionError", NO_INDEX),
    ("Failed to establish a new connection", NO_INDEX),
    ("Temporary failure", NO_INDEX),
    ("ConnectTimeoutError", NO_INDEX),
    ("ProxyError", NO_INDEX),
    ("No module named pip", "this Python lacks pip: python3 -m ensurepip"),
    ("No space left on device", "the disk is full: free space, or set TMPDIR to a folder on another disk"),
)


def fetch(requirements: Path, into: Path, log: Path, options: Sequence[str | Path] = ()) -> None:
    """Download the wheels of a requirements file and what they depend on, so that installing them needs no network.

    Raises LabError.
    """
    temporary = log.parent / "pip"  # where a build's folder is, so that it goes with that if pip is interrupted
    temporary.mkdir()
    platforms = [word for platform in PLATFORMS for word in ("--platform", platform)]
    argv: list[str | Path] = [
        "env", f"TMPDIR={temporary}",
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--dest", into,
        "--only-binary=:all:", "--python-version", distribution.IMAGE.python, "--implementation", "cp", *platforms, *options,
        "--requirement", requirements,
    ]  # fmt: skip
    cache.run(argv, log, "fetching Python packages", hints=HINTS)
    shutil.rmtree(temporary)
