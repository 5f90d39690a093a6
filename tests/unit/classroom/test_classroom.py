"""`slownet check bundle`: bundles in the layouts that programs for classes document, and an autograder that is run."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from slownet.classroom import student_code
from slownet.cli import app
from slownet.model.errors import ExperimentError

ROOT = Path(__file__).parents[3]
EXERCISES = ROOT / "examples" / "exercises"
TEACHER = EXERCISES / "teacher" / "key.toml"
ASKED = ("01_one_way_and_back", "03_a_larger_page")
METADATA = {
    "created_at": "2018-07-01T14:22:32.365935-07:00",
    "assignment": {"due_date": "2018-07-31T23:00:00.000000-07:00"},
    "users": [{"email": "student@example.com", "id": 1234, "name": "Student User"}],
}


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SLOWNET", raising=False)


def run(*words):
    with pytest.raises(SystemExit) as ended:
        app.main(["check", *map(str, words)])
    return ended.value.code


def bundle(*words):
    return run("bundle", *(EXERCISES / f"{each}.toml" for each in ASKED), "--key", TEACHER, *words)


def unpacked(path):
    folder = Path(path.removesuffix(".zip"))
    with zipfile.ZipFile(path) as archive:
        for each in archive.infolist():
            archive.extract(each, folder)
            (folder / each.filename).chmod(each.external_attr >> 16)
    return folder


def test_gradescopes_autograder_runs_in_its_layout():
    Path("slownet 1.whl").write_bytes(b"a wheel")
    assert bundle("--slownet", "slownet 1.whl") == 0
    first = Path("gradescope.zip").read_bytes()
    assert bundle("--slownet", "slownet 1.whl") == 0
    assert Path("gradescope.zip").read_bytes() == first
    source = unpacked("gradescope.zip")
    assert {str(path.relative_to(source)) for path in source.rglob("*")} == {
        "setup.sh", "run_autograder", "key.toml", "slownet 1.whl",
    }  # fmt: skip
    assert "pip install --quiet \"$root/source/\"'slownet 1.whl'" in (source / "setup.sh").read_text()
    for script in ("setup.sh", "run_autograder"):
        assert os.access(source / script, os.X_OK)
        subprocess.run(["bash", "-n", source / script], check=True)
    root = Path("autograder")
    (root / "slownet/bin").mkdir(parents=True)
    source.rename(root / "source")
    for folder in ("submission", "results"):
        (root / folder).mkdir()
    shutil.copy(root / "source/run_autograder", root)
    (root / "submission_metadata.json").write_text(json.dumps(METADATA))
    program = root / "slownet/bin/slownet"  # as setup.sh would install it
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m slownet.cli "$@"\n')
    program.chmod(0o755)
    (root / "submission/answers.toml").write_text("[01_one_way_and_back]\nexpected = '40ms'\n")
    variables = {"PATH": os.environ["PATH"], "HOME": str(root), "AUTOGRADER_ROOT": str(root.resolve())}
    if "PYTHONPATH" in os.environ:
        variables["PYTHONPATH"] = str(ROOT / "lib")
    done = subprocess.run([root / "run_autograder"], env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads((root / "results/results.json").read_text())
    assert found["score"] == 1.0
    assert [each["name"] for each in found["tests"]] == ["01_one_way_and_back.expected", "03_a_larger_page.round_trips"]


def test_submittys_configuration_grades_each_question():
    assert bundle("--for", "submitty") == 0
    config = json.loads((unpacked("submitty.zip") / "config/config.json").read_text())
    assert [each["title"] for each in config["testcases"]] == ["01_one_way_and_back.expected", "03_a_larger_page.round_trips"]
    assert config["testcases"][0]["validation"][0]["method"] == "custom_validator"
    work = Path("submitty/config/custom_validation_code")  # what Submitty copies to its tmp_work
    (work / "test01").mkdir()
    (work / "test01/STDOUT.txt").write_text("[03_a_larger_page]\nround_trips = 3\n")
    given = config["testcases"][1]["validation"][0] | {"testcase_prefix": "test01/", "username": "ada"}
    (work / "custom_validator_input.json").write_text(json.dumps(given))
    words = [sys.executable, *given["command"].split()[1:]]
    subprocess.run(words, cwd=work, check=True)
    found = json.loads((work / "validation_results.json").read_text())
    assert (found["status"], found["data"]["score"]) == ("success", 1.0)
    (work / "key.toml").write_text("")
    subprocess.run(words, cwd=work, check=True)
    assert json.loads((work / "validation_results.json").read_text())["status"] == "failure"


def test_githubs_workflow_has_a_step_for_each_question():
    assert bundle("--for", "github", "--slownet", "slownet==1") == 0
    text = (unpacked("github.zip") / ".github/workflows/classroom.yml").read_text()
    steps = yaml.safe_load(text)["jobs"]["run-autograding-tests"]["steps"]
    graders = [each for each in steps if "autograding-command-grader" in each.get("uses", "")]
    assert [each["with"]["test-name"] for each in graders] == ["01_one_way_and_back.expected", "03_a_larger_page.round_trips"]
    assert steps[-1]["with"]["runners"] == ",".join(each["id"] for each in graders)
    assert [re.sub("_RESULTS$", "", each).lower() for each in steps[-1]["env"]] == [each["id"] for each in graders]
    assert "low = " not in text


def test_a_workflows_command_passes_if_the_answer_is_right(capsys):
    Path("answers.toml").write_text("[01_one_way_and_back]\nexpected = 40\n")
    words = ("grade", ".", "--key", TEACHER, "--only")
    assert run(*words, "01_one_way_and_back.expected") == 0
    assert capsys.readouterr().out == "1 of 1  01_one_way_and_back.expected: 40: right\n1 of 1\n"
    assert run(*words, "03_a_larger_page.round_trips") == 1
    assert run(*words, "03_a_larger_page.round_trip") == 2
    assert "no question or test '03_a_larger_page.round_trip', --only: did you mean" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((), "the package that pip installs as slownet there is not given, --slownet: "),
        (("--for", "moodle"), "unknown kind 'moodle', --for: choose from "),
        (("--slownet", "x", "--late", "much"), "--late: write a percentage such as 50%"),
        (
            ("--slownet", "x", "--out", "no/x.zip"),
            "cannot write no/x.zip (No such file or directory), --out: name another file",
        ),
        (("--slownet", "no.whl"), "no file no.whl, --slownet: "),
        (("--slownet", "x", "--visibility", "seen"), "unknown visibility 'seen', --visibility: choose from "),
        (("--slownet", "x", "--test", "test_x.py"), "cannot read test_x.py "),
        (("--for", "submitty", "--test", __file__), "Submitty's graders cannot run a lab, --test: "),
        (
            ("--for", "github", "--slownet", "x", "--test", __file__),
            "a workflow of a student's repository could be edited, --test: ",
        ),
        (("--slownet", "x", "--test", __file__), "tests of code need a lab on the grader, --lab: "),
    ],
)
def test_what_cannot_be_bundled_is_one_line(capsys, words, line):
    assert bundle(*words) == 2
    said = capsys.readouterr().err
    assert line in said
    assert said.count("\n") == 1


def test_a_key_of_other_exercises_is_refused(capsys):
    other = EXERCISES / "02_a_small_page.toml"
    Path("key.toml").write_text("[02_a_small_page.answers.expected]\nlow = 1\n[x.answers.y]\n")
    assert run("bundle", other, "--key", "key.toml", "--slownet", "x") == 2
    assert "the key's answers to 02_a_small_page are not those that " in capsys.readouterr().err
    Path("key.toml").write_text("[x.answers.y]\n")
    assert run("bundle", other, "--key", "key.toml", "--slownet", "x") == 2
    assert "the key has no exercise '02_a_small_page', key.toml: choose from x" in capsys.readouterr().err
    assert run("bundle", EXERCISES / "07_loss_there_and_back.toml", "--key", "key.toml", "--slownet", "x") == 2
    assert "these exercises have no open question" in capsys.readouterr().err


def test_tests_of_code_are_named_by_the_teachers_file_and_read_from_junit():
    Path("test_x.py").write_text("def helper(): ...\ndef test_a(net): ...\ndef test_b(): ...\n")
    assert student_code.names(Path("test_x.py")) == ["test_a", "test_b"]
    Path("test_y.py").write_text("x = 1")
    with pytest.raises(ExperimentError, match=r"test_y\.py has no tests"):
        student_code.names(Path("test_y.py"))
    results, problem = student_code._results(
        b'<testsuites><testsuite><testcase classname="test_x" name="test_a[1]"/>'
        b'<testcase classname="test_x" name="test_a[2]"><failure message="assert 1&#10; == 2\x1b">long</failure></testcase>'
        b'<testcase classname="test_x" name="test_b"/></testsuite></testsuites>'.replace(b"\x1b", b"")
    )
    assert (results, problem) == ({("test_x", "test_a"): "assert 1 == 2", ("test_x", "test_b"): ""}, "")
    bomb = b'<!DOCTYPE a [<!ENTITY x "' + b"x" * 1000 + b'">' + b'<!ENTITY y "' + b"&x;" * 1000 + b'">'
    bomb += b'<!ENTITY z "' + b"&y;" * 1000 + b'">]><a>&z;</a>'
    for text in (b"", b"<a", b"x" * (student_code.MOST_RESULTS + 1), bomb):
        results, problem = student_code._results(text)
        assert results == {}
        assert problem


def test_what_was_handed_in_is_copied_without_links(tmp_path):
    Path("in/sub").mkdir(parents=True)
    Path("in/sub/server.py").write_text("x = 1")
    Path("in/link").symlink_to("/etc/passwd")
    os.mkfifo("in/pipe")
    assert student_code._copy(Path("in"), Path("out")) == ""
    assert [str(path) for path in sorted(Path("out").rglob("*"))] == ["out/sub", "out/sub/server.py"]
    for each in range(student_code.MOST_FILES + 1):
        Path(f"in/{each}").touch()
    assert "larger than" in student_code._copy(Path("in"), Path("more"))


CODE = sorted((EXERCISES / "code").glob("*_*"))


@pytest.mark.parametrize("exercise", CODE, ids=lambda path: path.name)
def test_an_exercise_in_code_has_as_many_marks_as_its_page_says(exercise):
    (test,) = exercise.glob("test_*.py")
    page = (ROOT / "docs/classroom" / f"{exercise.name}.md").read_text()
    said = int(re.search(r"minutes, (\d+) marks", page)[1])
    by_hand = 5 * page.count("The others are a reader's")
    assert said == len(student_code.names(test)) + by_hand
    assert {path.name for path in (exercise / "start").iterdir()} <= {path.name for path in (exercise / "solution").iterdir()}


def test_a_mistyped_folder_is_not_graded_as_if_nothing_was_handed_in(capsys):
    assert run("grade", "handed_inn", "--key", TEACHER) == 2
    assert capsys.readouterr().err.startswith("slownet: handed_inn is not a directory: pass the directory of ")


def test_without_key_and_tests_nothing_can_be_graded(capsys):
    Path("handed_in").mkdir()
    assert run("grade", "handed_in") == 2
    assert capsys.readouterr().err == "slownet: nothing to grade by, --key: name a key, with --test a file for code, or both\n"


@pytest.mark.parametrize("student", ["", " "])
def test_a_variant_is_of_a_student_with_an_id(capsys, student):
    assert run("variants", "far_away.toml", "--variants", "variants.toml", "--student", student) == 2
    line = "slownet: the student's id is empty, --student: write an address, a login or a number\n"
    assert capsys.readouterr().err == line
