"""Autograders of a class's programs: each as a file in its documented layout, and the marks in its format.

Gradescope unpacks a zip to ``/autograder/source``, runs ``setup.sh`` once and ``run_autograder`` for each submission
(https://gradescope-autograders.readthedocs.io/en/latest/specs/). Submitty reads ``config.json``, and runs what is in
``custom_validation_code`` (https://submitty.org/instructor/autograding/validation). GitHub runs
``.github/workflows/classroom.yml``, whose graders see only PATH and HOME (classroom-resources/autograding-command-grader).
"""

from __future__ import annotations

import json
import shlex
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import BinaryIO

from slownet.classroom import key as keys
from slownet.classroom import student_code, variants
from slownet.classroom.grading import ANSWERS, Graded, name
from slownet.classroom.key import Exercise
from slownet.hypotheses import file as hypothesis
from slownet.hypotheses.answers import questions
from slownet.hypotheses.source import read_text
from slownet.model import userfile, whole_file
from slownet.model.errors import ExperimentError, nearest
from slownet.model.options import KEY, LAB, MEMORY, OUT, SLOWNET, TEST, Option

# Gradescope: https://gradescope-autograders.readthedocs.io/en/latest/specs/ (``score`` of the whole "overrides total of
# tests").
# Submitty: https://submitty.org/instructor/autograding/validation (a custom validator's score is a share of its test case).

VISIBLE = ("visible", "after_due_date", "after_published", "hidden")
"""When students see the tests, and so their points: Gradescope's words."""


def gradescope(graded: Sequence[Graded], share: float = 1.0, visibility: str = VISIBLE[0]) -> str:
    """Return results.json. share: what a late submission keeps of its points."""
    late = {"output": f"late: it keeps {share:.0%} of its points"} if share < 1 else {}
    tests = [
        {
            "score": each.points,
            "max_score": each.most,
            "name": each.name,
            "number": str(number),
            "output": each.said,
            "visibility": visibility,
        }
        for number, each in enumerate(graded, 1)
    ]
    score = round(share * sum(each.points for each in graded), 4)
    whole = {"score": score, **late, "visibility": visibility, "stdout_visibility": "hidden", "tests": tests}
    return json.dumps(whole, indent=1) + "\n"


def submitty(graded: Sequence[Graded]) -> str:
    """Return validation_results.json of one test case."""
    most = sum(each.most for each in graded)
    score = sum(each.points for each in graded) / most if most else 0.0
    messages = [{"message": f"{each.name}: {each.said}", "status": "success" if each.passed else "failure"} for each in graded]
    return json.dumps({"status": "success", "data": {"score": round(score, 4), "message": messages}}, indent=1) + "\n"


def text(graded: Sequence[Graded]) -> str:
    """Return a line for each question and test, and the total."""
    points, most = sum(each.points for each in graded), sum(each.most for each in graded)
    lines = [f"{each.points:g} of {each.most:g}  {each.name}: {each.said}" for each in graded]
    return "\n".join([*lines, f"{points:g} of {most:g}"]) + "\n"


FILES = (".whl", ".tar.gz")
"""The ends of what pip installs from a file."""
EXECUTABLE = ("setup.sh", "run_autograder")
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The date of each file in a zip: the same files make the same bundle."""


@dataclass(frozen=True)
class Wanted:
    """The contents of a bundle."""

    exercises: Sequence[Path]
    key: Path
    slownet: str
    tests: Sequence[Path] = ()
    lab: Path | None = None
    limit: str = "120s"
    memory: int = 512
    late: str = "100%"
    visibility: str = "visible"

    @property
    def package(self) -> Path | None:
        """The file that goes along, if what pip installs is one."""
        path = Path(self.slownet)
        return path if self.slownet and path.is_file() else None


def write(path: Path, kind: str, wanted: Wanted) -> list[str]:
    """Write a bundle; return the names in it. Raises ExperimentError."""
    key = _checked(wanted)
    if not wanted.slownet and kind != "submitty":
        fix = f"{SLOWNET.set('slownet-1.0-py3-none-any.whl')}, or the environment variable SLOWNET"
        raise ExperimentError("the package that pip installs as slownet there is not given", SLOWNET, fix)
    if wanted.slownet.endswith(FILES) and "://" not in wanted.slownet and not wanted.package:
        raise ExperimentError(f"no file {wanted.slownet}", SLOWNET, "name a wheel of slownet, its address or its version")
    if wanted.tests and not wanted.lab and kind == "gradescope":
        raise ExperimentError(
            "tests of code need a lab on the grader", LAB, f"slownet lab export lab.tar, then {LAB.set('lab.tar')}"
        )
    files = _KINDS[kind](wanted, key)
    with whole_file.output(path, OUT) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, content in files.items():
            info = zipfile.ZipInfo(each, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100755 if each in EXECUTABLE else 0o100644) << 16
            if isinstance(content, Path):
                with archive.open(info, "w", force_zip64=True) as target, _opened(content) as source:
                    while part := source.read(userfile.MEBIBYTE):
                        target.write(part)
            else:
                archive.writestr(info, content)
    return list(files)


def _checked(wanted: Wanted) -> list[Exercise]:
    """Return the exercises' part of the key. Raises ExperimentError if they are not in it."""
    key = keys.read(wanted.key)
    kept = set()
    known = {each.name: {one.name for one in each.solutions} for each in key}
    for path in wanted.exercises:
        read = hypothesis.read(path)
        asked = {each.name for each in questions(read.predictions)}
        if asked and read.name not in known:
            raise ExperimentError(f"the key has no exercise '{read.name}'", str(wanted.key), nearest(read.name, known))
        if asked != known.get(read.name, set()):
            what = f"the key's answers to {read.name} are not those that {path} leaves open"
            raise ExperimentError(what, str(wanted.key), KEY.in_command("check", f"{wanted.key} {path}"))
        kept.add(read.name)
    for path in wanted.tests:
        student_code.names(path)
    if not (found := [each for each in key if each.name in kept]):
        raise ExperimentError("these exercises have no open question", ", ".join(map(str, wanted.exercises)), "name others")
    return found


def _gradescope(wanted: Wanted, key: Sequence[Exercise]) -> Mapping[str, str | Path]:
    tests = "".join(f' {TEST.typed} "$root/source/tests/"{shlex.quote(each.name)}' for each in wanted.tests)
    code = f"{tests} {Option('limit').typed} {wanted.limit} {MEMORY.typed} {wanted.memory}" if tests else ""
    package = wanted.package
    what = f'"$root/source/"{shlex.quote(package.name)}' if package else shlex.quote(wanted.slownet)
    files: dict[str, str | Path] = {
        "setup.sh": _template("setup.sh", WHAT=what, LAB="" if wanted.lab else "# "),
        "run_autograder": _template("run_autograder", LATE=wanted.late, VISIBILITY=wanted.visibility, CODE=code),
        "key.toml": keys.as_toml(key),
    }
    return files | _along(wanted)


def _along(wanted: Wanted) -> dict[str, str | Path]:
    found: dict[str, str | Path] = {}
    if wanted.package:
        found[wanted.package.name] = wanted.package
    if wanted.lab:
        found["lab.tar"] = wanted.lab
    return found | {f"tests/{each.name}": read_text(each) for each in wanted.tests}


def _submitty(wanted: Wanted, key: Sequence[Exercise]) -> Mapping[str, str | Path]:
    if wanted.tests:
        fix = f"leave it out, or bundle {Option('for').set('gradescope')}"
        raise ExperimentError("Submitty's graders cannot run a lab", TEST, fix)
    cases = [
        {
            "title": name(exercise, one.name),
            "details": f"{one.says}{f' ({one.unit})' if one.unit else ''}",
            "command": f"cat {ANSWERS}",
            "points": 1,
            "validation": [
                {
                    "method": "custom_validator",
                    "command": f"python3 grader.py {name(exercise, one.name)}",
                    "actual_file": "STDOUT.txt",
                    "show_actual": "never",
                    "description": one.says,
                }
            ],
        }
        for exercise in _as_seen(key)
        for one in exercise.solutions
    ]
    config = {"grading_parameters": {"AUTO_POINTS": len(cases)}, "testcases": cases}
    return {
        "config/config.json": json.dumps(config, indent=1, ensure_ascii=False) + "\n",
        "config/custom_validation_code/grader.py": _template("grader.py"),
        "config/custom_validation_code/key.toml": keys.as_toml(key),
    }


def _github(wanted: Wanted, key: Sequence[Exercise]) -> Mapping[str, str | Path]:
    if wanted.tests:
        raise ExperimentError("a workflow of a student's repository could be edited", TEST, "leave it out")
    steps: list[str] = []
    runners: list[str] = []
    for exercise in _as_seen(key):
        for one in exercise.solutions:
            question = name(exercise, one.name)
            runner = f"question-{len(runners) + 1}"
            runners.append(runner)
            steps.append(_template("classroom-step.yml", QUESTION=question, RUNNER=runner))
    results = "".join(f"          {each.upper()}_RESULTS: ${{{{ steps.{each}.outputs.result }}}}\n" for each in runners)
    package = wanted.package
    what = f".slownet/{package.name}" if package else wanted.slownet
    workflow = _template(
        "classroom.yml", WHAT=shlex.quote(what), STEPS="".join(steps), RESULTS=results, RUNNERS=",".join(runners)
    )
    return {".github/workflows/classroom.yml": workflow} | ({f".slownet/{package.name}": package} if package else {})


def _as_seen(key: Sequence[Exercise]) -> list[Exercise]:
    """Return the exercises as a student sees them: of variants one, whichever; all have the same questions."""
    return variants.Assigned(key).of("")


_KINDS: Mapping[str, Callable[[Wanted, Sequence[Exercise]], Mapping[str, str | Path]]] = {
    "gradescope": _gradescope, "submitty": _submitty, "github": _github,
}  # fmt: skip


def _template(file: str, **values: str) -> str:
    text = resources.files("slownet.classroom").joinpath("autograder", f"{file}.txt").read_text("utf-8")
    for word, value in values.items():
        text = text.replace(f"@{word}@", value)
    return text


def _opened(path: Path) -> BinaryIO:
    try:
        return userfile.opened(path)
    except OSError as error:
        raise ExperimentError(f"cannot read {path}", fix=userfile.reason(error)) from error
