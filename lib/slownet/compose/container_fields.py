"""Fields of a service that are arguments of its container: one row each, used by readers, hosts and the documentation.

A row reads a JSON value, which the project's record keeps and `Container` gets unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from slownet.compose import casts
from slownet.compose.document import Map, Place, pairs
from slownet.compose.kinds import COMMAND, FLAG, NUMBER, PAIRS, TEXT, TEXTS, ULIMITS, Kind, listed
from slownet.compose.scalars import text
from slownet.containers.privileges import ADDED, CAPABILITIES, WITHHELD
from slownet.model.errors import ComposeError, nearest
from slownet.model.shapes import Json

# Splits a command's text into words as compose does, which is not quite as a shell or `shlex` does.
#
# Compose's library ends the command at an unquoted ``;``, ``&``, ``|``, ``<`` or ``>``, leaves what is between backquotes or
# in ``$(...)`` as it is, and knows no comments.

_SPACES = " \t\r\n"
_ENDS = ";&|<>"


def split(text: str) -> tuple[list[str], str]:
    """Return the words of a text, and what compose leaves out after them. Raises ValueError for an open quote."""
    return _Splitter(text).split()


class _Splitter:
    def __init__(self, text: str) -> None:
        self._text = text
        self._words: list[str] = []
        self._word: list[str] = []
        self._has_word = False
        self._quotes: dict[str, bool] = {"'": False, '"': False, "`": False, "$(": False}

    def split(self) -> tuple[list[str], str]:
        escaped, rest = False, ""
        for number, each in enumerate(self._text):
            if escaped or (each == "\\" and self._quotes["'"]):
                self._add(each)
                escaped = False
            elif each == "\\":
                escaped = True
            elif each in _ENDS and not any(self._quotes.values()):
                # a number before > is a file's, as in 2>/dev/null
                self._has_word = self._has_word and not (each == ">" and self._word and self._word[0].isdigit())
                rest = self._text[number:]
                break
            elif each in _SPACES and not any(self._quotes.values()):
                self._end()
            elif not self._quote(each):
                self._add(each)
        self._end()
        if escaped or any(self._quotes.values()):
            raise ValueError("a quote is not closed" if not escaped else "it ends with a backslash")
        return self._words, rest

    def _add(self, each: str) -> None:
        self._word.append(each)
        self._has_word = True

    def _end(self) -> None:
        if self._has_word:
            self._words.append("".join(self._word))
        self._word, self._has_word = [], False

    def _quote(self, each: str) -> bool:
        """Note what a character opens or closes; return True if it is not part of the word itself."""
        inside = self._quotes
        if each == "'" and not inside['"'] and not inside["$("]:
            inside["'"] = not inside["'"]
            self._has_word = True
            return True
        if each == '"' and not inside["'"] and not inside["$("]:
            inside['"'] = not inside['"']
            self._has_word = True
            return True
        if each == "`" and not inside["'"] and not inside['"'] and not inside["$("]:
            inside["`"] = not inside["`"]
        if each in "()" and not inside["'"] and not inside['"'] and not inside["`"]:
            if each == "(" and (inside["$("] or self._word[-1:] != ["$"]):
                raise ValueError("a parenthesis that is not quoted")
            inside["$("] = not inside["$("]
        return False


Warnings = list[str]
"""A reader appends what the user should know."""


def _given(tree: Map, name: str, warnings: Warnings) -> Json:
    return text(tree.get(name) or "") or None


def _flag(tree: Map, name: str, warnings: Warnings) -> Json:
    return tree.get(name) is True or None


def _texts(tree: Map, name: str, warnings: Warnings) -> Json:
    return [text(each) for each in tree.get(name) or ()] or None


@dataclass(frozen=True)
class Row:
    """A field of a service that its container gets."""

    kind: Kind
    """The values that the files may have."""
    argument: str = ""
    """The argument of `slownet.containers.container.Container` that it is; empty if another field's row reads it."""
    note: str = ""
    """For the documentation: how it is done."""
    read: Callable[[Map, str, Warnings], Json] = _given
    """Returns the argument as JSON, from the service and the field's name; None for the default. Raises ComposeError."""
    form: Callable[[Any, Place], Any] | None = None
    """Makes the long form of a value, if short ones exist."""
    early: Mapping[str, casts.Cast] = field(default_factory=dict)
    """Conversions of texts before the kinds are checked, by the path below the field: "" for itself."""
    late: Mapping[str, casts.Cast] = field(default_factory=dict)
    """Conversions of texts afterwards."""


def read(tree: Map, warnings: Warnings) -> dict[str, Json]:
    """Return the arguments of a service's container that the files give. Raises ComposeError."""
    found = {row.argument: row.read(tree, name, warnings) for name, row in ROWS.items() if row.argument}
    return {name: value for name, value in found.items() if value is not None}


def words(tree: Map, name: str, warnings: Warnings) -> list[str] | None:
    """Return a command; a text is split like a shell's line, None leaves it to the image. Raises ComposeError."""
    value = tree.get(name)
    if value is None:
        return None
    if isinstance(value, list):
        return [*map(text, value)]
    try:
        found, rest = split(value)
    except ValueError as error:
        raise ComposeError(
            f"unclear {name}: {error}", str(tree.keys_at[name]), "quote as in a shell, or write a list"
        ) from None
    if rest:
        what = f"{name} ends before '{rest[:40]}', as in compose"
        warnings.append(f"{tree.values_at[name]}: {what}: for a shell write sh -c '...'")
    return found


def seconds(tree: Map, name: str, warnings: Warnings | None = None) -> float | None:
    """Return the seconds of compose's ``1m30s``, if they are given. Raises ComposeError."""
    value = tree.get(name)
    if value is None:
        return None
    try:
        return casts.seconds(text(value))
    except ValueError:
        fix = "write it like 1m30s; units: w d h m s ms us"
        raise ComposeError(f"unclear duration '{value}'", str(tree.keys_at[name]), fix) from None


LIMITS = (
    "as", "core", "cpu", "data", "fsize", "locks", "memlock", "msgqueue", "nice", "nofile", "nproc", "rss", "rtprio", "rttime",
    "sigpending", "stack",
)  # fmt: skip
"""Names of limits, as in Docker's ``--ulimit`` and setrlimit(2)."""


def _limits(tree: Map, field: str, warnings: Warnings) -> Json:
    found = {}
    for name, value in (tree.get(field) or {}).items():
        at = str(tree[field].keys_at[name])
        if name not in LIMITS:
            raise ComposeError(f"unknown limit '{name}'", at, nearest(name, LIMITS))
        texts = (value.get("soft"), value.get("hard")) if isinstance(value, Map) else (value, value)
        if not all(re.fullmatch(r"-1|\d{1,18}", text(each)) and not isinstance(each, float) for each in texts):
            fix = "write a whole number, or {soft: 1024, hard: 2048}; -1 is none"
            raise ComposeError(f"the limit {name} is {value}", at, fix)
        soft, hard = (int(text(each)) for each in texts)
        if hard != -1 and (soft == -1 or soft > hard):
            raise ComposeError(f"the soft limit {name} of {soft} is above the hard one of {hard}", at, "raise hard:")
        found[name] = [soft, hard]
    return found or None


ALL = "ALL"
_PREFIX = "CAP_"


def _capabilities(tree: Map, name: str, warnings: Warnings) -> Json:
    """Return a service's capabilities as Docker finds them; None for the default ones. Raises ComposeError.

    warnings: gets a line for those that no container of a lab has.
    """
    added, dropped = (list(_named(tree, each)) for each in ("cap_add", "cap_drop"))
    if not added and not dropped:
        return None
    withheld = [each for each in added if each in WITHHELD]
    if withheld:
        what = ", ".join(each.removeprefix(_PREFIX) for each in withheld)
        warnings.append(
            f"{tree.keys_at['cap_add']}: ignored: {what} of cap_add: no container gets at a lab's kernel and devices"
        )
    if ALL in added:
        kept = [*CAPABILITIES, *ADDED]
    elif ALL in dropped:
        return [each for each in added if each not in WITHHELD]
    else:
        kept = [*CAPABILITIES, *(each for each in added if each not in (*CAPABILITIES, *WITHHELD))]
    return [each for each in kept if each not in dropped]


def _named(tree: Map, field: str) -> Iterator[str]:
    stated: Any = tree.get(field) or ()
    known = [ALL, *CAPABILITIES, *ADDED, *WITHHELD]
    for number, each in enumerate(stated):
        name = str(each).upper()
        whole = name if name == ALL or name.startswith(_PREFIX) else f"{_PREFIX}{name}"
        if whole not in known:
            fix = nearest(name.removeprefix(_PREFIX), [one.removeprefix(_PREFIX) for one in known])
            raise ComposeError(f"no capability '{each}'", str(stated.at[number]), fix)
        yield whole


_OF_NETWORK = re.compile(r"net(?:\.[\w-]+)+")
_OF_IPC = re.compile(r"kernel\.(?:msgmax|msgmnb|msgmni|sem|shmall|shmmax|shmmni|shm_rmid_forced)|fs\.mqueue\.\w+")
"""Settings that a namespace has for itself, so that a container can: as in Docker, which refuses others, too."""


def _sysctls(tree: Map, field: str, warnings: Warnings) -> Json:
    stated: Any = tree.get(field) or {}
    for name, value in stated.items():
        if not _OF_NETWORK.fullmatch(name) and not _OF_IPC.fullmatch(name):
            what = f"the setting '{name}' is the whole machine's"
            raise ComposeError(what, str(stated.keys_at[name]), "a container has those of its network (net...) and IPC")
        if value is None:
            raise ComposeError(f"the setting {name} has no value", str(stated.keys_at[name]), f"write {name}=1")
    return {name: text(value) for name, value in stated.items()} or None


_LINE = "a text is split like a shell's line"
ROWS: Mapping[str, Row] = {
    "entrypoint": Row(COMMAND, "entrypoint", f"{_LINE}; the image's Cmd is then not used", words),
    "command": Row(COMMAND, "command", _LINE, words),
    "cap_add": Row(
        TEXTS, "capabilities", "those at the kernel and its devices, such as SYS_ADMIN, are named and left out", _capabilities
    ),
    "cap_drop": Row(TEXTS),
    "group_add": Row(listed(TEXT | NUMBER, once=True), "groups", "of the image's own, or numbers", _texts),
    "hostname": Row(TEXT, "hostname"),
    "init": Row(
        FLAG, "init", "tini is the first process; without it the program gets its signals itself", _flag,
        early={"": casts.boolean},
    ),
    "read_only": Row(FLAG, "read_only", "the container writes to its volumes alone", _flag, early={"": casts.boolean}),
    "stop_grace_period": Row(TEXT, "stop_s", read=seconds, late={"": casts.duration}),
    "stop_signal": Row(TEXT, "stop_signal"),
    "sysctls": Row(
        PAIRS, "sysctls", "of the service's network and IPC; others are refused, as by Docker", _sysctls, form=pairs
    ),
    "ulimits": Row(
        ULIMITS, "limits", "a number, or soft and hard", _limits,
        early=dict.fromkeys((".*", ".*.hard", ".*.soft"), casts.whole),
    ),
    "user": Row(TEXT, "user"),
    "working_dir": Row(TEXT, "cwd"),
}  # fmt: skip
"""By name. A new field is a new row."""
