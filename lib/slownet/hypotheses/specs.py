"""Parses topologies, conditions and links on the command line: `star,5`, `mine.py:lan`, `client-switch=rtt=10ms`."""

from __future__ import annotations

import contextlib
import inspect
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mininet.topo import Topo
from mininet.util import splitArgs

from slownet import topologies
from slownet.links.conditions import profiles as conditions
from slownet.links.conditions.link import Condition
from slownet.model import importing
from slownet.model.errors import ConditionError, ExperimentError, SlownetError, nearest
from slownet.model.options import Option

OF_TOPO = ("hopts", "sopts", "lopts")
"""Arguments that Topo keeps to itself."""


def topology(text: str, arguments: Sequence[str] = ()) -> Topo:
    """Parse a topology as in `mn --topo`, such as `star,5`, or from a file: `mine.py`, `mine.py:lan,3`.

    The file is one for `mn --custom`: it has a dictionary `topos`, or a single class of Topo. arguments: those that it reads
    from sys.argv. Raises ExperimentError.
    """
    name, args, kwargs = splitArgs(text)
    path, _, which = name.partition(":")
    make = _of_file(Path(path), which, arguments) if path.endswith(".py") else topologies.find(name)
    if arguments and not path.endswith(".py"):
        raise ExperimentError(f"{text} is not a file, and takes no arguments", fix=f"leave out {' '.join(arguments)}")
    with importing.called(Path(path)) if path.endswith(".py") else contextlib.nullcontext():
        try:
            _fit(text, make, args, kwargs)
            return make(*args, **kwargs)
        except SlownetError:
            raise
        except Exception as error:
            if importing.place_of(error):
                raise
            raise ExperimentError(f"{text} cannot be built: {error}") from error


def _fit(text: str, make: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Raise ExperimentError if a class of topologies does not take these arguments, which Topo passes on to `build`."""
    is_topo = isinstance(make, type) and issubclass(make, Topo)
    if not is_topo or make.__init__ is not Topo.__init__:
        return
    whole = inspect.signature(make.build)
    parameters, name = list(whole.parameters.values())[1:], text.partition(",")[0]
    try:
        own = {key: value for key, value in kwargs.items() if key not in OF_TOPO}
        given = whole.bind(None, *args, **own).arguments
    except TypeError:
        takes = ", ".join(map(str, parameters)) or "no arguments"
        raise ExperimentError(f"{text} cannot be built: {name} takes {takes}", fix=_example(name, parameters)) from None
    for each in parameters:
        value = given.get(each.name)
        if each.annotation in (int, "int") and not isinstance(value, int | None):
            what = f"{text} cannot be built: {each.name} is {value!r}"
            raise ExperimentError(what, fix=f"{_example(name, parameters)}, with a whole number")


def _example(name: str, parameters: Sequence[inspect.Parameter]) -> str:
    numbers = [str(each.default) for each in parameters if isinstance(each.default, int)]
    return f"write {','.join([name, *numbers])}"


def _of_file(path: Path, which: str, arguments: Sequence[str]) -> Any:
    module = importing.file(path, f"name a topology ({', '.join(topologies.known())}) or a Python file", arguments)
    own = {
        name: each
        for name, each in vars(module).items()
        if isinstance(each, type) and issubclass(each, Topo) and each.__module__ == module.__name__
    }
    found: Mapping[str, object] = getattr(module, "topos", own)
    if which:
        if which not in found:
            raise ExperimentError(f"no topology '{which}' in {path}", fix=nearest(which, found))
        return found[which]
    if len(found) != 1:
        some = f", such as {path}:{next(iter(found))}" if found else ""
        fix = f"name one{some}" if some else "write one into the file"
        raise ExperimentError(f"{path} contains {len(found)} topologies", fix=fix)
    return next(iter(found.values()))


def condition(words: Sequence[str]) -> Condition:
    """Parse a condition: fields such as `rtt=10ms loss=1%`; a name such as `LTE` may come first.

    Raises ConditionError, UnitError.
    """
    base, given = fields(words)
    return (base or Condition()).but(**given)


def fields(words: Sequence[str]) -> tuple[Condition | None, dict[str, str]]:
    """Parse a condition's words into the named one that comes first, if any, and fields. Raises ConditionError."""
    base = None
    found: dict[str, str] = {}
    for number, word in enumerate(words):
        name, equals, value = word.partition("=")
        if equals and value:
            found[name] = value
        elif number == 0 and not equals:
            base = conditions.find(word)
        else:
            raise ConditionError(f"unclear field '{word}'", fix="write NAME=VALUE such as rtt=10ms, or 'NAME=TWO WORDS'")
    return base, found


def link(text: str, of: Topo) -> tuple[str, str, list[str]]:
    """Parse `client-switch=rtt=10ms,loss=1%` or `client-switch=LTE` into the link's two ends and words for `condition`.

    Raises ExperimentError, ConditionError, UnitError.
    """
    name, equals, fields = text.partition("=")
    links = {f"{first}-{second}": (first, second) for each in of.links() for first, second in (each, each[::-1])}
    if not equals or not fields:
        raise ExperimentError(f"unclear link '{text}'", where=Option("link"), fix="write A-B=rtt=10ms,loss=1% or A-B=LTE")
    if name not in links:
        raise ExperimentError(f"no link '{name}'", where=Option("link"), fix=nearest(name, links))
    words = fields.split(",")
    condition(words)
    return *links[name], words


def links(texts: Iterable[str], of: Topo) -> list[tuple[str, str, list[str]]]:
    """Parse several, each of another link. Raises ExperimentError, ConditionError, UnitError."""
    found = [link(text, of) for text in texts]
    ends = [frozenset(each[:2]) for each in found]
    for first, second, _ in found:
        if ends.count(frozenset((first, second))) > 1:
            what = f"the link '{first}-{second}' is given twice"
            raise ExperimentError(what, where=Option("link"), fix="write its condition once: A-B=rtt=10ms,loss=1%")
    return found


def words(line: str) -> list[str]:
    """Split a line into words, with quotes as in a shell. Raises ExperimentError."""
    try:
        return shlex.split(line)
    except ValueError as error:
        raise ExperimentError(f"unclear line: {error}", fix="quote as in a shell") from error
