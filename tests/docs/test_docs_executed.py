"""The documentation's commands and code, run as a reader would: in a project with an environment of its own, twice."""

import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import wheels
from blocks import DATA, DOCS, Block, Step, blocks, pages, quick

from slownet.lab.build import cache, parts
from slownet.lab.host import calibrate
from slownet.model.errors import SlownetError

sys.path.insert(0, str(DOCS / "_ext"))

from slownet_docs import tables  # from the folder above

KEPT = ("HOME", "USER", "LANG", "TMPDIR", "XDG_STATE_HOME")
PATIENCE_S = 1800
AS_PRINTED = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
STATE = ".state"
SAVE = '; status=$?; { export -p; printf "cd %q\\n" "$PWD"; } > "$STATE"; exit $status'


@pytest.fixture(scope="session")
def environment(tmp_path_factory):
    """A virtual environment: the wheel, and by reference what it depends on, which this test does not fetch."""
    try:
        calibrate.tdf(parts.need())
    except SlownetError as error:
        pytest.fail(str(error), pytrace=False)
    folder = tmp_path_factory.mktemp("environment")
    wheel = wheels.made(folder)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    subprocess.run([*wheels.PIP, "--python", folder / "venv/bin/python", "install", "--no-deps", wheel], check=True)
    (site,) = folder.glob("venv/lib/python*/site-packages")
    (site / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    for program in ("pytest", "jupyter"):
        script = folder / "venv/bin" / program
        if not script.exists():
            script.write_text(f'#!/bin/sh\nexec {folder}/venv/bin/python -m {program} "$@"\n')
            script.chmod(0o755)
    return folder / "venv"


class Reader:
    """Does in a folder what a page says, block by block."""

    def __init__(self, folder: Path, environment: Path) -> None:
        self.folder, self._python, self._before = folder, environment / "bin/python", ""
        path = f"{environment}/bin:{os.environ['PATH']}"
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        others = {"XDG_CACHE_HOME": str(cache.root().parent), "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
        self._environment = {**kept, **others, "PATH": path, "VIRTUAL_ENV": str(environment), "PYTHONWARNINGS": "error"}
        self._state = folder.parent / f"{folder.name}{STATE}"
        self._state.write_text(f"cd {shlex.quote(str(folder))}\n")

    def do(self, block: Block) -> None:
        if "skip" in block.notes:
            return
        if block.file:
            path = self.folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)
        elif block.language == "console":
            *before, last = block.steps
            for step in before:
                self._command(block, step, 0)
            self._command(block, last, int(block.notes.get("exit", 0)))
        elif block.language == "python":
            self._code(block)
        elif block.language in DATA:
            self._read(block)

    def _run(self, words: list[str]) -> subprocess.CompletedProcess:
        return subprocess.run(
            words, cwd=self.folder, env=self._environment | {"STATE": str(self._state)}, text=True, timeout=PATIENCE_S,
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip

    def _command(self, block: Block, step: Step, status: int) -> None:
        done = self._run(["bash", "-c", f'. "$STATE"\n{step.command}\n{SAVE[2:]}'])
        assert done.returncode == status, f"{block}: {step.command}\n{done.stdout}{done.stderr}"
        if step.printed is not None:  # pages show a result without its progress, or an error
            printed = (done.stdout, done.stdout + done.stderr)
            same = any(doctest.OutputChecker().check_output(f"{step.printed}\n", each, AS_PRINTED) for each in printed)
            assert same, f"{block}: {step.command}\n--- the page:\n{step.printed}\n--- printed:\n{printed[1]}"

    def _code(self, block: Block) -> None:
        if re.search(r"^\s*def test_", block.text, re.MULTILINE):
            path = self.folder / f"test_block_{block.line}.py"
            words = [self._python, "-m", "pytest", "-q", path]
            path.write_text(block.text)
        else:
            self._before += block.text
            path = self.folder / "blocks.py"
            path.write_text(self._before)
            words = [self._python, path]
        done = self._run([str(word) for word in words])
        assert done.returncode == 0, f"{block}\n{done.stdout}{done.stderr}"

    def _read(self, block: Block) -> None:
        """Read what has no name: a hypothesis file, a project's table or a compose file, as slownet reads it."""
        if block.language == "toml" and "[[prediction]]" in block.text:
            code = "from pathlib import Path; from slownet.hypotheses.file import read; read(Path('block.toml')).experiment()"
            (self.folder / "block.toml").write_text(block.text)
        elif block.language == "yaml" and re.search(r"^services:", block.text, re.MULTILINE):
            code = "from slownet.compose.project_topology import Compose; Compose('block.yaml')"
            (self.folder / "block.yaml").write_text(block.text)
        else:
            return
        done = self._run([str(self._python), "-c", code])
        assert done.returncode == 0, f"{block}\n{done.stdout}{done.stderr}"


def does(page: Path) -> bool:
    return any(block.file or block.language in ("console", "python", *DATA) for block in blocks(page))


def follow(page: Path, folder: Path, environment: Path, times: int) -> None:
    """Do what the page says, from the start, in a folder that stays; then again in another, with the same environment."""
    for time in range(times):
        where = folder / f"project {time + 1}"
        where.mkdir()
        reader = Reader(where, environment)
        for block in blocks(page):
            reader.do(block)
        for path in where.rglob("run.json"):
            unknown = tables.undescribed(json.loads(path.read_text()))
            assert unknown == [], f"write it into docs/reference/records.toml: {unknown}"
    shutil.rmtree(folder, ignore_errors=True)


def named(found):
    return [pytest.param(page, id=str(page.relative_to(DOCS).with_suffix(""))) for page in found]


@pytest.mark.parametrize("page", named(page for page in pages() if does(page) and quick(page)))
def test_a_quick_page(page, environment, tmp_path):
    follow(page, tmp_path, environment, 1)


@pytest.mark.parametrize("page", named(page for page in pages() if does(page)))
def test_a_page_twice(page, environment, tmp_path):
    follow(page, tmp_path, environment, 2)
