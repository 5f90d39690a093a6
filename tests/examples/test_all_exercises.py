"""All exercises of the classroom, measured once: the keys that are kept say the same."""

import subprocess
import sys
from pathlib import Path

import pytest

from slownet.hypotheses import key

EXERCISES = Path(__file__).parents[2] / "examples" / "exercises"


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exercises")
    words = [
        sys.executable,
        "-m",
        "slownet.cli",
        "check",
        "--tdf",
        "inf",
        "--key",
        "key.toml",
        *sorted(EXERCISES.glob("*.toml")),
    ]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "key.toml"


def test_the_kept_key_is_what_is_measured(measured):
    found, kept = (
        {each.name: each.solutions for each in key.read(path)} for path in (measured, EXERCISES / "teacher" / "key.toml")
    )
    assert found.keys() == kept.keys()
    for name, solutions in kept.items():
        assert all(one.accepts(again.measured) for one, again in zip(solutions, found[name], strict=True)), name


def test_a_class_is_marked_with_it(measured, tmp_path):
    words = [sys.executable, "-m", "slownet.cli", "mark", *sorted((EXERCISES / "class").glob("*.toml")), "--key", measured]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:2] == ["Ada Lovelace     11 of 11", "Charles Babbage  3 of 11"]
