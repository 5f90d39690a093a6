"""Trust in files that were found by search: only the user's own or root's.

Such are a project's file, searched for upwards, and a compose file's neighbours. Another user may have left one in a folder
that all may write to, and it decides what labs share and install. As with
git's `safe.directory`, a file counts if it is this user's or root's and no one else can change it. A file that a command names
counts in any case.
"""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import stat
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

SAFE = "SLOWNET_SAFE_FOLDERS"
"""The variable with folders whose files are read whatever user owns them, separated by colons; ``*`` for all."""
WITHOUT_MODES = {"9p", "cifs", "drvfs", "exfat", "fuseblk", "ntfs3", "smb3", "vboxsf", "vfat"}
"""File systems that give all files one mode, often 0777, which shows nothing of who can write."""
CHECKOUTS = ("CI_PROJECT_DIR", "GITHUB_WORKSPACE")
"""Variables that CI services set to the checkout of a job, which they write as another user or for all to write."""
OVERFLOW = 65534
"""The name of a file's owner whose number is not mapped: the owner is unknown."""
CONTAINERS = (Path("/.dockerenv"), Path("/run/.containerenv"))
"""Files that container engines create in a container."""


def is_obeyed(path: Path) -> bool:
    """Return whether a file counts that was found, not named; if not, explain why in one line, once for each file."""
    why = distrusted(path)
    if why:
        _say(f"{path} is not obeyed, {why}: to obey it, set {SAFE}={path.parent}")
    return not why


def distrusted(path: Path) -> str:
    """Return why a file is not obeyed; empty if it is."""
    if _is_allowed(path):
        return ""
    for each, about in _states(path):
        what = "it" if each == path else f"its folder {each}" if stat.S_ISDIR(about.st_mode) else f"what it links to, {each},"
        if about.st_uid not in trusted() and not _is_mounted(about.st_uid):
            return f"{what} belongs to {_user(about.st_uid)}"
        if writers := _writers(each, about):
            return f"{what} can be changed by {writers}"
    return ""


def trusted() -> set[int]:
    """Return the users whose files are obeyed: this one, root, and for root the one who called sudo."""
    own = os.geteuid()
    caller = os.environ.get("SUDO_UID", "") if own == 0 else ""
    return {own, 0} | ({int(caller)} if caller.isascii() and caller.isdigit() else set())


def _is_mounted(user: int) -> bool:
    """Return whether this is the root of a container which has no such user: the file was mounted by who started it."""
    named = any(name in os.environ for name in ("container", "KUBERNETES_SERVICE_HOST"))
    if os.geteuid() or not (named or any(each.exists() for each in CONTAINERS)):
        return False
    return user != OVERFLOW and _user(user) == f"the user {user}"


def _is_allowed(path: Path) -> bool:
    safe = [each for each in os.environ.get(SAFE, "").split(os.pathsep) if each]
    safe += [os.environ[name] for name in CHECKOUTS if os.environ.get(name)]
    return "*" in safe or any(path.absolute().is_relative_to(Path(each).absolute()) for each in safe)


def _states(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the file, what it links to, and the folders of both."""
    with contextlib.suppress(OSError):
        target = Path(os.path.realpath(path))
        for each in dict.fromkeys((path, target, path.parent, target.parent)):
            yield each, each.stat(follow_symlinks=each == path.parent)


def _writers(path: Path, about: os.stat_result) -> str:
    """Return who else may change a file, or put another one in its place in a folder; empty if no one."""
    if stat.S_ISLNK(about.st_mode) or (stat.S_ISDIR(about.st_mode) and about.st_mode & stat.S_ISVTX):
        return ""
    writable = about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if not writable or _file_system(about.st_dev) in WITHOUT_MODES:
        return ""
    if writable & stat.S_IWOTH:
        return "everybody"
    return "" if _is_private(about.st_gid, about.st_uid) else f"the group {_group(about.st_gid)}"


def _is_private(group: int, user: int) -> bool:
    """Return whether a group has no other member than the user: many systems give each user one of the user's name."""
    try:
        found, owner = grp.getgrgid(group), pwd.getpwuid(user)
    except KeyError:
        return group == user
    return found.gr_name == owner.pw_name and set(found.gr_mem) <= {owner.pw_name}


@lru_cache
def _file_system(device: int) -> str:
    """Return the type of the file system with this number, such as ``ext4``; empty if it is not known."""
    wanted = f"{os.major(device)}:{os.minor(device)}"
    with contextlib.suppress(OSError, IndexError):
        for line in Path("/proc/self/mountinfo").read_text(errors="replace").splitlines():
            fields, _, rest = line.partition(" - ")
            if fields.split()[2] == wanted:
                return rest.split()[0]
    return ""


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"the user {number}"


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


@lru_cache
def _say(line: str) -> None:
    sys.stderr.write(f"slownet: {line}\n")
