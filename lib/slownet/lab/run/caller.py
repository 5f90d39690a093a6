"""Inheritance from a lab's caller: environment variables, the working directory, folders to import from and to read."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from slownet.lab.host import native
from slownet.lab.run.folders import hides, refused
from slownet.lab.run.lab import WRITABLE, Share
from slownet.model import userfile
from slownet.model.errors import LabError
from slownet.model.options import ENV, SHARE, Option
from slownet.model.shapes import Json

ROUNDS = 200_000
"""Of the hash of a value that may be a secret: a tenth of a second."""
SESSION = "SLOWNET_SESSION"
"""The variable that passes a pytest session's facts to the one in its lab; see `slownet.lab.run.pytest_inside`."""
# Variables that describe this machine, not the work done on it.
OF_THIS_MACHINE = frozenset(
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "MAIL", "PWD", "OLDPWD", "SHLVL", "_", "HOSTNAME", "DISPLAY", "TMPDIR", "TMP",
     "TEMP", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT", "CONDA_PREFIX", "LANG",
     "LANGUAGE", "TERM", "PYTEST_DEBUG_TEMPROOT", "PYTEST_VERSION", "PYTEST_CURRENT_TEST", native.INSIDE, SESSION]
)  # fmt: skip
OF_THIS_MACHINE_TOO = ("LC_", "LD_", "XDG_", "SSH_", "DBUS_", "SUDO_")


def variables() -> dict[str, str]:
    """Return the environment variables of this process, without those that describe this machine."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in OF_THIS_MACHINE and not name.startswith(OF_THIS_MACHINE_TOO)
    }


def variables_named_in(folders: Iterable[Path]) -> dict[str, str]:
    """Return those of `variables` whose names stand in Python code in folders."""
    from slownet.lab.exact import packed  # only a lab's host needs it

    files = (path for folder in folders for path in packed.content(folder) if path.suffix == ".py")
    words = {word for path in files for word in re.findall(r"\w+", path.read_text(errors="replace"))}
    return {name: value for name, value in variables().items() if name in words}


def import_path(here: Path) -> list[Path]:
    """Return the folders of sys.path outside the standard library that a lab can have; relative ones begin at ``here``.

    Those of packages that are installed as editable come last.
    """
    own = [Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")]
    found = []
    for text in dict.fromkeys([*sys.path, *_editable()]):
        path = Path(text) if os.path.isabs(text) else Path(os.path.normpath(here / text))
        standard = path.resolve() in own or path.name == "lib-dynload"
        if path.is_dir() and not standard and not hides(path.resolve()):
            found.append(path)
    return found


def _editable() -> list[str]:
    """Return the folders with the packages that `pip install -e` has installed by a finder of setuptools, not by a folder.

    It does so wherever a project has its package beside other folders. A package under another name than its folder's is left
    out: no folder shows where it is. So is this one: a lab has it anyway.
    """
    modules = sys.modules.copy()  # another thread may import ahead of time
    finders = [each for name, each in modules.items() if name.startswith("__editable__")]
    mapped = {name: Path(path) for each in finders for name, path in getattr(each, "MAPPING", {}).items()}
    own = __package__.partition(".")[0]
    return [str(path.parent) for name, path in mapped.items() if name != own and path.name in (name, f"{name}.py")]


def working_directory() -> Path | None:
    """Return the working directory if a lab can have it under the same path."""
    try:
        here = Path.cwd()
    except FileNotFoundError:
        return None
    return None if hides(here) else here


def imported_from(folder: Path) -> list[Path]:
    """Return the whole paths of `import_path`, from the working directory, or from this folder if a lab cannot have that."""
    return [each.absolute() for each in import_path(working_directory() or folder)]


def code_folders(folder: Path) -> list[Path]:
    """Return what a file in this folder has around it in a lab: the folder, then the working directory and the import path."""
    here = working_directory()
    found = outermost([*imported_from(folder), *([here] if here else [])])
    return [folder, *(each for each in found if each != folder)]


def outermost(folders: Iterable[Path]) -> list[Path]:
    """Return the folders that can be shared, without those inside others."""
    found: list[Path] = []
    for folder in sorted(dict.fromkeys(folders), key=lambda each: len(each.parts)):
        if folder.is_dir() and not hides(folder) and not within(folder, found):
            found.append(folder)
    return found


def within(path: Path, folders: Iterable[Path]) -> bool:
    """Return whether a path is one of the folders or inside one."""
    return any(path.is_relative_to(each) for each in folders)


@dataclass(frozen=True)
class Given:
    """Requests of the caller for a lab: ``--env`` and ``--share``."""

    env: Mapping[str, str] = field(default_factory=dict)
    shares: Sequence[Share] = ()

    @classmethod
    def read(cls, env: Sequence[str], shares: Sequence[str]) -> Given:
        """Return it from the options' values: ``NAME`` or ``NAME=VALUE``, ``FOLDER`` or ``FOLDER:rw``. Raises LabError."""
        return cls(dict(map(_variable, env)), shares_of(shares))

    @classmethod
    def from_json(cls, record: Mapping[str, Json] | None) -> Given:
        """Return it from a run's facts; the values of variables are those of this process. Raises LabError."""
        found = record or {}
        shares = [f"{path}{WRITABLE if writable else ''}" for path, writable in found.get("shares") or ()]
        return cls(dict(_of_run(name) for name in found.get("env") or ()), shares_of(shares))

    def to_json(self) -> dict[str, object]:
        """Return it for a run's facts: of variables the names alone, since their values may be secrets."""
        return {"env": list(self.env), "shares": [[str(each.path), each.writable] for each in self.shares]}

    def fingerprint(self) -> dict[str, object]:
        """Return what distinguishes it from others: as `to_json`, with values by `disguised`."""
        return {**self.to_json(), "env": {name: disguised(f"{name}={value}") for name, value in self.env.items()}}

    def __bool__(self) -> bool:
        return bool(self.env or self.shares)


def set_variables(env: Sequence[str], shares: Sequence[str]) -> Given:
    """Return what ``--env`` and ``--share`` add; the variables are set here, too, where experiments are read and judged.

    Raises LabError.
    """
    given = Given.read(env, shares)
    os.environ.update(given.env)
    return given


def without_values(argv: Sequence[str]) -> list[str]:
    """Return a command line for a record: of the variables that ``--env`` gives, the names alone."""
    found: list[str] = []
    for word in argv:
        if found[-1:] == [ENV.typed]:
            word = word.partition("=")[0]
        elif word.startswith(f"{ENV.typed}="):
            word = "=".join(word.split("=")[:2])
        found.append(word)
    return found


@lru_cache
def disguised(text: str) -> str:
    """Return a hash that distinguishes a text from others, and takes too long to try all texts that it may be of."""
    import hashlib  # loads OpenSSL, which is not needed when this module is imported inside a lab

    return hashlib.pbkdf2_hmac("sha256", text.encode(errors="surrogateescape"), b"slownet", ROUNDS).hex()[:32]


def _of_run(name: str) -> tuple[str, str]:
    if name not in os.environ:
        fix = f"export it, or add {ENV} {name}=VALUE"
        raise LabError(f"{name} was set for the run and its value was not saved", Option("resume"), fix)
    return name, os.environ[name]


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or "\0" in text:
        raise LabError("a variable without a name" if not name else "a variable with a NUL", ENV, "write NAME or NAME=VALUE")
    if not equals and name not in os.environ:
        raise LabError(f"the variable {name} is not set", where=ENV, fix=f"write {name}=VALUE, or export it")
    return name, value if equals else os.environ[name]


def share(text: str, base: Path = Path(), where: str | Option = SHARE, fix: str = "name a folder of this machine") -> Share:
    """Return the share of ``FOLDER``, which a lab reads, or ``FOLDER:rw``, which it may change. Raises LabError.

    base: what a relative folder is relative to.
    """
    path = Path(text.removesuffix(WRITABLE))
    writable = text.endswith(WRITABLE)
    return Share(folder(base / userfile.expanded(path, where, LabError), where, fix, writable), writable)


def shares_of(texts: Sequence[str], *about: Any) -> tuple[Share, ...]:
    """Return the shares of several folders, each folder once, as it is named last. about: as for `share`. Raises LabError."""
    return tuple({each.path: each for each in (share(text, *about) for text in texts)}.values())


def folder(path: Path, where: str | Option = SHARE, fix: str = "name a folder of this machine", writable: bool = False) -> Path:
    """Return a folder that a lab can have, with its whole path. Raises LabError; ``fix`` is for one that does not exist."""
    if not path.is_dir():
        raise LabError(f"{path} is not a folder", where, fix)
    found = path.resolve()
    if why := refused(found, writable=writable):
        raise LabError(f"{found} {why}", where, "share another folder")
    return found
