"""Judges a student's code by a teacher's tests, in a lab: confined, with limits, and whatever it does, the class goes on.

What a lab sends back is one text of bounded size, the tests' results as pytest writes them for JUnit. Which tests there are,
and so the points, is read from the teacher's file, never from the lab. The code may still lie about tests that run beside it in
one lab, as root: a test that starts it as a program of its own on a host, and judges what it sees from another one, is harder
to deceive than one that imports it.
"""

from __future__ import annotations

import ast
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

from slownet.classroom.grading import Graded
from slownet.lab.build import parts
from slownet.lab.run.outbox import Outbox, RefusedError
from slownet.model import userfile
from slownet.model.control_characters import visible
from slownet.model.errors import ExperimentError, LabError
from slownet.model.options import MEMORY, TDF, Option
from slownet.model.whole_file import place

SUBMISSION = "submission"
"""The folder, beside the tests, where they find what was handed in."""
MOST_FILES, MOST_BYTES = 1000, 16 * userfile.MEBIBYTE
MOST_RESULTS = 4 * userfile.MEBIBYTE
LONGEST = 300
"""The most characters of a test's message."""
_GRACE_S = 20.0
_SCRIPT = """\
export PYTEST_ADDOPTS="-q -p slownet.pytest_plugin -p no:cacheprovider"
python -m pytest --junitxml=/tmp/results.xml {tests} > /dev/null 2>&1 < /dev/null
cat /tmp/results.xml
"""


def names(tests: Path) -> list[str]:
    """Return the test functions of a teacher's file. Raises ExperimentError."""
    try:
        tree = ast.parse(userfile.read_text(tests))
    except (OSError, ValueError, SyntaxError, RecursionError) as error:
        raise ExperimentError(f"cannot read {tests} ({error})", Option("test"), "name a file of pytest's") from error
    found = [each.name for each in tree.body if isinstance(each, ast.FunctionDef) and each.name.startswith("test")]
    if not found:
        raise ExperimentError(f"{tests} has no tests", Option("test"), "write functions whose names begin with test_")
    return found


def grade(folder: Path, tests: Sequence[Path], limit_s: float, megabytes: int) -> list[Graded]:
    """Run a teacher's tests beside a submission: a point for each that passes.

    Raises ExperimentError, LabError for what is not the student's fault.
    """
    wanted = [(path, name) for path in tests for name in names(path)]
    if parts.find() is None:
        raise LabError("the lab is not built", fix="slownet lab build, or slownet lab import FILE")
    with tempfile.TemporaryDirectory(prefix="slownet-code-") as work:
        problem = _copy(folder, Path(work) / SUBMISSION)
        for path in tests:
            shutil.copy(path, Path(work) / path.name)
        results, problem = ({}, problem) if problem else _run(Path(work), [each.name for each in tests], limit_s, megabytes)
    graded = []
    for path, name in wanted:
        wrong = results.get((path.stem, name), problem or "it was not run")
        graded.append(Graded(f"{path.stem}.{name}", float(not wrong), 1, wrong or "passed"))
    return graded


def _copy(folder: Path, target: Path) -> str:
    """Copy a submission's regular files; return why it cannot be, or nothing.

    Links are left out, hard ones to what the teacher's command has read, too: they could name any file.
    """
    count = size = 0
    box = Outbox(folder)
    target.mkdir(parents=True, exist_ok=True)
    for entry in box.files():
        count, size = count + 1, size + entry.size
        if count > MOST_FILES or size > MOST_BYTES:
            return f"what was handed in is larger than {MOST_FILES} files or {MOST_BYTES // userfile.MEBIBYTE} MiB"
        try:
            with box.open(entry.name, MOST_BYTES) as file:
                if userfile.is_input(os.fstat(file.fileno())):  # a hard link to the key or the tests
                    continue
                content = file.read(entry.size)
        except RefusedError:  # it was replaced meanwhile
            continue
        place(target / entry.name, content)
    return ""


def _run(work: Path, tests: Sequence[str], limit_s: float, megabytes: int) -> tuple[dict[tuple[str, str], str], str]:
    """Run tests in a lab; return what is wrong with each, empty if it passed, and why a result is missing."""
    script = _SCRIPT.format(tests=" ".join(f"./{each}" for each in tests))
    words = [sys.executable, "-m", "slownet.cli", "lab", "exec", TDF.typed, "inf", MEMORY.typed, str(megabytes), "--"]
    process = subprocess.Popen(
        [*words, "sh", "-c", script], cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    late = threading.Event()

    def end() -> None:
        late.set()
        _end(process)

    timer = threading.Timer(limit_s, end)
    timer.start()
    try:
        text = process.stdout.read(MOST_RESULTS + 1) if process.stdout else b""
    finally:
        timer.cancel()
        _end(process)
    if late.is_set():
        return {}, f"not done in {limit_s:g} s"
    return _results(text)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a lab: by a signal, after which it removes what it made; if it does not, by force."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            if process.poll() is None:
                os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
            return


def _results(text: bytes) -> tuple[dict[tuple[str, str], str], str]:
    if len(text) > MOST_RESULTS:
        return {}, "the tests' results are too large"
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return {}, "the tests ended without a result"
    found: dict[tuple[str, str], str] = {}
    for case in root.iter("testcase"):
        file, name = case.get("classname", "").rpartition(".")[2], case.get("name", "").partition("[")[0]
        wrong = next((each for each in case if each.tag in ("failure", "error", "skipped")), None)
        said = "" if wrong is None else visible(" ".join((wrong.get("message") or wrong.tag).split()))[:LONGEST] or wrong.tag
        found[file, name] = found.get((file, name), "") or said
    broken = next((each for (file, name), each in found.items() if each and (not file or not name.startswith("test"))), "")
    return found, broken
