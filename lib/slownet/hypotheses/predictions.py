"""The predictions of a hypothesis file: claims written as tables, some with a number left open.

A claim that is composed of others contains them as tables::

    [[prediction]]
    claim = "all_of"                          # or "any_of", or "not" with one
    claims = [
        { claim = "bound", metric = "time_per_request_ms", at_most = "300ms" },
        { claim = "grows", metric = "time_per_request_ms" },
    ]
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from slownet.hypotheses.source import Keys, Source, Table
from slownet.judge import claim as claims
from slownet.judge.claim.description import described, shown
from slownet.model.errors import ExperimentError, SlownetError, nearest
from slownet.model.extensions import Register
from slownet.model.options import BLIND
from slownet.model.shapes import Json

OPEN = "?"
KINDS = Register("claims", {name: each for name, each in claims.OWN.items() if each.in_files})
"""The kinds whose fields are texts, numbers and tables."""
COMPOSED: Mapping[str, type[Any]] = {"all_of": claims.all_of, "any_of": claims.any_of, "not": claims.not_}
CLAIM, SAYS, PARTS = "claim", "says", "claims"
FIXED = "within"
"""The margin is not a prediction and cannot be left open."""
_TYPES: tuple[tuple[set[object], tuple[type, ...], str], ...] = (
    ({Mapping}, (dict,), 'a table such as { rtt = "10ms" }'),
    ({tuple}, (list,), 'a list such as ["10ms", "40ms"]'),
    ({bool}, (bool,), "true or false"),
    ({float, str}, (int, float, str), 'a number, or a text such as "300ms"'),
    ({float}, (int, float), f'a number, or "{OPEN}" to let the reader predict it'),
    ({str}, (str,), "a text in quotes"),
    ({Literal}, (str,), "a text in quotes"),
)
"""The type of a claim's field, or those among its alternatives, the Python types of the TOML values, and how to write them."""


@dataclass(frozen=True)
class Prediction:
    """One [[prediction]] of a file."""

    kind: str
    fields: Table
    says: str = ""

    @property
    def open(self) -> tuple[str, ...]:
        """The fields that are left to be predicted."""
        return tuple(name for name, value in self.fields.items() if value == OPEN)

    @property
    def text(self) -> str:
        """The prediction as text: its ``says``, or else its fields."""
        return self.says or _in_words(self.kind, self.fields)

    def filled(self, values: Mapping[str, float]) -> Prediction:
        """Return the prediction with numbers for its open fields."""
        return dataclasses.replace(self, fields={**self.fields, **values})

    @property
    def blank(self) -> Prediction:
        """The prediction with placeholder numbers in its open fields: a range is as wide as possible, others are 1."""
        if not self.open:
            return self
        has_range = any(each.name == "at_most" for each in dataclasses.fields(KINDS[self.kind]))
        wide = {"at_least": 0.0, "at_most": 1e9} if has_range else {}
        return self.filled({name: wide.get(name, 1.0) for name in self.open})

    def claim(self) -> claims.Claim:
        """Return the claim. Raises ExperimentError while a field is open."""
        if self.open:
            raise ExperimentError(
                f"{self.open[0]} is left to be predicted",
                self.text.removesuffix(":"),
                f"write a number, or run it with {BLIND}",
            )
        return _made(self.kind, self.fields)


def read(source: Source, found: Any) -> Iterable[Prediction]:
    """Read the predictions of a file. Raises ExperimentError with line and column."""
    if not isinstance(found, list) or not found:
        source.fail("there is no prediction", ("prediction",), "write a [[prediction]]")
    for number, table in enumerate(found):
        where: Keys = ("prediction", number)
        kind, fields = _fields(source, table, where)
        yield Prediction(kind, fields, table.get(SAYS, ""))


def _sensible(source: Source, kind: str, fields: Table, where: Keys) -> None:
    """Check that a claim can be made of the fields. Raises ExperimentError with the place of the wrong field."""
    try:
        Prediction(kind, fields).blank.claim()
    except SlownetError as error:
        field = getattr(error, "field", "")
        source.fail(error.what, (*where, field) if field else where, error.fix)


def _fields(source: Source, table: Any, where: Keys) -> tuple[str, dict[str, Json]]:
    """Check a claim that is written as a table, and return its kind and fields."""
    if not isinstance(table, dict):
        source.fail("a claim must be a table", where, 'write it as { claim = "bound", ... }')
    kind = table.get(CLAIM, "")
    for name in (CLAIM, SAYS):
        if not isinstance(table.get(name, ""), str):
            source.fail(f"{name} is {table[name]!r}", (*where, name), "write a text in quotes")
    if kind in COMPOSED:
        return kind, {PARTS: _parts(source, kind, table, where)}
    if kind not in KINDS:
        what = f"unknown kind of claim '{kind}'" if kind else "a prediction needs a claim"
        source.fail(what, (*where, CLAIM), nearest(str(kind), (*KINDS, *COMPOSED)))
    fields, hints = {each.name: each for each in dataclasses.fields(KINDS[kind])}, _hints(source, kind, (*where, CLAIM))
    source.known(table, (CLAIM, SAYS, *fields), where)
    for name, each in fields.items():
        needed = each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
        if needed and name not in table:
            source.fail(f"{kind} needs {name}", (*where, CLAIM), f"write {name} = ...")
        if name in table:
            _typed(source, name, table[name], hints[name], (*where, name))
    given = {name: table[name] for name in fields if name in table}
    _sensible(source, kind, given, where)
    return kind, given


def _hints(source: Source, kind: str, where: Keys) -> dict[str, Any]:
    try:
        return get_type_hints(KINDS[kind])
    except NameError as error:  # of another package's claim, whose module imports a type for type checkers alone
        source.fail(f"{kind} has a field of an unknown type: {error}", where, "import the type outside of TYPE_CHECKING")


def _parts(source: Source, kind: str, table: Table, where: Keys) -> list[dict[str, Json]]:
    """Check the claims that another one is composed of, and return them as tables."""
    source.known(table, (CLAIM, SAYS, PARTS), where)
    inner = table.get(PARTS)
    if not isinstance(inner, list) or not inner:
        source.fail(f"{kind} needs {PARTS}", (*where, CLAIM), f'write {PARTS} = [{{ claim = "bound", ... }}]')
    if kind == "not" and len(inner) > 1:
        source.fail(f"not takes one claim, here are {len(inner)}", (*where, PARTS), "put them into an all_of or any_of")
    found = []
    for number, each in enumerate(inner):
        at: Keys = (*where, PARTS, number)
        name, fields = _fields(source, each, at)
        for field, value in fields.items():
            if value == OPEN:
                source.fail(f"{field} is left to be predicted", (*at, field), f"write a number within {kind}")
        found.append({CLAIM: name, **fields})
    return found


def _typed(source: Source, name: str, value: Any, hint: Any, where: Keys) -> None:
    """Check that a value has the type of its field. Raises ExperimentError with its place."""
    alternatives = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    plain = {get_origin(each) or each for each in alternatives}
    for declared, types, written in _TYPES:
        if declared <= plain:
            number = types == (int, float)
            good = value == OPEN if number and isinstance(value, str) else isinstance(value, types)
            if name == FIXED and value == OPEN:
                source.fail(f"{name} is left to be predicted", where, "write the margin as a fraction, such as 0.05 for 5 %")
            if not good or (isinstance(value, bool) and bool not in types):
                written = "a fraction, such as 0.05 for 5 %" if name == FIXED else written
                source.fail(f"{name} is {shown(value)!r}", where, f"write {written}")
            return


def _made(kind: str, fields: Table) -> claims.Claim:
    made: claims.Claim
    if kind in COMPOSED:
        made = COMPOSED[kind](*(_made(each[CLAIM], _without(each, CLAIM)) for each in fields[PARTS]))
    else:
        made = KINDS[kind](**{name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()})
    return made


def _without(table: Table, name: str) -> dict[str, Json]:
    return {each: value for each, value in table.items() if each != name}


def _in_words(kind: str, fields: Table) -> str:
    if kind in COMPOSED:
        return f"{kind}: " + "; ".join(_in_words(each[CLAIM], _without(each, CLAIM)) for each in fields[PARTS])
    return described(kind, fields)
