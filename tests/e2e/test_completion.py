"""Completion in the shells themselves, as `slownet --show-completion` sets it up; and that it imports nothing that measures."""

import os
import re
import shutil
import subprocess
import sys
from importlib import metadata

import pytest

LINE = "slownet run client_d"
ASK = {
    "bash": 'source "$1"; COMP_WORDS=(slownet run client_d); COMP_CWORD=2; _slownet_completion slownet; echo "${COMPREPLY[@]}"',
    "fish": f"source $argv[1]; complete --do-complete '{LINE}' | string replace -r '\\t.*' ''",
    # zsh completes only on a terminal: without one, what the script would hand to compadd is asked for
    "zsh": f'compdef() {{ :; }}; _arguments() {{ print -r -- "$@"; }}; words=({LINE}); CURRENT=3; . "$1"; _slownet_completion',
}


@pytest.fixture(scope="module")
def variables(tmp_path_factory):
    """The environment of a shell that has `slownet` on its path."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "slownet").write_text(f'#!/bin/sh\nexec {sys.executable} -m slownet.cli "$@"\n')
    (folder / "slownet").chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.mark.parametrize("shell", ASK)
def test_a_name_is_completed(shell, variables, tmp_path):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed here")
    script = tmp_path / "completion"
    source = {**variables, "_SLOWNET_COMPLETE": f"source_{shell}"}
    script.write_text(subprocess.run(["slownet"], env=source, capture_output=True, text=True, check=True).stdout)
    words = [shell, "-c", ASK[shell], *([shell] if shell != "fish" else []), script]
    done = subprocess.run(words, env=variables, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "client_delay" in done.stdout
    assert "database_delay" not in done.stdout


def imported(*words, **variables):
    """Return the names of the modules that a Python imports."""
    command = [sys.executable, "-X", "importtime", *words]
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=True)
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def required(name):
    """Return a distribution and all that it requires here, without extras."""
    found = {name}
    for each in metadata.requires(name) or ():
        if not re.search("extra ==|platform_system|sys_platform", each):
            found |= required(re.match(r"[\w.-]+", each)[0].lower().replace("_", "-"))
    return found


@pytest.fixture(scope="module")
def of_typer():
    """Typer, which makes the command line, and what it requires."""
    found = required("typer")
    assert {"typer", "rich"} <= found
    return found


def distributions(modules):
    """Return the distributions of modules, but not those that any Python here imports."""
    of, tops = metadata.packages_distributions(), {each.partition(".")[0] for each in modules - imported("-c", "pass")}
    return {name.lower().replace("_", "-") for top in tops for name in of.get(top, ())} - {"slownet"}


ROOMS_FOR_MEASURING = ("experiments", "services", "tools", "net.", "judge.claim.", "theory.stats", "pytest_plugin")


@pytest.mark.parametrize("line", [LINE, "slownet run --vary lo", "slownet shell tw", "slownet show ru", "slownet "])
def test_it_imports_nothing_that_measures(line, variables, of_typer, tmp_path, monkeypatch):
    """Imports take nearly all the time of a completion: of packages, it needs only those of the command line."""
    monkeypatch.chdir(tmp_path)
    asked = {"COMP_WORDS": line.replace(" ", "\n"), "COMP_CWORD": str(line.count(" "))}
    found = imported("-m", "slownet.cli", **variables | asked, _SLOWNET_COMPLETE="complete_bash")
    assert distributions(found) - of_typer == set()
    assert [each for each in found if each.startswith(tuple(f"slownet.{room}" for room in ROOMS_FOR_MEASURING))] == []


def test_a_command_that_imports_experiments_imports_what_measures(of_typer, tmp_path, monkeypatch):
    """So the test above would see it."""
    monkeypatch.chdir(tmp_path)
    found = imported("-m", "slownet.cli", "list")
    assert distributions(found) - of_typer >= {"mininet", "pexpect"}
    assert {"slownet.net", "slownet.tools"} <= found
