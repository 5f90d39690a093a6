"""What of a compose file is ignored or refused, by the tables of `slownet.containers.compose.fields`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import starmap
from typing import Any

from slownet.containers.compose.document import Map, Place
from slownet.containers.compose.fields import ANY, DONE, LEVELS, Field


@dataclass(frozen=True)
class Finding:
    """A field of a file that is ignored or refused."""

    label: str
    """What it is: ``deploy.resources``, ``networks.attachable``."""
    owner: str
    """Whose: a service's or network's name; empty at the top."""
    field: Field
    place: Place

    def __str__(self) -> str:
        of = f" of {self.owner}" if self.owner else ""
        return f"{self.label}{of}, {self.place}: {self.field.note}"


def together(found: Iterable[Finding]) -> str:
    """Return findings on one line: ``restart (web, db): why; labels (web): why``."""
    owners: dict[str, dict[str, dict[str, None]]] = {}
    for each in found:
        owners.setdefault(each.field.note, {}).setdefault(each.label, {})[each.owner] = None
    return "; ".join(f"{', '.join(starmap(_owned, labels.items()))}: {note}" for note, labels in owners.items())


def _owned(label: str, owners: Iterable[str]) -> str:
    names = ", ".join(filter(None, owners))
    return f"{label} ({names})" if names else label


def of(tree: Any, level: str, owner: str = "", prefix: str = "") -> Iterator[Finding]:
    """Yield what is ignored or refused of a mapping, and of what is in it. level: its path in `LEVELS`."""
    table = LEVELS[level].fields
    for key, value in tree.items():
        field = table.get(key) or (None if key.startswith("x-") else table.get(ANY))
        if field is None or field.says_nothing(value, tree):
            continue
        label, path = f"{prefix}{key}", f"{level}.{key}"  # at the top no path of a level: those are asked for by their names
        if field.status != DONE:
            yield Finding(label, owner, field, tree.keys_at[key])
            continue
        for inner in _mappings(value) if f"{path}.{ANY}" in LEVELS else ():
            yield from of(inner, f"{path}.{ANY}", owner, f"{label}.")
        if path in LEVELS and isinstance(value, Map):
            yield from of(value, path, owner, f"{label}.")


def _mappings(value: Any) -> list[Map]:
    found = value.values() if isinstance(value, Map) else value if isinstance(value, list) else ()
    return [each for each in found if isinstance(each, Map)]
