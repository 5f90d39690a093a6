"""Mininet's own examples, as Debian's package has them, copied from the lab's image: nothing of them is in this repository."""

import io
import subprocess
import sys
import tarfile

import pytest

SLOWNET = [sys.executable, "-m", "slownet.cli"]
WHERE = "/usr/lib/python3/dist-packages/mininet"
PATIENCE_S = 3600


@pytest.fixture(scope="session")
def examples(tmp_path_factory):
    """A folder with the examples of the lab's own package mininet."""
    folder = tmp_path_factory.mktemp("mininet")
    words = [*SLOWNET, "lab", "exec", "--tdf", "inf", "--", "tar", "-C", WHERE, "--exclude=__pycache__", "-cf", "-", "examples"]
    done = subprocess.run(words, cwd=folder, capture_output=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr.decode()
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "examples"


@pytest.fixture
def mininet(examples):
    """Run `slownet shell mininet` beside the examples: mininet("mn", told="exit\\n") -> its status and all that it printed."""

    def run(*words, told="", options=("--tdf", "inf")):
        done = subprocess.run(
            [*SLOWNET, "shell", "mininet", *options, *words], cwd=examples, input=told, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False, timeout=PATIENCE_S,
        )  # fmt: skip
        return done.returncode, done.stdout

    return run
