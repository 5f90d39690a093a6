"""An extension package with one of each kind, used in labs by a hypothesis file, a shell and a test."""

import importlib
import json
import os
import sys
from pathlib import Path

import pytest
from command_line import ran

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """`run(program, words...)` in a folder with a hypothesis file and a test, with a Python that has the package."""
    folder = tmp_path_factory.mktemp("added")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(TESTS)
        package = importlib.import_module("added_package")
    package.write(folder / "site")
    work = folder / "work"
    work.mkdir()
    (work / "page.toml").write_text(package.HYPOTHESIS)
    (work / "test_pigeon.py").write_text(package.TEST)

    def run(*words, said=""):
        environment = {**os.environ, "PYTHONPATH": str(folder / "site")}
        return ran([sys.executable, "-m", *words], cwd=work, env=environment, input=said, text=True)

    return run


def test_a_hypothesis_file_names_its_topology_service_tool_and_claim(run):
    done = run("slownet.cli", "check", "page.toml", "--tdf", "inf", "--place", "lab", "--out", "json=-")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["runs"]
    assert found["marks"] == ["right"]
    assert found["claims"][0]["measured"] == pytest.approx(200, abs=1)


def test_a_shell_takes_its_topology_and_its_condition(run):
    words = ["shell", "lane", "--link", "near-far=pigeon", "--place", "lab", "--tdf", "inf"]
    done = run("slownet.cli", *words, said="show near far\n")
    assert done.returncode == 0, done.stderr
    assert "700" in done.stdout


def test_a_test_takes_its_fixture(run):
    done = run("pytest", "-q", "-p", "no:cacheprovider", "test_pigeon.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
