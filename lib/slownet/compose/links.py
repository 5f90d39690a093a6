"""Names and links of a project's hosts: ``x-slownet``, and names that two hosts cannot share."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from slownet.compose.breaking import FAULTS
from slownet.compose.document import Map
from slownet.compose.model import CLIENT, SWITCH, Service
from slownet.links.conditions import other_names, profiles
from slownet.links.conditions.link import WORDS, Condition
from slownet.model.errors import ComposeError, SlownetError

ABOVE = "write it in the x-slownet at the top of the file"
NAMED = "condition"
"""The field of ``x-slownet`` that names a condition such as LTE, which the other fields change."""


def condition(tree: Map, key: str, besides: Sequence[str] = ()) -> dict[str, str]:
    """Return the condition that a field states: a name (``LTE``), or fields with their values. Raises ComposeError.

    besides: fields that may stand there, too, and do not belong to a condition.
    """
    value = tree.get(key)
    if value is None:
        return {}
    if not isinstance(value, Map):
        fields: dict[str, object] = {NAMED: value}
        places = {NAMED: tree.values_at[key]}
    else:
        fields, places = {name: each for name, each in value.items() if name not in besides}, value.keys_at
    for name, each in fields.items():
        if name != NAMED and name not in WORDS:
            fix = ABOVE if name == FAULTS else other_names.field(name, [*WORDS, NAMED])
            raise ComposeError(f"a condition has no field '{name}'", str(places[name]), fix)
        _tried({name: _text(each)}, str(places[name]))
    found = {name: _text(each) for name, each in fields.items()}
    if len(found) > 1:
        _tried(found, str(tree.keys_at[key]))
    return found


def parse(fields: Mapping[str, str]) -> Condition:
    """Return the condition of such fields. Raises UnitError, ConditionError."""
    rest = {name: each for name, each in fields.items() if name != NAMED}
    base = profiles.find(fields[NAMED]) if NAMED in fields else Condition()
    return base.but(**rest)


def _text(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def _tried(fields: Mapping[str, str], where: str) -> None:
    whole = len(fields) > 1 or NAMED in fields
    try:
        if whole:
            parse(fields)
        else:
            ((name, text),) = fields.items()
            next(word for word in WORDS[name].stated if word.name == name).read(text)
    except SlownetError as error:
        raise ComposeError(error.what, where, error.fix) from error


def apart(services: Sequence[Service]) -> Iterator[str]:
    """Yield a line if the networks keep some services apart: in a lab that holds for names alone."""
    own = [each for each in services if not each.shares]
    for one, other in itertools.combinations(own, 2):
        if not set(one.networks) & set(other.networks):
            what = f"{one.origin} and {other.origin} share no network"
            yield f"{other.at}: {what}: they do not know each other's names, but their addresses are not kept apart"
            return


def check_names(services: Mapping[str, Service]) -> None:
    """Raise ComposeError if a service has the name of one of slownet's own hosts; services may share an alias."""
    for name in (CLIENT, SWITCH):
        if name in services:
            what = f"a service is called '{name}'" + (", as the host that measures" if name == CLIENT else "")
            raise ComposeError(what, services[name].at, "give the service another name; its aliases may stay")
    for service in services.values():
        if any(CLIENT in aliases for aliases in service.networks.values()):
            raise ComposeError(
                f"{service.name} has the alias '{CLIENT}', as the host that measures", service.at, "give it another name"
            )
