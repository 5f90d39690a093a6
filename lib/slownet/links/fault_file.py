"""A schedule of faults as a file: TOML with a table [faults], the same steps by their times as in Python.

::

    [faults]
    "4.2s" = "cut db from web, client"
    "9s" = ["heal", "kill db"]

What `slownet hunt` has found is such a file, with a table [found] that shows where it came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slownet.links.faults import NONE, Faults, shown
from slownet.model import userfile
from slownet.model.errors import ConditionError, SlownetError, nearest
from slownet.model.userfile import toml_text

FAULTS, FOUND = "faults", "found"
EXAMPLE = 'write a table [faults] with steps such as "5s" = "kill db"'


@dataclass(frozen=True)
class FaultFile:
    """The content of a file.

    faults: its steps.
    found: what a hunt has noted with them.
    """

    faults: Faults
    found: Mapping[str, str] = field(default_factory=dict)

    def to_toml(self) -> str:
        """Return the text of the file."""
        lines = [f"# {self.faults}", f"[{FAULTS}]"]
        for at, actions in self.faults.together():
            words = ", ".join(toml_text(str(each)) for each in actions)
            lines.append(f"{toml_text(shown(at))} = {words if len(actions) == 1 else f'[{words}]'}")
        if self.found:
            lines += ["", f"[{FOUND}]", *(f"{name} = {toml_text(value)}" for name, value in self.found.items())]
        return "\n".join(lines) + "\n"


def read(path: Path | str) -> FaultFile:
    """Read a file. Raises ConditionError, UnitError: it cannot be read, or a step is wrong: one line that names the file."""
    try:
        data = userfile.toml(userfile.read_text(path))
    except (OSError, ValueError) as error:
        fix = "name a file that can be read" if isinstance(error, OSError) else EXAMPLE
        raise ConditionError(f"{path} cannot be read: {userfile.reason(error)}", fix=fix) from error
    for name in data:
        if name not in (FAULTS, FOUND):
            raise ConditionError(f"unknown key '{name}'", str(path), nearest(name, (FAULTS, FOUND)))
    found = data.get(FOUND, {})
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise ConditionError(f"[{FOUND}] contains a value that is not a text", str(path), "leave it as slownet hunt wrote it")
    return FaultFile(of_table(data.get(FAULTS), str(path), may_be_empty=bool(found)), found)


def of_table(table: Any, where: str, may_be_empty: bool = False) -> Faults:
    """Return the faults of a table of a user's file; where: what names it. Raises ConditionError, UnitError."""
    if not isinstance(table, dict):
        raise ConditionError("no faults" if table is None else f"[{FAULTS}] is not a table", where, EXAMPLE)
    if not table and may_be_empty:
        return Faults(())
    try:
        return Faults.parse(table)
    except SlownetError as error:
        raise type(error)(error.what, ", ".join(filter(None, [error.where, where])), error.fix) from None


def of_argument(text: str) -> Faults:
    """Return the faults that a command names: a file, or their words. Raises ConditionError, UnitError."""
    if text.endswith(".toml") or Path(text).is_file():
        return read(text).faults
    try:
        return Faults.parse(text)
    except ConditionError as error:
        fix = f'write a file, or words such as "kill db at 4 s; start db at 5 s", or {NONE}'
        raise ConditionError(error.what, error.where or "in the faults", fix if " at " not in text else error.fix) from None
