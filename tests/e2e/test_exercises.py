"""Two exercises of the classroom with a student's answers, which are right; `make examples` runs all of them."""

import json
from pathlib import Path

from command_line import slownet

EXERCISES = Path(__file__).parents[2] / "examples" / "exercises"
CHEAP = ["01_one_way_and_back.toml", "11_two_small_writes.toml"]


def test_a_student_who_knows_is_right(built, tmp_path):
    files = [EXERCISES / each for each in CHEAP]
    words = ["check", "--tdf", "inf", "--out", "json=-", "--answers", EXERCISES / "class" / "ada.toml", *files]
    done = slownet(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [each["marks"] for each in json.loads(done.stdout)["runs"]] == [["right"], ["right", "right"]]
