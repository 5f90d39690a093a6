"""Linearizability of a history: whether each operation could have happened at one moment between its begin and its end.

That is checked by Porcupine (https://github.com/anishathalye/porcupine), a library in Go. The small program around it, in the
folder porcupine, is built once, by the Go compiler of this machine.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from slownet.judge.histories.checks import Check, Violation
from slownet.judge.histories.history import FAIL, History, HistoryError, Operation, short
from slownet.judge.records.statement import Phrase
from slownet.lab.build import cache
from slownet.lab.build.digests import Part
from slownet.lab.build.shelf import Shelf
from slownet.model.errors import nearest
from slownet.model.shapes import Json
from slownet.model.units import duration

SOURCE = Path(__file__).with_name("porcupine")
MODELS = {"register": ("read", "write", "cas"), "list-append": ("read", "append")}
"""The models, and their operations."""
FILES = ("go.mod", "go.sum", "main.go")
PROGRAM = "porcupine"
PART = Part("the checker of histories", (PROGRAM,), "check a history again: it is built anew")
SHELF: Shelf[Path] = Shelf("checker", PART, lambda folder: folder / PROGRAM)
BUILD_S = 600


def linearizable(
    model: str = "register", *, names: Mapping[str, str] | None = None, keyed: bool = False, limit: str = "60s"
) -> Check:
    """Each operation is as if it had happened at one moment between its begin and its end, in one order for all clients.

    It needs a Go compiler, once: ``apt install golang-go``.

    Parameters
    ----------
    model : str
        "register": ``write`` writes its value, ``read`` returns the last one (null at first), ``cas`` with [old, new] writes
        new if the value is old. "list-append": ``append`` adds its value to a list, ``read`` returns the whole list.
    names : mapping of str to str, optional
        The names of the history's operations, where they are others: ``{"set": "write", "get": "read"}``. What has neither is
        not looked at.
    keyed : bool
        Whether there are several objects: each value is then [key, value], also of a read, which asks for [key, null].
    limit : str
        Wall time after which the check gives up. It can take very long if many operations are unknown.

    Returns
    -------
    Check

    Raises
    ------
    HistoryError
        No such model.
    """
    if model not in MODELS:
        raise HistoryError(f"no model '{model}'", "linearizable()", nearest(model, MODELS))
    words, limit_s, known = f"a linearizable {model}", duration(limit), dict(names or {})

    def judge(history: History) -> Violation | None:
        groups: dict[str, list[Operation]] = {}
        for each in history.operations:
            kind = known.get(each.op, each.op)
            if kind in MODELS[model] and each.type != FAIL and not (kind == "read" and not each.is_acknowledged):
                groups.setdefault(_text(_part(each.value, each, 0)) if keyed else "", []).append(each)
        if not groups:
            raise HistoryError(f"the history has none of the operations {', '.join(MODELS[model])}", fix="give names=")
        asked = [[_asked(each, known.get(each.op, each.op), keyed) for each in group] for group in groups.values()]
        answers = _run({"model": model, "limit_s": limit_s, "histories": asked}, limit_s)
        for (key, group), answer in zip(groups.items(), answers, strict=True):
            if answer["result"] == "unknown":
                raise HistoryError(f"no verdict within {limit}", fix="raise limit=, or record fewer operations for each key")
            if answer["result"] == "illegal":
                return _violation(words, key, group, answer["longest"])
        return None

    return Check(words, judge)


def _violation(words: str, key: str, group: Sequence[Operation], longest: Sequence[int]) -> Violation:
    left = [each for number, each in enumerate(group) if number not in longest and each.end is not None]
    odd = min(left or group, key=lambda each: each.end or 0)
    result = short(odd.result) if odd.op and odd.result is not None else ""
    return Violation.of(words, FITS_INTO_NO_ORDER(operation=str(odd), result=result, key=key), odd.end)


def _asked(each: Operation, kind: str, keyed: bool) -> dict[str, Json]:
    value = _part(each.value, each, 1) if keyed else each.value
    result = _part(each.result, each, 1) if keyed and each.is_acknowledged else each.result
    if kind == "cas" and not (isinstance(value, list) and len(value) == 2):
        raise HistoryError(f"{each} is a cas without [old, new]", fix="record both values")
    parts = value if kind == "cas" else [] if kind == "read" else [value]
    end = {} if each.end is None else {"end": each.end}
    return {
        "client": each.process, "begin": each.begin, **end, "op": kind, "asked": [_text(part) for part in parts],
        "result": _text(result) if kind == "read" else "",
    }  # fmt: skip


def _part(value: Any, each: Operation, number: int) -> Any:
    if not (isinstance(value, list) and len(value) == 2):
        raise HistoryError(f"{each} has no [key, value] pair", fix="leave out keyed=, or record the key with each value")
    return value[number]


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _run(asked: Mapping[str, Json], limit_s: float) -> list[dict[str, Any]]:
    try:
        done = subprocess.run(
            [program()], input=json.dumps(asked), capture_output=True, text=True, check=False, timeout=limit_s + 60
        )
    except subprocess.TimeoutExpired as error:
        raise HistoryError("Porcupine does not end", fix="lower limit=") from error
    if done.returncode:
        raise HistoryError(f"Porcupine ended with status {done.returncode}: {done.stderr.strip()[-200:]}", fix="report it")
    answers: list[dict[str, Json]] = json.loads(done.stdout)
    return answers


def program() -> Path:
    """Return the checker's program; it is built first if this machine does not have it. Raises HistoryError."""
    name = cache.key(*(SOURCE / each for each in FILES))
    return SHELF.make(name, _build, cache.writable_root())


def _build(folder: Path) -> None:
    go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if go is None:
        raise HistoryError("there is no Go compiler", "linearizable()", "apt install golang-go")
    argv = [go, "build", "-o", str(folder / PROGRAM), "."]
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        source = shutil.copytree(SOURCE, Path(work, "source"))
        try:
            made = subprocess.run(argv, cwd=source, capture_output=True, text=True, check=False, timeout=BUILD_S)
        except subprocess.TimeoutExpired as error:
            raise HistoryError(
                "the checker is not built after ten minutes", "go build", "see whether Go's proxy answers"
            ) from error
    if made.returncode:
        why = (made.stderr.strip().splitlines() or [f"status {made.returncode}"])[-1]
        raise HistoryError(f"the checker cannot be built: {why}", "go build", "see whether Go's proxy answers")


def _fitting_no_order(operation: str, result: str, key: str) -> str:
    return f"{operation}{f', which gave {result},' if result else ''} fits into no order{f' of {key}' if key else ''}"


FITS_INTO_NO_ORDER = Phrase("fits into no order", _fitting_no_order)
