"""Which host folders a lab can mount at their own path."""

from __future__ import annotations

from pathlib import Path

# A host folder must not hide these folders of the image or anything below them.
SYSTEM_FOLDERS = ["/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr", "/opt/slownet",
                  "/var/lib/slownet"]  # fmt: skip


def hides(folder: Path) -> bool:
    """Return whether that host folder, mounted at its own path, would hide or contain a folder that the lab needs."""
    if any(folder.is_relative_to(each) or Path(each).is_relative_to(folder) for each in SYSTEM_FOLDERS):
        return True
    return str(folder) in ("/root", "/tmp") or (folder.is_relative_to("/var") and len(folder.parts) < 4)
