"""`slownet` as a person types it."""

import subprocess
import sys

SLOWNET = [sys.executable, "-m", "slownet.cli"]


def slownet(*words, cwd, timeout=600):
    """Run a command in a folder; return the completed process."""
    return subprocess.run([*SLOWNET, *words], cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False)
