"""Host folders that a lab can have, some at their own path."""

from __future__ import annotations

import os
from pathlib import Path

# A host folder must not hide these folders of the image or anything below them.
SYSTEM_FOLDERS = ["/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr", "/opt/slownet",
                  "/var/lib/slownet"]  # fmt: skip
LIVE = ["/dev", "/proc", "/sys"]
"""Folders that are not files but the running machine."""
SESSIONS = "/run"
"""Sockets and sessions of its services and users, beside a few plain files such as resolv.conf."""


def hides(folder: Path) -> bool:
    """Return whether that host folder, mounted at its own path, would hide or contain a folder that the lab needs."""
    if any(folder.is_relative_to(each) or Path(each).is_relative_to(folder) for each in SYSTEM_FOLDERS):
        return True
    return str(folder) in ("/root", "/tmp") or (folder.is_relative_to("/var") and len(folder.parts) < 4)


def refused(folder: Path, *, writable: bool = False, at_own_path: bool = True) -> str:
    """Return why a lab cannot have a host folder, or a file of its own; empty if it can.

    folder: as from `Path.resolve`, because a link or ``..`` may lead anywhere. writable: whether the lab may change it.
    at_own_path: whether the lab has it under the same path.
    """
    if folder == Path("/"):
        return "is the whole machine"
    live = any(folder.is_relative_to(each) for each in LIVE) or (folder.is_relative_to(SESSIONS) and folder.is_dir())
    if live and not at_own_path:
        return "is this machine's processes, devices and sockets, no files"
    if at_own_path and hides(folder):
        return "would hide the lab's own folder"
    if writable and home().is_relative_to(folder):
        return "contains your home, with what your shell and your logins run, and would be writable"
    return ""


def home() -> Path:
    """Return the home of this process's user, without links."""
    return Path(os.path.expanduser("~")).resolve()
