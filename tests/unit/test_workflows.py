"""What GitHub is to run: actions named by their commits, shell steps that were run here. See also `make test-workflows`."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

CHECKOUT = Path(__file__).parents[2]
FILES = sorted((CHECKOUT / ".github/workflows").glob("*.yml"))


def steps(name):
    """Return a workflow's steps with a name, {name: its script}."""
    jobs = yaml.safe_load((CHECKOUT / f".github/workflows/{name}.yml").read_text())["jobs"]
    return {step["name"]: step["run"] for job in jobs.values() for step in job["steps"] if "run" in step}


def run(script, folder, **environment):
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_action_is_named_by_its_commit_and_may_do_nothing_that_it_need_not(path):
    used = re.findall(r"uses: (.*)", path.read_text())
    assert used
    for each in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+(/[\w-]+)*@[0-9a-f]{40} # v[\d.]+", each), each
    assert yaml.safe_load(path.read_text())["permissions"] == {"contents": "read"}


def test_what_is_tested_is_what_readme_says():
    assert steps("tests")["Test"] == ".ci/run"
    targets = re.findall(r"^([\w-]+):", (CHECKOUT / "Makefile").read_text(), re.MULTILINE)
    made = re.findall(r"\bmake ([\w-]+)", "\n".join([*steps("tests").values(), *steps("release").values()]))
    assert made
    assert set(made) <= set(targets)


@pytest.mark.parametrize(
    ("tag", "heading", "status", "message"),
    [
        ("v0.1.0", "## 0.1.0 (2027-01-31)", 0, ""),
        ("v0.1.1", "## 0.1.0 (2027-01-31)", 1, "the tag is v0.1.1, and the version 0.1.0\n"),
        ("v0.1.0", "## Unreleased", 1, "CHANGELOG.md has no section '## 0.1.0 (DATE)'\n"),
    ],
)
def test_a_tag_that_is_not_the_version_publishes_nothing(tmp_path, tag, heading, status, message):
    (tmp_path / "lib/slownet/model").mkdir(parents=True)
    (tmp_path / "lib/slownet/model/version.py").write_text('"""The version."""\n\n__version__ = "0.1.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(f"# Changes\n\n{heading}\n")
    done = run(steps("release")["Compare the tag with the version"], tmp_path, GITHUB_REF_NAME=tag)
    assert (done.returncode, done.stderr) == (status, message)


def test_the_version_stands_where_the_release_looks_for_it(tmp_path):
    script = steps("release")["Compare the tag with the version"].splitlines()[0]
    import slownet

    assert run(f"{script}\necho $version", CHECKOUT).stdout == f"{slownet.__version__}\n"


def test_an_index_gets_the_packages_alone(tmp_path):
    (tmp_path / "dist").mkdir()
    names = ["slownet-0.1.0-py3-none-manylinux_2_17_x86_64.whl", "slownet-0.1.0.tar.gz"]
    for name in [*names, "slownet-lab-0.1.0-x86_64.tar", "NOTES.md", "SHA256SUMS"]:
        (tmp_path / "dist" / name).write_text(name)
    assert run(steps("release")["Keep what an index takes"], tmp_path).returncode == 0
    assert sorted(each.name for each in (tmp_path / "packages").iterdir()) == names


def test_a_file_that_is_damaged_is_not_published(tmp_path):
    dist, programs = tmp_path / "dist", tmp_path / "bin"
    for folder in (dist, programs):
        folder.mkdir()
    (programs / "gh").write_text('#!/bin/sh\nprintf "%s\\n" "$@" >asked\n')
    (programs / "gh").chmod(0o755)
    wheel = dist / "slownet-0.1.0-py3-none-any.whl"
    wheel.write_text("whole")
    (dist / "SHA256SUMS").write_text(subprocess.check_output(["sha256sum", wheel.name], cwd=dist, text=True))
    of_github = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "GITHUB_REF_NAME": "v0.1.0",
        "GITHUB_REPOSITORY": "owner/slownet",
    }
    assert run(steps("release")["Publish the files"], tmp_path, **of_github).returncode == 0
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked[:3] == ["release", "create", "v0.1.0"]
    assert asked[-2:] == [f"dist/{wheel.name}", "dist/SHA256SUMS"]
    (tmp_path / "asked").unlink()
    wheel.write_text("damaged")
    assert run(steps("release")["Publish the files"], tmp_path, **of_github).returncode != 0
    assert not (tmp_path / "asked").exists()
