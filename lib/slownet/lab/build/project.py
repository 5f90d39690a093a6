"""The needs of a project in its labs: the table ``[tool.slownet]`` of its pyproject.toml, or its slownet.toml."""

from __future__ import annotations

import contextlib
import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from slownet.lab.build import kernel
from slownet.lab.host import ownership
from slownet.lab.run import caller
from slownet.lab.run.lab import Share
from slownet.model import userfile
from slownet.model.errors import LabError, nearest

OWN, SHARED = "slownet.toml", "pyproject.toml"
KEYS = ("packages", "dependencies", "requirements", "share", "write", "require_confinement", "kernel", "lab")
PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+(=[A-Za-z0-9.+:~-]+)?")
"""A Debian package, as for apt-get: ``jq`` or ``jq=1.7.1-6``."""
MENTIONED = re.compile(rb"\btool\b.*\bslownet\b", re.DOTALL)
INCLUDES = re.compile(r"(?:(?P<limits>-c|--constraint)|-r|--requirement)[\s=]*(?P<path>\S+)")
PATTERN = re.compile(r"[*?\[]")
"""The characters that make a component of a path in `write` a pattern."""
LOCAL = re.compile(r"(-e|--editable|\.{0,2}/|\.$|file:)")


@dataclass(frozen=True)
class Project:
    """The requests of a project's file; each may be empty."""

    file: Path
    packages: Sequence[str] = ()
    """Debian packages, sorted."""
    requirements: Sequence[str] = ()
    """Lines of a pip requirements file: `dependencies`, and the files' own with what they include."""
    constraints: Sequence[str] = ()
    """Lines of the constraints files that those files name."""
    shares: Sequence[Share] = ()
    """Folders that every lab can read, or change if the file adds ``:rw``."""
    write: Sequence[PurePosixPath] = ()
    """Files and folders below the file's folder that tests in a lab may change; a component may be a pattern."""
    require_confinement: bool = False
    """True if labs must not run where nothing but their own kernel confines them."""
    kernel: str = ""
    """The kind of kernel that its labs have; empty if not given."""
    lab: str = ""
    """A folder, a file or an address where a built lab may be found (`slownet.transfer.offered`); empty for none."""

    @property
    def needs_layer(self) -> bool:
        """True if it needs anything installed."""
        return bool(self.packages or self.requirements)


def find(start: Path) -> Project | None:
    """Return the nearest project from a folder upwards whose file configures slownet. Raises LabError.

    Files of other users do not count, see `slownet.lab.host.ownership`.
    """
    for folder in (start, *start.parents):
        for file in (folder / OWN, folder / SHARED):
            if file.is_file() and _concerns(file) and ownership.is_obeyed(file) and (found := at(file)):
                return found
    return None


def at(file: Path) -> Project | None:
    """Return the project of one file; None if it has none. Raises LabError."""
    return {OWN: _own, SHARED: _shared}[file.name](file.parent) if file.is_file() else None


def _concerns(file: Path) -> bool:
    """Return whether a file says something about slownet, so that nothing is said of others."""
    with contextlib.suppress(OSError):
        return file.name == OWN or bool(MENTIONED.search(file.read_bytes()))
    return True


def _own(folder: Path) -> Project | None:
    path = folder / OWN
    return parse(path, _toml(path, _text(path))) if path.is_file() else None


def _shared(folder: Path) -> Project | None:
    path = folder / SHARED
    text = _text(path) if path.is_file() else ""
    if not MENTIONED.search(text.encode()):  # others' mistakes are not ours to report
        return None
    tools = _toml(path, text).get("tool", {})
    table = tools.get("slownet") if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise LabError("tool.slownet is not a table", where=str(path), fix="write [tool.slownet]")
    return parse(path, table) if table is not None else None


def parse(file: Path, table: Mapping[str, object]) -> Project:
    """Return a project from its table. Raises LabError."""
    for key in table:
        if key not in KEYS:
            raise LabError(f"unknown key '{key}'", where=str(file), fix=nearest(key, KEYS))
    packages = _texts(file, table, "packages")
    for each in packages:
        if not PACKAGE.fullmatch(each):
            raise LabError(f"'{each}' is not a Debian package", where=str(file), fix='write for example packages = ["jq"]')
    found = _requirements(file, table)
    lines = [*_dependencies(file, table), *(line for line, limit in found if not limit)]
    limits = [line for line, limit in found if limit]
    shares = caller.shares_of(_texts(file, table, "share"), file.parent, str(file), "correct `share`")
    write = dict.fromkeys(_writable(file, each) for each in _texts(file, table, "write"))
    required = table.get("require_confinement", False)
    if not isinstance(required, bool):
        raise LabError("require_confinement is not true or false", str(file), "write require_confinement = true")
    kind = check_kernel(table["kernel"], str(file)) if "kernel" in table else ""
    offered = table.get("lab", "")
    if not isinstance(offered, str) or ("lab" in table and not offered.strip()):
        raise LabError("lab is not a text", str(file), 'write for example lab = "https://files.example/labs/"')
    return Project(
        file, tuple(sorted(set(packages))), tuple(lines), tuple(limits), shares, tuple(write), required, kind, offered.strip()
    )


def check_kernel(kind: object, where: str) -> str:
    """Return a kind of kernel. Raises LabError if it does not exist."""
    if kind not in kernel.KINDS:
        raise LabError(f"unknown kernel {kind!r}", where=where, fix=nearest(str(kind), kernel.KINDS))
    return str(kind)


def _writable(file: Path, text: str) -> PurePosixPath:
    """Return a path of `write`, relative to the file's folder. Raises LabError if it is not beneath that."""
    path = PurePosixPath(text)
    here = file.parent.resolve()
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in text:
        raise LabError(
            f"write: {text!a} is not below {here}", where=str(file), fix="name a file or folder relative to this file"
        )
    if "**" in path.parts:
        raise LabError(f"write: '{text}' has '**'", where=str(file), fix="name the folder: all that is below it is kept")
    stated = itertools.takewhile(lambda part: not PATTERN.search(part), path.parts)
    met = here.joinpath(*stated)
    if met.resolve() != met:
        raise LabError(f"write: '{text}' is or passes a link", where=str(file), fix=f"name what it leads to, below {here}")
    return path


def _text(path: Path) -> str:
    try:
        return userfile.read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(f"cannot read {path} ({userfile.reason(error)})") from error


def _inside(file: Path, text: str, key: str) -> Path:
    """Return a path that a project's file names, as a whole one. Raises LabError."""
    if "\0" in text:
        raise LabError(f"{key} contains a null byte", where=str(file), fix=f"correct `{key}`")
    return (file.parent / userfile.expanded(text, str(file), LabError)).resolve()


def _toml(path: Path, text: str) -> dict[str, object]:
    try:
        return userfile.toml(text)
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"not TOML: {error}", where=str(path)) from error


def _texts(file: Path, table: Mapping[str, object], key: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(each, str) and each.strip() for each in value):
        raise LabError(f"{key} is not a list of texts", where=str(file), fix=f'write {key} = ["...", "..."]')
    return [each.strip() for each in value]


def _dependencies(file: Path, table: Mapping[str, object]) -> list[str]:
    found = _texts(file, table, "dependencies")
    for each in found:
        if each.startswith("-") or "\n" in each:
            raise LabError(
                f"'{each}' is not a dependency", where=str(file), fix='write for example dependencies = ["flask>=3"]'
            )
        _not_local(each, file)
    return sorted(set(found))


def _requirements(file: Path, table: Mapping[str, object]) -> list[tuple[str, bool]]:
    value = table.get("requirements")
    if value is None:
        return []
    if not isinstance(value, str):
        raise LabError("requirements is not a text", where=str(file), fix='write requirements = "requirements.txt"')
    return list(_lines(_inside(file, value, "requirements"), file, limit=False))


def _lines(path: Path, origin: Path, limit: bool, seen: Sequence[Path] = ()) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a requirements file and of those that it includes, and whether each is a constraint."""
    path = path.resolve()
    if path in seen:
        return
    if not path.is_file():
        raise LabError(f"there is no file {path}", where=str(origin), fix="correct `requirements`")
    for line in re.sub(r"\\\n", " ", _text(path)).splitlines():
        text = re.sub(r"(^|\s+)#.*", "", line).strip()
        include = INCLUDES.fullmatch(text)
        if include:
            yield from _lines(
                _inside(path, include["path"], "requirements"), path, limit or bool(include["limits"]), (*seen, path)
            )
        elif text:
            _not_local(text, path)
            yield text, limit


def _not_local(text: str, file: Path) -> None:
    if LOCAL.match(text):
        raise LabError(
            f"'{text}' is a folder or file of this machine, not a package", where=str(file),
            fix="leave it out: pytest and `slownet run` bring the project's code into the lab themselves",
        )  # fmt: skip
