"""`slownet doctor` on the machine that runs the tests, which has a lab."""

import json
import os

from command_line import SLOWNET, ran


def doctor(*words, **environment):
    return ran([*SLOWNET, "doctor", *words], text=True, env={**os.environ, **environment})


def test_a_machine_with_a_lab_is_ready():
    done = doctor("--json")
    found = json.loads(done.stdout)
    by_name = {each["name"]: each for each in found["findings"]}
    assert (done.returncode, found["ready"], done.stderr) == (0, True, "")
    assert "boots and ends in" in by_name["lab"]["text"]
    assert all(each["repair"] for each in found["findings"] if not each["good"])


def test_a_machine_without_one_is_told_how_to_get_it(tmp_path):
    done = doctor(XDG_CACHE_HOME=str(tmp_path))
    lines = [line.split() for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr) == (1, "")
    assert ["lab", "NO", "it", "is", "not", "built"] in lines
    assert ["slownet", "lab", "build"] in lines
    assert not list(tmp_path.iterdir())
