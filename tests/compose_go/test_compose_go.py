"""The answers in tests/unit/compose/data are those of compose's own library.

They are the contents of projects (public/expected.json, forms.json), and the values that the library's schema allows
(values.json). It needs Go and its module proxy. WRITE=1 writes the file anew.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "unit" / "compose"))
import forms  # noqa: E402  # stands beside the files
import probes  # noqa: E402
import public_files  # noqa: E402

from slownet.compose import values  # noqa: E402

EXPECTED = public_files.FILES / "expected.json"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if not shutil.which("go"):
        pytest.skip("Go is not installed")
    target = tmp_path_factory.mktemp("compose_go") / "compose_go"
    subprocess.run(["go", "build", "-o", target, "."], cwd=HERE, check=True)
    return target


def found(program, parent):
    projects = {}
    for name in public_files.NAMES:
        folder = public_files.lay_out(name, parent)
        env = public_files.machine(folder)
        text = subprocess.run([program, folder], env=env, cwd=folder, capture_output=True, text=True, check=True).stdout
        projects |= json.loads(text.replace(str(folder), "/PROJECT"))
    return projects


def found_forms(program, parent):
    """Return compose's answers to the forms, as they are kept: what our tests compare, and of a refusal that it is one."""
    for name, form in forms.FORMS.items():
        form.lay_out(parent, name)
    text = subprocess.run(
        [program, "-each", parent], env=forms.MACHINE | {"PWD": str(parent)}, capture_output=True, text=True, check=True
    ).stdout
    projects = json.loads(text.replace(str(parent), "/FORMS"))
    kept = ("name", "services", "volumes")
    return {
        name: {"refused": True} if "refused" in each else {key: each[key] for key in kept if key in each}
        for name, each in projects.items()
    }


def test_compose_answers_the_forms_as_expected(program, tmp_path):
    projects = found_forms(program, tmp_path)
    if os.environ.get("WRITE"):
        lines = (f"{json.dumps(name)}:{json.dumps(each, sort_keys=True)}" for name, each in sorted(projects.items()))
        forms.FILE.write_text("{" + ",\n".join(lines) + "}\n")
    assert projects == json.loads(forms.FILE.read_text())


def allowed(program):
    """Return for each place of a file which probes the library's schema allows there."""
    found = {}
    for spot in probes.spots(values.FILE):
        found.setdefault(spot.path, probes.files(spot))
    every = [each for files in found.values() for each in files if each is not None]
    lines = "".join(f"{json.dumps(each)}\n" for each in every)
    answers = iter(subprocess.run([program, "-schema"], input=lines, capture_output=True, text=True, check=True).stdout)
    return {path: "".join("-" if each is None else next(answers) for each in files) for path, files in found.items()}


def test_composes_schema_allows_the_values_that_are_expected(program):
    answers = allowed(program)
    if os.environ.get("WRITE"):
        probes.FILE.write_text(json.dumps(answers, indent=0, sort_keys=True) + "\n")
    assert answers == json.loads(probes.FILE.read_text())


def test_compose_finds_what_is_expected(program, tmp_path):
    projects = found(program, tmp_path)
    if os.environ.get("WRITE"):
        EXPECTED.write_text(json.dumps(projects, indent=1, sort_keys=True) + "\n")
    assert projects == json.loads(EXPECTED.read_text())
    assert len(projects) >= 39
