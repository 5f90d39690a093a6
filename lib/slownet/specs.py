"""Topologies and links as a person names them on a command line: `star,5`, `mine.py:lan`, `client-switch=rtt=10ms`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mininet.topo import Topo
from mininet.util import splitArgs

from slownet import importing, topologies
from slownet.conditions import profiles as conditions
from slownet.conditions.link import Condition
from slownet.errors import ConditionError, ExperimentError, SlownetError, nearest


def topology(text: str) -> Topo:
    """A topology, as `mn --topo` would be told: `star,5`; or one of a file's, `mine.py`, `mine.py:lan,3`.

    A file is one for `mn --custom`: its `topos`, or its only class of Topo. Raises ExperimentError.
    """
    name, args, kwargs = splitArgs(text)
    path, _, which = name.partition(":")
    make = _of_file(Path(path), which) if path.endswith(".py") else topologies.find(name)
    try:
        return make(*args, **kwargs)
    except SlownetError:
        raise
    except Exception as error:
        raise ExperimentError(f"{text} cannot be built: {error}") from error


def _of_file(path: Path, which: str) -> Any:
    module = importing.file(path, f"name a topology ({', '.join(topologies.known())}) or a Python file")
    own = {
        name: each
        for name, each in vars(module).items()
        if isinstance(each, type) and issubclass(each, Topo) and each.__module__ == module.__name__
    }
    found: Mapping[str, Any] = getattr(module, "topos", own)
    if which:
        if which not in found:
            raise ExperimentError(f"no topology '{which}' in {path}", fix=nearest(which, found))
        return found[which]
    if len(found) != 1:
        some = f", such as {path}:{next(iter(found))}" if found else ""
        raise ExperimentError(f"{path} holds {len(found)} topologies", fix=f"name one{some}" if some else "a file holds one")
    return next(iter(found.values()))


def condition(words: Sequence[str]) -> Condition:
    """A condition from words: first perhaps a name: `LTE`, `rtt=10ms loss=1%`. Raises ConditionError, UnitError."""
    base = Condition()
    fields: dict[str, str] = {}
    for number, word in enumerate(words):
        name, equals, value = word.partition("=")
        if equals and value:
            fields[name] = value
        elif number == 0 and not equals:
            base = conditions.find(word)
        else:
            raise ConditionError(f"unclear field '{word}'", fix="write NAME=VALUE such as rtt=10ms, or 'NAME=TWO WORDS'")
    return base.but(**fields)


def link(text: str, of: Topo) -> tuple[str, str, list[str]]:
    """A link and words for `condition`, from `client-switch=rtt=10ms,loss=1%` or `client-switch=LTE`.

    Raises ExperimentError, ConditionError, UnitError.
    """
    name, equals, told = text.partition("=")
    links = {f"{first}-{second}": (first, second) for each in of.links() for first, second in (each, each[::-1])}
    if not equals or not told:
        raise ExperimentError(f"unclear link '{text}'", where="--link", fix="write A-B=rtt=10ms,loss=1% or A-B=LTE")
    if name not in links:
        raise ExperimentError(f"no link '{name}'", where="--link", fix=nearest(name, links))
    words = told.split(",")
    condition(words)
    return *links[name], words


def words(line: str) -> list[str]:
    """A line's words, quoted as in a shell. Raises ExperimentError."""
    try:
        return shlex.split(line)
    except ValueError as error:
        raise ExperimentError(f"unclear line: {error}", fix="quote as in a shell") from error
