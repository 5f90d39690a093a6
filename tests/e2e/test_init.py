"""`slownet init` writes a project that passes at once, in an environment of its own and under any name; and a package."""

import json
import subprocess

import pytest
from conftest import LIGHT, environment, of_ones_own

from slownet.cli.init import CI, FILES


@pytest.fixture(scope="module")
def binaries(installed, tmp_path_factory):
    return environment(installed, tmp_path_factory.mktemp("environment") / "venv")


def test_it_passes_at_once_and_twice(built, binaries, tmp_path):
    folder = tmp_path / "мой проект, 遅い $(id) 'x'"

    def run(*words, cwd=folder):
        variables = of_ones_own(binaries)
        return subprocess.run(words, cwd=cwd, env=variables, capture_output=True, text=True, check=False)

    made = run("slownet", "init", folder.name, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert made.stdout.split("\n\n")[0].splitlines() == [f"{folder.name}/{each}" for each in (*FILES, CI["github"])]
    for _ in range(2):
        done = run("pytest", *LIGHT, "-q", "-W", "error")
        assert (done.returncode, done.stdout.splitlines()[-1].partition(" in ")[0]) == (0, "2 passed"), done.stdout
    done = run("slownet", "check", "--tdf", "inf", "--out", "json=-", "shop.toml")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"][0]["marks"] == ["right"]
    again = run("slownet", "init", ".")
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout == f"left as they are: {', '.join((*FILES, CI['github']))}\n"


def test_a_package_is_installed_found_and_passes(built, installed, tmp_path):
    variables = of_ones_own(environment(installed, tmp_path / "venv"))

    def run(*words, cwd=tmp_path / "things"):
        done = subprocess.run(words, cwd=cwd, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("slownet", "init", "things", "--package", "slow-things", cwd=tmp_path)
    run("pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "-e", ".")
    assert run("pytest", *LIGHT, "-q", "-W", "error").splitlines()[-1].startswith("3 passed in")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert "slow_things_far_page" in run("slownet", "list", cwd=elsewhere)
    (found,) = json.loads(
        run("slownet", "run", "slow_things_far_page", "--vary", "rtt=0ms,300ms", "--out", "json=-", cwd=elsewhere)
    )["runs"]
    assert found["claims"][0]["verdict"] == "supported"
    (checked,) = json.loads(run("slownet", "check", "--tdf", "inf", "--out", "json=-", "far_page.toml"))["runs"]
    assert checked["marks"] == ["right"]
