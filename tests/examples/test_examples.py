"""Each example as its page says: the commands of its README, in a copy of its folder, with this checkout's commands on PATH."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = ("slownet", "pytest")
PASSED = re.compile(r"^(\d+) passed in", re.MULTILINE)


def commands(page):
    """Return the commands of a page, in order."""
    lines = "\n".join(re.findall(r"```\n(.*?)```", page, re.DOTALL)).splitlines()
    return [line for line in lines if line.startswith(PROGRAMS)]


@pytest.mark.parametrize("name", ["node", "java", "go"])
def test_example(name, tmp_path):
    folder = shutil.copytree(EXAMPLES / name, tmp_path / name, ignore=shutil.ignore_patterns("shop", "*.jar", "__pycache__"))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTEST_ADDOPTS": "-q -p no:cacheprovider"}
    found = commands((folder / "README.md").read_text())
    assert [line.split()[0] for line in found][-1] == "pytest"
    for line in found:
        done = subprocess.run(line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if "cannot be reached" in done.stderr:
            pytest.skip(f"{name}'s runtime cannot be fetched: {done.stderr.splitlines()[-1]}")
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    assert PASSED.search(done.stdout), done.stdout
    assert "skipped" not in done.stdout
