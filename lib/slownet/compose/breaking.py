"""The faults of a project and their times, from its ``x-slownet``, in the syntax of `slownet.links.faults`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from slownet.compose.document import Items, Map, Place
from slownet.compose.model import Project, Step
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
                yield f"{_text(each, where)} at {at}", where
    elif isinstance(given, Items):
        for each, where in zip(given, given.at, strict=True):
            yield from _texts(each, where) if isinstance(each, Map) else [(_text(each, where), where)]
    else:
        raise ComposeError("faults are neither a mapping nor a list", str(place), HOW)


def _text(value: Any, place: Place) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ComposeError("a step of the faults is not a text", str(place), HOW)
    return value


def _read(words: str, place: Place) -> Sequence[Fault]:
    try:
        return Faults.parse(words).steps
    except SlownetError as error:
        raise ComposeError(error.what, str(place), error.fix) from error
