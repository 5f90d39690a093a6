"""Whom a container runs as: names and numbers, looked up in the image's own /etc/passwd and /etc/group as Docker does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slownet.model.errors import ImageError
from slownet.model.units import whole_number

PASSWD, GROUP = "/etc/passwd", "/etc/group"


@dataclass(frozen=True)
class User:
    """Numbers and home directory of a process's user."""

    uid: int = 0
    gid: int = 0
    groups: tuple[int, ...] = ()
    """Supplementary groups, the own one first: a process that has dropped it must not gain files that deny it."""
    home: str = "/"


def resolve(text: str, passwd: str, group: str, where: str = "", more: Sequence[str] = ()) -> User:
    """Return the user that an image's configuration names.

    Parameters
    ----------
    text : str
        ``user``, ``uid``, ``user:group``, ``uid:gid`` or a mixture; empty: root.
    passwd, group : str
        The image's files; empty if it has none.
    where : str
        What the line of the error names.
    more : sequence of str
        Further groups, by name or number.

    Returns
    -------
    User
        With the groups that list the user, unless `text` names a group. A number without an entry is fine: its group is 0.

    Raises
    ------
    ImageError
        A name without an entry, or a number out of range.
    """
    who, _, whose = text.partition(":")
    who = who or "0"
    number = _number(who, text, where)
    entries = ((name, fields) for name, fields in _rows(passwd) if _is_number(fields[1]) and _is_number(fields[2]))
    entry = next((each for each in entries if each[0] == who or (number is not None and int(each[1][1]) == number)), None)
    if entry is None and number is None:
        raise ImageError(f"the user '{who}' is not in the image's {PASSWD}", where, "name one of them, or a number")
    exceeds = [_group(each, group, each, where) for each in more]
    name, fields = entry or ("", ["", str(number), "0", "", ""])
    uid, gid, home = int(fields[1]), int(fields[2]), fields[4] or "/"
    if whose:
        gid = _group(whose, group, text, where)
        return User(uid, gid, tuple(dict.fromkeys([gid, *exceeds])), home)
    listed = [int(row[1]) for _, row in _rows(group) if name and name in row[2].split(",") and _is_number(row[1])]
    return User(uid, gid, tuple(dict.fromkeys([gid, *listed, *exceeds])), home)


def _group(whose: str, group: str, text: str, where: str) -> int:
    number = _number(whose, text, where)
    for name, fields in _rows(group):
        if _is_number(fields[1]) and (name == whose or (number is not None and int(fields[1]) == number)):
            return int(fields[1])
    if number is None:
        raise ImageError(f"the group '{whose}' is not in the image's {GROUP}", where, "name one of them, or a number")
    return number


def _rows(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield names and the other columns, at least five: those that a short line lacks are empty. A comment is not an entry."""
    for line in text.splitlines():
        name, *fields = line.strip().split(":")
        if name and not name.startswith("#"):
            yield name, [*fields, *[""] * (5 - len(fields))]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _number(word: str, text: str, where: str) -> int | None:
    if not _is_number(word):
        return None
    number = whole_number(word)
    if number is None or number >= 1 << 31:
        raise ImageError(f"the user '{text}' is out of range", where, "a number is below 2147483648")
    return number
