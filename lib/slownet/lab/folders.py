"""Which folders of the host a lab can have under their own path."""

from __future__ import annotations

from pathlib import Path

# No folder of the host may hide what the image has there, or below.
SYSTEM_FOLDERS = ["/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr", "/opt/slownet",
                  "/var/lib/slownet"]  # fmt: skip


def hides(folder: Path) -> bool:
    """Whether that folder of the host would hide one that the lab needs, or contain it."""
    if any(folder.is_relative_to(each) or Path(each).is_relative_to(folder) for each in SYSTEM_FOLDERS):
        return True
    return str(folder) in ("/root", "/tmp") or (folder.is_relative_to("/var") and len(folder.parts) < 4)
