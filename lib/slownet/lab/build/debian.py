"""Downloads from Debian's archive through mmdebstrap, which knows the mirror and needs no root."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from slownet.lab.build import cache, distribution
from slownet.model.errors import LabError

PROGRAMS = {"mmdebstrap": "mmdebstrap", "newuidmap": "uidmap", "dpkg-deb": "dpkg", "xz": "xz-utils"}

NO_MIRROR = (
    "Debian's mirror cannot be reached: check the network and apt's proxy settings, then try again; nothing unfinished was kept"
)
NO_SPACE = (
    "No space left on device",
    "the disk is full: free space, or set TMPDIR and XDG_CACHE_HOME to folders on another disk",
)
HINTS = (
    ("Temporary failure resolving", NO_MIRROR),
    ("Could not resolve", NO_MIRROR),
    ("Could not connect", NO_MIRROR),
    ("Connection failed", NO_MIRROR),
    ("Unable to connect", NO_MIRROR),
    ("connection timed out", NO_MIRROR),
    ("Failed to fetch", NO_MIRROR),
    NO_SPACE,
    (
        "NO_PUBKEY",
        f"the host does not know {distribution.IMAGE.title}'s keys: apt-get install --only-upgrade debian-archive-keyring",
    ),
    (
        "subuid",
        "your account has no subordinate ids: sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $USER",
    ),
)


def download(package_pattern: str, rank: int, into: Path, log: Path) -> Path:
    """Download one package from the suite or its backports whose name matches an (apt) regular expression.

    `rank`: 1 for the newest, 2 for the one before it, and so on. Returns the path of the .deb file, in `into`. Raises LabError,
    also if fewer packages match.
    """
    cache.need_programs(PROGRAMS, "fetching Debian packages")
    names = f"apt-cache search --names-only '{package_pattern}' | cut -d' ' -f1 | sort -Vr | sed -n {rank}p"
    # In an ordinary user's namespace the hooks run as another user: only copy-out can write to the folder.
    fetch = (
        f'cd "$1" && mkdir deb && cd deb && export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" && name=$({names}) && '
        '{ [ -z "$name" ] || apt-get -q -o APT::Sandbox::User=root download "$name"; }'
    )
    argv: Sequence[str | Path] = [
        "mmdebstrap", "--variant=custom", "--format=null",
        f"--setup-hook={_add_backports()}", f"--customize-hook={fetch}", f"--customize-hook=copy-out /deb {into}",
        distribution.IMAGE.suite, "/dev/null",
    ]  # fmt: skip
    cache.run(argv, log, "fetching Debian packages", cwd=Path("/"), hints=HINTS)
    found = list((into / "deb").glob("*.deb"))
    if not found:
        raise LabError(f"Debian's archive has fewer than {rank} packages that match {package_pattern}")
    return found[0].rename(into / found[0].name)


def _add_backports() -> str:
    """Return a command that derives the line of backports from the line that mmdebstrap wrote for the suite."""
    suite, lists = distribution.IMAGE, "$1/etc/apt/sources.list"
    return f'sed -n "s/ {suite.suite} main/ {suite.backports} main/p" "{lists}" > "{lists}.d/backports.list"'


def download_missing(packages: Sequence[str], status: Path, into: Path, log: Path) -> list[Path]:
    """Download packages and their dependencies, without those that are installed according to a dpkg status file.

    Returns the paths of the .deb files, in `into`. Raises LabError.
    """
    cache.need_programs(PROGRAMS, "fetching Debian packages")
    fetch = (
        'cd "$1" && mkdir deb && export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" && '
        "apt-get -q -y -o APT::Sandbox::User=root --no-install-recommends --download-only install "
        f"{shlex.join(packages)} && find var/cache/apt/archives -name '*.deb' -exec mv -t deb {{}} +"
    )
    there, here = shlex.quote(str(into)), shlex.quote(str(status))
    argv: Sequence[str | Path] = [
        "mmdebstrap", "--variant=custom", "--format=null", f"--customize-hook=upload {here} /var/lib/dpkg/status",
        f"--customize-hook={fetch}", f"--customize-hook=copy-out /deb {there}", distribution.IMAGE.suite, "/dev/null",
    ]  # fmt: skip
    cache.run(argv, log, "fetching Debian packages", cwd=Path("/"), hints=HINTS)
    return sorted((into / "deb").glob("*.deb"))
