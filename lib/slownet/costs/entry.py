"""Entries of the catalogue, from their TOML files: a program, its server, what is done, and how many round trips that costs."""

from __future__ import annotations

import math
import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slownet.model import userfile
from slownet.model.errors import ExperimentError, nearest

GROUPS = {
    "new": "new connection", "first": "first", "next": "next", "batch": "batch", "whole": "whole program", "end": "end",
}  # fmt: skip
"""The places of an operation among those of its program, in the order of a page."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
PLACE = re.compile(r"\{(?!version\})\w+\}")
"""A word in braces that is not ``{version}``."""
VERSION = re.compile(r"[0-9A-Za-z][\w.+!-]*")
"""One version of a package: a range would be fetched once, and its number would be that of a version without a name."""
TIMES = re.compile(r"(\d+) x ")
"""The beginning of a description that stands for several round trips."""


def order(version: str) -> list[int]:
    """Return what sorts versions by their numbers."""
    return [int(each) for each in re.findall(r"\d+", version)]


@dataclass(frozen=True)
class Operation:
    """One thing that a program does.

    name: as the client program, or the entry, names it.
    group: one of `GROUPS`.
    trips: round trips that theory expects.
    each: what each of them is; ``"20 x index page"`` stands for twenty.
    run, before: shell commands: what is timed, and what is done before, untimed; empty if the client program times it.
    cure, cured: the setting or call that changes the number, and the operation that does it so; either may be empty.
    note: what else explains the number.
    guess: what an engineer would guess, if that differs.
    earlier: the number in other versions.
    """

    name: str
    group: str
    trips: float
    each: tuple[str, ...] = ()
    run: str = ""
    before: str = ""
    cure: str = ""
    cured: str = ""
    note: str = ""
    guess: float | None = None
    earlier: Mapping[str, float] = field(default_factory=dict)

    def expected(self, version: str) -> float:
        """Return the round trips that are expected of a version: those of the newest earlier one that is not newer."""
        if version in self.earlier:
            return self.earlier[version]
        known = sorted(self.earlier, key=order)
        if not version or not known or order(version) > order(known[-1]):
            return self.trips
        return self.earlier[max((each for each in known if order(each) <= order(version)), key=order, default=known[0])]

    def nearest(self, version: str, newest: str, trips: float) -> float:
        """Return the round trips that are expected of a version, by those that it has.

        A version between two that are known may already have the number of the later one. newest: the version of `trips`.
        """
        numbers = {**self.earlier, newest: self.trips}
        if not newest or not version or version in numbers:
            return self.expected(version)
        known = sorted(numbers, key=order)
        place = bisect_right(known, order(version), key=order)
        beside = known[max(0, place - 1) : place + 1]
        return min((numbers[each] for each in beside), key=lambda each: abs(each - trips))


@dataclass(frozen=True)
class Entry:
    """A program and its operations, which share one session of it.

    name: its file's name: what the command line and `--expect` call it.
    program, ecosystem, server: its name; one of `ECOSYSTEMS`, which decides where its packages are from; the file name of its
        server.
    version: of its package; empty for what the lab's distribution decides.
    packages, debian: packages of its ecosystem, where ``{version}`` stands for the version, and Debian packages that the lab
        needs.
    code: the client program; empty if each operation is a command, which finds the packages in ``$PACKAGES``.
    operations: in their order.
    versions: further versions that are measured with it.
    source: where the theory is from.
    file: where it is.
    """

    name: str
    program: str
    ecosystem: str
    server: str
    version: str
    packages: tuple[str, ...]
    debian: tuple[str, ...]
    code: str
    operations: tuple[Operation, ...]
    versions: tuple[str, ...]
    source: str
    file: Path

    def needs(self, version: str) -> tuple[str, ...]:
        """Return the packages of its ecosystem for a version."""
        return tuple(each.replace("{version}", version) for each in self.packages)

    def operation(self, name: str) -> Operation:
        """Return an operation by its name. Raises ExperimentError."""
        for each in self.operations:
            if each.name == name:
                return each
        raise ExperimentError(
            f"{self.name} has no operation '{name}'", fix=nearest(name, [each.name for each in self.operations])
        )


@dataclass(frozen=True)
class Server:
    """A server that entries share.

    name: its file's name.
    debian: Debian packages that it needs besides the lab's.
    ecosystem: one of `ECOSYSTEMS`, whose `packages` it needs too; empty without them.
    packages: with their versions; the commands find their folder in ``$PACKAGES``.
    code: a program that is compiled with them, of one of `COMPILED`; the commands find it as ``$PROGRAM``.
    service: one of slownet's own services; empty for a program.
    options: of that service.
    prepare, run: shell commands: what is done before the start, and the server, which stays in the foreground. ``$STATE`` is a
        folder of its own.
    port: the TCP port that it listens on.
    env: variables for its clients, besides ``SERVER``, its address, and ``STATE``.
    settles: seconds to wait once it listens.
    """

    name: str
    debian: tuple[str, ...] = ()
    ecosystem: str = ""
    packages: tuple[str, ...] = ()
    code: str = ""
    service: str = ""
    options: tuple[str, ...] = ()
    prepare: str = ""
    run: str = ""
    port: int = 0
    env: Mapping[str, str] = field(default_factory=dict)
    settles: float = 0.0


ENTRY = {
    "program": str, "ecosystem": str, "server": str, "version": str, "packages": list, "debian": list, "code": str,
    "client": str, "operation": list, "versions": list, "source": str,
}  # fmt: skip
OPERATION = {
    "name": str, "group": str, "trips": (int, float), "each": list, "run": str, "before": str, "cure": str, "cured": str,
    "note": str, "guess": (int, float), "earlier": dict,
}  # fmt: skip
SERVER = {
    "debian": list, "ecosystem": str, "packages": list, "code": str, "service": str, "options": list, "prepare": str,
    "run": str, "port": int, "env": dict, "settles": (int, float),
}  # fmt: skip
KINDS = {str: "a text", list: "a list", dict: "a table", int: "a whole number"}
ECOSYSTEMS = ("python", "node", "go", "java", "rust", "php", "ruby", "perl", "debian")
COMPILED = ("go", "java", "rust")
"""The ecosystems whose programs are compiled on the host."""


def entry(file: Path) -> Entry:
    """Return the entry of a file. Raises ExperimentError."""
    table = _table(file, ENTRY, needed=("program", "ecosystem", "server", "operation"))
    where = str(file)
    _named(file.stem, "an entry", where)
    _known(table["ecosystem"], where)
    _named(table["server"], "a server", where)
    for each in table.get("packages", ()):
        if isinstance(each, str) and (found := PLACE.search(each)):
            raise ExperimentError(f"'{found[0]}' in a package's name is not known", where, "write {version} for the version")
    operations = tuple(_operation(each, where) for each in table["operation"])
    code = table.get("code", "") or (_client(file, table["client"]) if "client" in table else "")
    _agree(operations, code, where)
    return Entry(
        file.stem, table["program"], table["ecosystem"], table["server"], table.get("version", ""),
        _texts(table, "packages", where), _texts(table, "debian", where), code, operations,
        _texts(table, "versions", where), table.get("source", ""), file,
    )  # fmt: skip


def server(file: Path) -> Server:
    """Return the server of a file. Raises ExperimentError."""
    table, where = _table(file, SERVER), str(file)
    if bool(table.get("service")) == bool(table.get("run")):
        raise ExperimentError("a server is either a service or a command", where, "write `service` or `run`")
    if table.get("run") and not table.get("port"):
        raise ExperimentError("a server's command needs the port that it listens on", where, "write `port`")
    if not 0 <= table.get("port", 0) < 2**16:
        raise ExperimentError(f"{table['port']} is not a port", where, "write 1 to 65535")
    if table.get("packages") or table.get("code"):
        _known(table.get("ecosystem", ""), where)
    if table.get("code") and table["ecosystem"] not in COMPILED:
        raise ExperimentError(
            f"a server's `code` is compiled, which {table['ecosystem']} is not", where, f"use {', '.join(COMPILED)}, or `run`"
        )
    lists = {key: _texts(table, key, where) for key in ("debian", "options", "packages")}
    env = {str(key): str(value) for key, value in table.get("env", {}).items()}
    return Server(file.stem, **{**table, **lists, "env": env})


def _named(name: str, what: str, where: str) -> None:
    if not NAME.fullmatch(name):
        raise ExperimentError(f"'{name}' cannot name {what}", where, "use letters, digits, dots and dashes")


def _known(ecosystem: str, where: str) -> None:
    if ecosystem not in ECOSYSTEMS:
        raise ExperimentError(f"unknown ecosystem '{ecosystem}'", where, nearest(ecosystem, ECOSYSTEMS))


def _operation(table: Any, where: str) -> Operation:
    if not isinstance(table, dict):
        raise ExperimentError("an operation is not a table", where, "write [[operation]]")
    within = f"operation {table['name']}, {where}" if table.get("name") else where
    _check(table, OPERATION, within, needed=("name", "group", "trips"))
    named = f"operation {table['name']}, {where}"
    _named(table["name"], "an operation", where)
    for key in ("trips", "guess"):
        _number(table.get(key, 0), f"`{key}`", named)
    if table["group"] not in GROUPS:
        raise ExperimentError(f"unknown group '{table['group']}'", named, nearest(table["group"], GROUPS))
    each = _texts(table, "each", named)
    earlier = {
        version: _number(number, f"`earlier` of {version}", named) for version, number in table.get("earlier", {}).items()
    }
    counted = sum(int(found[1]) if (found := TIMES.match(text)) else 1 for text in each)
    if each and counted != round(table["trips"]):
        raise ExperimentError(
            f"{counted} round trips are described, {table['trips']:g} expected", named, "describe each, or none"
        )
    return Operation(**{**table, "trips": float(table["trips"]), "each": each, "earlier": earlier})


def _agree(operations: Sequence[Operation], code: str, where: str) -> None:
    """Raise ExperimentError if the operations contradict each other, or the client program."""
    names = [each.name for each in operations]
    if not names:
        raise ExperimentError("it has no operations", where, "write [[operation]] with a name for each")
    if twice := next((each for each in names if names.count(each) > 1), None):
        raise ExperimentError(f"two operations are called '{twice}'", where, "give each a name of its own")
    for each in operations:
        if bool(code) == bool(each.run):
            fix = "write either `code`, which times all operations, or `run` for each"
            raise ExperimentError(f"operation {each.name} has {'two ways' if code else 'no way'} to be done", where, fix)
        if each.cured and each.cured not in names:
            raise ExperimentError(
                f"unknown operation '{each.cured}'", f"`cured` of {each.name}, {where}", nearest(each.cured, names)
            )


def _client(file: Path, name: str) -> str:
    path = userfile.beside(file.parent, name, str(file))
    try:
        return userfile.read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ExperimentError(f"cannot read {path} ({userfile.reason(error)})", str(file), "correct `client`") from error


def _table(file: Path, keys: Mapping[str, Any], needed: Sequence[str] = ()) -> dict[str, Any]:
    try:
        table: dict[str, Any] = userfile.toml(userfile.read_text(file))
    except (OSError, UnicodeDecodeError) as error:
        raise ExperimentError(f"cannot read {file} ({userfile.reason(error)})", fix="name a file that you can read") from error
    except tomllib.TOMLDecodeError as error:
        raise ExperimentError(f"not TOML: {error}", str(file), "correct that line") from error
    _check(table, keys, str(file), needed)
    return table


def _check(table: Mapping[str, Any], keys: Mapping[str, Any], where: str, needed: Sequence[str] = ()) -> None:
    for key, value in table.items():
        if key not in keys:
            raise ExperimentError(f"unknown key '{key}'", where, nearest(key, keys))
        if not isinstance(value, keys[key]) or isinstance(value, bool):
            raise ExperimentError(f"`{key}` is not {KINDS.get(keys[key], 'a number')}", where, f"correct `{key}`")
    for key in needed:
        if key not in table:
            raise ExperimentError(f"`{key}` is missing", where, f"write {key} = ...")


def _texts(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not all(isinstance(each, str) and each.strip() for each in value):
        raise ExperimentError(f"`{key}` is not a list of texts", where, f'write {key} = ["...", "..."]')
    return tuple(value)


def _number(value: object, what: str, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ExperimentError(f"{what} is not a number of round trips", where, "write 0 or more, for example 4")
    return float(value)
