"""The specification of a sweep: cells, place and repetitions; sweep.json and the keys of cells are made from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

from slownet.hypotheses.experiment import VARY, tried
from slownet.hypotheses.source import Source
from slownet.model import options, userfile
from slownet.model.errors import SweepError
from slownet.model.shapes import Json
from slownet.runner.sweep_options import OF_CELLS, SweepOptions
from slownet.runner.where import PLACED, Where
from slownet.sweep import factors

TABLE = "sweep"


@dataclass(frozen=True)
class Spec:
    """One sweep as its caller describes it."""

    experiment: str
    vary: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    sample: str = "grid"
    seed: int = 1
    repeat: int = 1
    fresh: bool = False
    """True if each cell has a boot of its own."""
    cold: bool = False
    """True if each boot prepares its services itself."""
    where: Where = field(default_factory=Where)
    criterion: str = ""
    refine: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return it for sweep.json: of variables the names alone."""
        whole = asdict(self)
        return {**whole, "where": {**whole["where"], "env": [each.partition("=")[0] for each in self.where.env]}}

    @classmethod
    def from_json(cls, record: Mapping[str, Json]) -> Spec:
        """Return it from sweep.json. Raises SweepError."""
        try:
            where: dict[str, Json] = {
                name: tuple(value) if isinstance(value, list) else value for name, value in record["where"].items()
            }
            return cls(**{**record, "where": Where(**where)})
        except (KeyError, TypeError, AttributeError) as error:
            raise SweepError(
                "sweep.json does not name what to measure", fix=f"name the experiment and {options.VARY} again"
            ) from error


def from_file(path: Path) -> dict[str, Json]:
    """Return the contents of a TOML file: ``[sweep]`` with fields of `Spec`, its table ``vary``, and the options of `Where`.

    An experiment in a file of that folder is found wherever the command was started. Raises SlownetError, with the line of
    what is wrong.
    """
    try:
        text = userfile.read_text(path)
        tables = userfile.toml(text)
    except (OSError, ValueError) as error:
        raise SweepError(
            f"{path} cannot be read: {userfile.reason(error)}", fix="give a TOML file with a table [sweep]"
        ) from error
    table = tables.get(TABLE)
    if not isinstance(table, dict) or "experiment" not in table:
        raise SweepError(f"{path} describes no sweep", fix='write [sweep] and experiment = "client_delay"')
    source = Source(path, text)
    for name in (each for each in tables if each != TABLE):
        source.fail(
            f"unknown {'table' if isinstance(tables[name], dict) else 'key'} '{name}'",
            (name,),
            f"write [{TABLE}.vary]" if name == "vary" else f"put it below [{TABLE}]",
        )
    kinds = {"experiment": str, "vary": dict, "out": str, **_kinds(SweepOptions, OF_CELLS), **_kinds(Where, PLACED)}
    source.known(table, kinds, (TABLE,))
    for name, value in table.items():
        if not isinstance(value, kinds[name]) or (isinstance(value, bool) and kinds[name] is int):
            source.fail(f"{name} is {value!r:.60}", (TABLE, name), f"write {_kind(kinds[name])}")
    for name, values in table.get("vary", {}).items():
        keys = (TABLE, "vary", name)
        if not all(isinstance(each, str) for each in ([values] if not isinstance(values, list) else values or [None])):
            source.fail(f"{name} is {values!r:.60}", keys, 'write a text, "0,10,40ms", or a list of texts, ["0ms", "10ms"]')
        source.tried(lambda: tried(name, factors.of_mapping({name: values})[name], str(VARY)), keys)  # noqa: B023  # called at once
    experiment = path.parent / table["experiment"]
    return {**table, **({"experiment": str(experiment)} if experiment.suffix and experiment.is_file() else {})}


def is_file(name: str) -> bool:
    """Return whether a command's argument is a file that describes a sweep, and not a hypothesis file."""
    if not name.endswith(".toml") or not Path(name).is_file():
        return False
    try:
        return TABLE in userfile.toml(userfile.read_text(name))
    except (OSError, ValueError):
        return False


def _kinds(cls: type, names: Sequence[str]) -> dict[str, type]:
    """Return the type that each of these options has in a file."""
    hints = get_type_hints(cls)
    found = {name: next(each for each in (*get_args(hints[name]), hints[name]) if each is not NoneType) for name in names}
    return {name: list if hints[name] == tuple[str, ...] else kind for name, kind in found.items()}


def _kind(kind: Any) -> str:
    return {str: "a text", int: "a whole number", bool: "true or false", list: "a list of texts", dict: "a table"}[kind]
