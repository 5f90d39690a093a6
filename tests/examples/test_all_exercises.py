"""All exercises of the classroom, and all variants, measured once: the keys that are kept say the same."""

import subprocess
import sys
from pathlib import Path

import pytest

from slownet.classroom import key

EXERCISES = Path(__file__).parents[2] / "examples" / "exercises"


VARIANTS = EXERCISES / "variants"
CODE = sorted((EXERCISES / "code").glob("*_*"))
SLOWNET = [sys.executable, "-m", "slownet.cli"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A key of all exercises, with all their variants."""
    folder = tmp_path_factory.mktemp("exercises")
    seeded, table = sorted(VARIANTS.glob("*_*.toml")), VARIANTS / "variants.toml"
    words = [*SLOWNET, "check", "variants", *seeded, "--variants", table, "--out", folder / "all"]
    subprocess.run(words, check=True)
    files = [*sorted(EXERCISES.glob("*.toml")), *sorted((folder / "all").glob("*.toml"))]
    words = [*SLOWNET, "check", "--tdf", "inf", "--key", "key.toml", *files]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "key.toml"


def test_the_kept_keys_are_what_is_measured(measured):
    found = {each.name: each.solutions for each in key.read(measured)}
    kept = {each.name: each.solutions for one in (EXERCISES, VARIANTS) for each in key.read(one / "teacher/key.toml")}
    assert found.keys() == kept.keys()
    for name, solutions in kept.items():
        assert all(one.accepts(again.measured) for one, again in zip(solutions, found[name], strict=True)), name


def test_a_class_is_marked(tmp_path):
    words = [*SLOWNET, "check", "mark", *sorted((EXERCISES / "class").glob("*.toml")), "--key", EXERCISES / "teacher/key.toml"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:2] == ["Ada Lovelace     11 of 11", "Charles Babbage  3 of 11"]


@pytest.mark.parametrize("exercise", CODE, ids=lambda path: path.name)
def test_a_solution_in_code_has_all_marks_and_what_students_begin_with_has_not(exercise, tmp_path):
    (test,) = exercise.glob("test_*.py")
    for name, all_of_them in (("solution", True), ("start", False)):
        words = [*SLOWNET, "check", "grade", exercise / name, "--test", test, "--limit", "900s"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode == 0) is all_of_them, done.stdout + done.stderr
        marks, most = done.stdout.splitlines()[-1].split(" of ")
        assert (marks == most) is all_of_them, done.stdout
