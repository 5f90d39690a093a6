"""Programs that are not there are noted whoever starts them, and nothing else changes: the library runs on this machine."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from slownet.lab.build import init
from slownet.lab.run import absent

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="the build of a lab's image installs a compiler")
SOURCE = Path(init.__file__).with_name("absent.c")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The library, compiled to write to a file that an ordinary user has, and that file."""
    folder = tmp_path_factory.mktemp("absent")
    notes = folder / "notes"
    source = folder / "absent.c"
    source.write_text(SOURCE.read_text().replace('"/run/slownet-absent"', f'"{notes}"'))
    made = folder / "absent.so"
    subprocess.run(["gcc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", made, source], check=True)
    return made, notes


@pytest.fixture
def run(library, monkeypatch, tmp_path):
    made, notes = library
    monkeypatch.setattr(absent, "NOTES", notes)
    notes.write_text("")

    def started(*words):
        done = subprocess.run(
            [sys.executable, "-c", "import os, sys; os.execvp(sys.argv[1], sys.argv[1:])", *words],
            env={**os.environ, "LD_PRELOAD": str(made)}, cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done, absent.found()

    return started


NAME = "no-such-program"
WHOLE = "/opt/no/such-daemon"
SCRIPTS = {
    "script.sh": f"#!/bin/sh\n{NAME}\ntrue\n",
    "script.bash": f"#!/bin/bash\n{NAME} -x\n",
    "env": f"#!/usr/bin/env {NAME}\n",
}


@pytest.mark.parametrize(
    "line",
    [
        f"nohup {NAME}", f"timeout 5 {NAME}", f"nice {NAME}", f"env A=b {NAME}", f"sh -c {NAME}",
        f"sh -c '{NAME} -x | cat; true'", f"sh -c '{NAME} 2>/dev/null & wait'", f"bash -c {NAME}", f"bash -c 'exec {NAME}'",
        f"bash -c '{NAME} >/dev/null 2>&1 & wait'", f"sh -c 'echo a | xargs {NAME}'", f"find . -maxdepth 0 -exec {NAME} {{}} ;",
        f"awk 'BEGIN {{ system(\"{NAME} x\") }}'", f"{sys.executable} -c 'import os; os.system(\"{NAME}\")'",
        f"{sys.executable} -c 'import subprocess; subprocess.run([\"{NAME}\"])'",
        f"{sys.executable} -c 'import subprocess; subprocess.run(\"{NAME} x\", shell=True)'",
        f"{sys.executable} -c 'import os; os.posix_spawnp(\"{NAME}\", [\"x\"], os.environ)'",
        f"stdbuf -oL {NAME}", f"setsid {NAME}", "./script.sh", "./script.bash", "./env",
    ],
)  # fmt: skip
def test_a_name_is_noted_however_it_is_started(run, tmp_path, line):
    for name, text in SCRIPTS.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    words = shlex.split(line)
    if not shutil.which(words[0]) and "/" not in words[0]:
        pytest.skip(f"this machine has no {words[0]}")
    _, found = run(*words)
    assert found == absent.Absent([NAME], [])


@pytest.mark.parametrize(
    "line", [f"sh -c {WHOLE}", f"bash -c '{WHOLE} -d; true'", f"nohup {WHOLE}", f"sh -c 'timeout 1 {WHOLE}'", f"env {WHOLE} -d"]
)
def test_a_whole_path_is_noted_as_it_is_written(run, line):
    _, found = run(*shlex.split(line))
    assert found == absent.Absent([WHOLE], [])


def test_what_a_script_wants_to_be_run_by_is_noted(run, tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/opt/no/interpreter -x\n")
    script.chmod(0o755)
    _, found = run("nohup", str(script))
    assert found.started == ["/opt/no/interpreter"]


def test_questions_are_no_starts(run):
    done, found = run("sh", "-c", f"command -v {NAME}; type {NAME}; test -x {WHOLE}; which {NAME} ls")
    assert found == absent.Absent([], [NAME])
    assert done.stdout.count("not found") == 1


def test_a_program_in_a_later_folder_is_there(run):
    done, found = run("sh", "-c", "PATH=/usr/local/sbin:/nowhere:$PATH nohup ls / | head -1; nice true; ls /nowhere")
    assert (done.returncode, found.started) == (2, [])


def test_a_program_that_is_elsewhere_is_noted_by_its_path(run):
    _, found = run("nohup", "/usr/sbin/ls")
    assert found.started == ["/usr/sbin/ls"]


def test_what_programs_see_stays_the_same(run):
    done, _ = run("sh", "-c", f"{NAME}; echo $?; nohup {NAME} </dev/null; echo $?; bash -c {NAME}; echo $?")
    assert done.stdout.split() == ["127"] * 3
    assert [line.rpartition(": ")[2] for line in done.stderr.splitlines() if NAME in line] == [
        "not found", "No such file or directory", "command not found",
    ]  # fmt: skip


def test_words_of_calls_with_any_number_of_them_arrive(run):
    code = "import ctypes; ctypes.CDLL(None).execl(b'/bin/echo', b'echo', b'a', b'b c', None)"
    done, _ = run(sys.executable, "-c", code)
    assert done.stdout == "a b c\n"
