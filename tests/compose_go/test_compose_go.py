"""What tests/unit/compose/data/public/expected.json says of files is what compose's own library finds in them.

It needs Go and its module proxy. WRITE=1 writes the file anew.
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
import public_files  # noqa: E402  # stands beside the files

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


def test_compose_finds_what_is_expected(program, tmp_path):
    projects = found(program, tmp_path)
    if os.environ.get("WRITE"):
        EXPECTED.write_text(json.dumps(projects, indent=1, sort_keys=True) + "\n")
    assert projects == json.loads(EXPECTED.read_text())
    assert len(projects) >= 39
