"""Nothing on the host writes a file by itself: `slownet.model.whole_file` does, so none is cut."""

import ast
from pathlib import Path

import pytest

SLOWNET = Path(__file__).parents[2] / "lib" / "slownet"
ROOMS = (
    "api", "calibration", "classroom", "cli", "comparison", "hunt", "hypotheses", "judge", "model", "pytest_plugin", "report",
    "runner", "sweep", "transfer",
)  # fmt: skip
WRITING = {
    "write_text", "write_bytes", "to_parquet", "to_csv", "savefig", "copyfile", "copy", "copy2", "move", "replace",
    "rename", "truncate", "appending", "drafted",
}  # fmt: skip
"""Functions and methods that change a file; ``replace`` and ``rename`` if `os` has them."""
OPENING = {"open", "fdopen", "ZipFile", "NamedTemporaryFile"}
ELSEWHERE = {
    "model/whole_file.py": "it is what writes",
    "judge/records/samples.py": "a log, a line on the disk at a time; a lab's raw output; a damaged log set aside",
    "judge/records/result.py": "a table, by `drafted`",
    "runner/boot_store/sweep_store.py": "a log, a line on the disk at a time; the lock",
    "classroom/autograders.py": "an archive, by `output`",
    "transfer/export.py": "an archive, by `output`",
    "runner/inside.py": "in the lab",
    "transfer/bundle.py": "a folder that becomes part of a wheel",
    "transfer/lab_download.py": "a download that goes on where it was cut, into the cache",
    "transfer/unpack.py": "the cache, whole or not at all",
    "cli/app.py": "the lines of a help text, by Click's formatter",
    "cli/endings.py": "standard streams",
    "classroom/student_code.py": "a temporary folder that a lab gets",
    "pytest_plugin/carrier.py": "what leaves a lab, by `slownet.lab.run.deposit`; logs that are added to",
    "pytest_plugin/session_summary.py": "in the lab, or a temporary folder",
    "pytest_plugin/staging.py": "a temporary folder that a lab gets; the lock",
    "pytest_plugin/xdist_workers.py": "pipes",
}
"""Modules that write otherwise, and what."""


def changes(call: ast.Call) -> bool:
    """Return whether a call writes or replaces a file, by its name and the mode that it is given."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    owner = getattr(getattr(call.func, "value", None), "id", "")
    if name in ("replace", "rename", "truncate", "copy", "move"):
        return owner in ("os", "shutil")
    if name in WRITING:
        return True
    if name == "open" and owner == "os":
        return any(each.attr in ("O_WRONLY", "O_RDWR", "O_CREAT") for each in ast.walk(call) if isinstance(each, ast.Attribute))
    given = [*call.args, *(each.value for each in call.keywords if each.arg == "mode")]
    modes = [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return name in OPENING and any(set(each) <= set("rwxabt+|") and set(each) & set("wxa+") for each in modes)


def written(text: str) -> list[int]:
    """Return the lines of a module that write."""
    return [each.lineno for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Call) and changes(each)]


@pytest.mark.parametrize(
    "code",
    [
        "p.write_text('x')", "(a / b).write_bytes(c)", "open(p, 'w')", "p.open('xb')", "p.open(mode='a')", "open(p, 'r+b')",
        "os.open(p, os.O_WRONLY | os.O_CREAT)", "ZipFile(p, 'w')", "shutil.copy(a, b)", "os.replace(a, b)", "f.to_parquet(p)",
    ],
)  # fmt: skip
def test_what_writes_is_found(code):
    assert written(code) == [1]


@pytest.mark.parametrize("code", ["open(p)", "p.open('rb')", "text.replace('a', 'b')", "replace(one, name='w')"])
def test_what_does_not_write_is_not_found(code):
    assert written(code) == []


def test_files_are_written_in_one_way():
    found = {
        str(path.relative_to(SLOWNET)): lines
        for room in ROOMS
        for path in sorted((SLOWNET / room).rglob("*.py"))
        if (lines := written(path.read_text()))
    }
    assert {name: lines for name, lines in found.items() if name not in ELSEWHERE} == {}
    assert ELSEWHERE.keys() - found.keys() == set(), "these write nothing any more"
