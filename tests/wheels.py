"""The package as users get it."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from importlib import metadata
from pathlib import Path

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
CHECKOUT = Path(__file__).parents[1]


def builds():
    """Return whether this environment has what builds the wheel: then pip need not fetch it into one of its own."""
    with suppress(metadata.PackageNotFoundError):
        return int(metadata.version("setuptools").partition(".")[0]) >= 77  # as pyproject.toml says
    return False


def made(folder):
    """Make the wheel of this checkout in a folder and return its path; several processes may do so at once."""
    settings = folder / "setup.cfg"
    settings.write_text(f"[build]\nbuild_base = {folder / 'build'}\n[egg_info]\negg_base = {folder}\n")
    command = [*PIP, "wheel", "--no-deps", *(["--no-build-isolation"] if builds() else []), "--wheel-dir", folder, CHECKOUT]
    subprocess.run(command, env={**os.environ, "DIST_EXTRA_CONFIG": str(settings)}, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def copied(target):
    """Copy what a wheel is made of to a new folder; return that.

    Names are left out where they stand: slownet has a package `build`, too.
    """
    unwanted = {".venv", ".git", "build", "dist", "runs", "tests"}

    def ignored(folder, names):
        return {"__pycache__", "_build"} & set(names) | (unwanted & set(names) if Path(folder) == CHECKOUT else set())

    return shutil.copytree(CHECKOUT, target, ignore=ignored)
