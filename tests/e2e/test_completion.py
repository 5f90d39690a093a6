"""Completion in the shells themselves, as `slownet --show-completion` sets it up; and that it is as quick as `--help`."""

import os
import shutil
import subprocess
import sys

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


def test_it_imports_less_than_help(variables, tmp_path):
    """Imports take nearly all the time of both; `make bench` measures it."""

    def imported(*words, **more):
        command = [sys.executable, "-X", "importtime", "-m", "slownet.cli", *words]
        done = subprocess.run(command, env={**variables, **more}, cwd=tmp_path, capture_output=True, text=True, check=True)
        return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}

    of_help = imported("--help")
    for line in (LINE, "slownet run --vary lo", "slownet shell tw", "slownet show ru"):
        asked = {"COMP_WORDS": line.replace(" ", "\n"), "COMP_CWORD": str(line.count(" "))}
        found = imported(**asked, _SLOWNET_COMPLETE="complete_bash")
        assert len(found) < len(of_help)
        assert not any(each.startswith(("slownet.experiments.", "slownet.services", "mininet")) for each in found)
