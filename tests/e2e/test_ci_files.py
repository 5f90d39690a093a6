"""The CI files of `slownet init`: their shell steps, run as GitHub's and GitLab's runners run them, in a foreign project."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

import pytest
import yaml
from conftest import environment, of_ones_own

from slownet.cli.init import CI, host_packages, write
from slownet.lab.host import native

pytestmark = [pytest.mark.long, pytest.mark.skipif(not native.lacks(), reason="this machine needs no lab")]

RECORD = '#!/bin/sh\necho "$(basename "$0") $*" >> "$RECORD"\n'
"""Stands for a program that would change this machine."""


class Runner:
    """A project of somebody else's, and a runner of CI files for it."""

    def __init__(self, folder, installed):
        self.project, self.programs = folder / "a shop, 遅い", folder / "programs"
        self.record, self.output, self.summary = (folder / name for name in ("record", "output", "summary.md"))
        self.fresh = folder / "cache of a new machine"
        self.binaries = environment(installed, folder / "venv")
        (self.wheel,) = installed.parent.glob("*.whl")
        self.programs.mkdir()
        for name in ("sudo", "apt-get"):
            (self.programs / name).write_text(RECORD)
            (self.programs / name).chmod(0o755)
        for ci in ("github", "gitlab"):
            write(folder / ci, ci)
        shutil.copytree(folder / "github", self.project)
        shutil.copy(folder / "gitlab" / CI["gitlab"], self.project)

    def read(self, ci):
        return yaml.safe_load((self.project / CI[ci]).read_text("utf-8"))

    def run(self, shell, script, new_machine=False):
        """Run a script in the project, on this machine or on one that has no lab; return what it did to the machine."""
        self.record.write_text("")
        variables = of_ones_own(self.binaries, CI="true", PIP_NO_INDEX="1", RECORD=str(self.record), SLOWNET=str(self.wheel))
        variables |= {"GITHUB_OUTPUT": str(self.output), "GITHUB_STEP_SUMMARY": str(self.summary)}
        variables |= {"PATH": f"{self.programs}:{variables['PATH']}"}
        variables |= {"XDG_CACHE_HOME": str(self.fresh)} if new_machine else {}
        words = [*shell.split(), script]
        done = subprocess.run(words, cwd=self.project, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return self.record.read_text()


@pytest.fixture(scope="module")
def runner(built, installed, tmp_path_factory):
    made = Runner(tmp_path_factory.mktemp("ci"), installed)
    yield made
    for folder in (made.fresh, made.project):  # more than a gigabyte
        shutil.rmtree(folder, ignore_errors=True)


def results(runner):
    """Return the number of tests and failures in each JUnit file."""
    found = {path.name: ET.parse(path).getroot() for path in (runner.project / "results").glob("*.xml")}
    return {
        name: [sum(int(suite.get(each)) for suite in root.iter("testsuite")) for each in ("tests", "failures", "errors")]
        for name, root in found.items()
    }


WHOLE = {"tests.xml": [2, 0, 0], "predictions.xml": [1, 0, 0]}


def test_github_builds_the_lab_once_and_takes_it_from_the_cache_then(runner):
    (job,) = runner.read("github")["jobs"].values()
    steps = {each["name"]: each["run"] for each in job["steps"] if "run" in each}
    restore, save = (each for each in job["steps"] if each.get("uses", "").startswith("actions/cache/"))
    counts = "Compare instructions and round trips with the baseline"  # tests/exact runs it
    assert list(steps) == ["Install slownet", "Name the lab", "Get the lab", "Test", "Check the predictions", counts]
    assert restore["with"] == save["with"] == {"path": "lab", "key": "slownet-${{ steps.lab.outputs.key }}"}
    for name in ("Install slownet", "Name the lab"):
        assert runner.run("bash -e -c", steps[name]) == ""
    assert re.fullmatch(r"key=[\w-]+\n", runner.output.read_text())
    asked = runner.run("bash -e -c", steps["Get the lab"]).splitlines()
    assert asked == [
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        "sudo apt-get -qq update",
        f"sudo apt-get -qq install --no-install-recommends -y {' '.join(host_packages())}",
    ]
    for name in ("Get the lab", "Test", "Check the predictions"):
        assert runner.run("bash -e -c", steps[name], new_machine=True) == ""
    assert results(runner) == WHOLE
    assert runner.summary.read_text().startswith("## shop: 1 of 1 claims supported")


def test_gitlab_takes_the_lab_from_its_cache(runner):
    lab = runner.project / "lab/lab.tar"
    if not lab.is_file():
        pytest.skip("the test of GitHub's file, which builds the lab, has not run")
    key = runner.output.read_text().strip().partition("=")[2]
    lab.rename(lab.with_name(f"{key}.tar"))
    shutil.rmtree(runner.project / "results")
    job = runner.read("gitlab")["slow-network"]
    assert job["cache"]["paths"] == ["lab"]
    script = "\n".join([*job["before_script"], *job["script"][:3]])  # tests/exact runs the others
    assert runner.run("bash -eo pipefail -c", script, new_machine=True) == ""
    assert results(runner) == WHOLE
    assert job["artifacts"]["reports"]["junit"] == "results/*.xml"
