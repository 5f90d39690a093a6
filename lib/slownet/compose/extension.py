"""The extension ``x-slownet`` of a project: names and links of its hosts, and the faults that break them, at their times."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from slownet.compose.document import Items, Map, Place
from slownet.compose.model import CLIENT, SWITCH, Project, Service, Step
from slownet.links.conditions import other_names, profiles
from slownet.links.conditions.link import WORDS, Condition
from slownet.links.faults import Fault, Faults, ServiceFault
from slownet.model.errors import ComposeError, ConditionError, SlownetError

FAULTS = "faults"
"""The field of the topmost ``x-slownet``, beside those of the client's link."""
HOW = 'write steps by their times, such as {5s: kill db, 8s: start db}, or a list such as ["kill db at 5 s"]'


def stated(tree: Map, key: str) -> list[Step]:
    """Return the steps that a file states, in the order of their times. Raises ComposeError with line and column."""
    extension = tree.get(key)
    if not isinstance(extension, Map) or extension.get(FAULTS) is None:
        return []
    read = [
        (step, place) for words, place in _texts(extension[FAULTS], extension.values_at[FAULTS]) for step in _read(words, place)
    ]
    ordered = sorted(read, key=lambda each: each[0].at)
    return [Step(str(step), str(place)) for step, place in ordered]


def check(project: Project, faults: Faults | None = None) -> None:
    """Check that each step names what a project has, and changes something.

    faults: others than the project's own. Raises ComposeError with line and column for its own, ConditionError for others.
    """
    own = faults is None
    chosen = project.faults if faults is None else faults
    names = {each.name: each.name for each in project.services}
    for number, step in enumerate(chosen.steps):
        where = project.steps[number].at if own else f"the step '{step}'"
        kind = ComposeError if own else ConditionError
        if isinstance(step.action, ServiceFault) and (step.action.is_of_disk or step.action.verb == "crash"):
            what = f"'{step.action}', but a container has no disk of its own"
            raise kind(what, where, "kill, pause or cut it")
        try:
            Faults(chosen.steps[: number + 1]).check(project.hosts, names)
        except ConditionError as error:
            raise kind(error.what, where, error.fix) from error


def _texts(given: Any, place: Place) -> Iterator[tuple[str, Place]]:
    """Yield the words of steps, as a line, with their places. Raises ComposeError."""
    if isinstance(given, Map):
        for at, steps in given.items():
            listed = steps if isinstance(steps, Items) else [steps]
            places = steps.at if isinstance(steps, Items) else [given.keys_at[at]]
            for each, where in zip(listed, places, strict=True):
                yield f"{_text_of_faults(each, where)} at {at}", where
    elif isinstance(given, Items):
        for each, where in zip(given, given.at, strict=True):
            yield from _texts(each, where) if isinstance(each, Map) else [(_text_of_faults(each, where), where)]
    else:
        raise ComposeError("faults are neither a mapping nor a list", str(place), HOW)


def _text_of_faults(value: Any, place: Place) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ComposeError("a step of the faults is not a text", str(place), HOW)
    return value


def _read(words: str, place: Place) -> Sequence[Fault]:
    try:
        return Faults.parse(words).steps
    except SlownetError as error:
        raise ComposeError(error.what, str(place), error.fix) from error


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
