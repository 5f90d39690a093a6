"""Arguments of services, read when a service is made, so that a mistake is one line before anything starts."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any

from slownet.model.errors import ExperimentError, ServiceError
from slownet.net.process import Host, no_host

LAST_PORT = 65535


def words(given: Any, where: str, what: str, example: str) -> tuple[str, ...]:
    """Return a sequence of texts as a tuple, with numbers as texts.

    A text alone is refused, because it is a sequence of its letters. Raises ServiceError.
    """
    fix = f"write {example}"
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise ServiceError(f"{what} is {_shown(given)} instead of a list of texts", where, fix)
    found = tuple(given)
    for each in found:
        if isinstance(each, bool) or not isinstance(each, str | Real | os.PathLike):
            raise ServiceError(f"{what} has {_shown(each)} instead of a text", where, fix)
    return tuple(map(str, found))


def command(given: Any, where: str) -> tuple[str, ...]:
    """Return a program and its arguments, from a list or from a text like a shell's command line. Raises ServiceError."""
    if not isinstance(given, str):
        return words(given, where, "the program", '["python3", "shop.py"]')
    try:
        return tuple(shlex.split(given))
    except ValueError as error:
        fix = 'close the quotation, or give a list: ["python3", "shop.py"]'
        raise ServiceError(f"{str(error).lower()} in {given!r}", where, fix) from None


def mapping(given: Any, where: str, what: str, example: str) -> dict[str, str]:
    """Return a mapping of texts to texts or numbers, which become texts; none given is empty. Raises ServiceError."""
    fix = f"write {example}"
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ServiceError(f"{what} is {_shown(given)} instead of a mapping", where, fix)
    for name, value in given.items():
        if not isinstance(name, str):
            raise ServiceError(f"{what} has {_shown(name)} instead of a name", where, fix)
        if isinstance(value, bool) or not isinstance(value, str | Real | os.PathLike):
            raise ServiceError(f"{what} has {_shown(value)} as '{name}', instead of a text", where, fix)
    return {name: str(value) for name, value in given.items()}


def host(net: Any, name: Any, where: str, option: str = "on") -> Host:
    """Return a host of a network, by its name or itself; option: the argument that names it. Raises ServiceError."""
    example = f'{where}(net, {option}="web")'
    if isinstance(net, str | bytes) or not hasattr(net, "__getitem__"):
        raise ServiceError(f"{_shown(net)} is not a network", where, f"give the network, and the host's name: {example}")
    if not no_host(name):
        name = name.name
    try:
        found: Host = net[name]
    except ExperimentError as error:
        raise ServiceError(error.what, where, f"{error.fix}, and name it: {example}") from None
    return found


def whole(given: Any, where: str, what: str, unit: str, example: int) -> int:
    """Return a whole number that is not negative. Raises ServiceError."""
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise ServiceError(f"{what} is {_shown(given)}", where, f"give whole {unit} as a number: {what}={example}")
    return given


def folder(given: Any, where: str, what: str) -> Path | None:
    """Return the path of a folder, or None if none is given. Raises ServiceError."""
    if given is None or isinstance(given, str | os.PathLike):
        return Path(given) if given else None
    raise ServiceError(f"{what} is {_shown(given)}", where, f'give the path of a folder: {what}="..."')


def port(given: Any, where: str) -> int:
    """Return a TCP port, from a number or its digits. Raises ServiceError."""
    if isinstance(given, str) and given.isascii() and given.isdecimal():
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, int) or not 0 < given <= LAST_PORT:
        raise ServiceError(f"{_shown(given)} is not a port", where, f"give a number from 1 to {LAST_PORT}: port=8000")
    return given


def seconds(given: Any, where: str, what: str) -> float:
    """Return a number of seconds that is not negative. Raises ServiceError."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not given >= 0:
        raise ServiceError(f"{what} is {_shown(given)}", where, f"give seconds as a number: {what}=60")
    return float(given)


def _shown(given: Any) -> str:
    return repr(given) if isinstance(given, str | bytes | int | float | None) else f"a {type(given).__name__}"
