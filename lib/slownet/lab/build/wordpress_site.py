"""The database and compiled pages of the image's WordPress site as one compressed tar, so that a wheel can carry them.

A lab takes minutes to make them, with the programs of the image. They fit into any image of the same programs.
"""

from __future__ import annotations

import errno
import lzma
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from slownet.lab.build import cache
from slownet.lab.build.digests import Part
from slownet.lab.build.shelf import Shelf
from slownet.model.errors import LabError

KIND = "site"
"""The kind of the folders of a wheel that hold one; see `slownet.transfer.bundle`."""
NAME = "site.tar.xz"
SHELF: Shelf[Path] = Shelf(
    KIND, Part("the WordPress site of the wheel", (NAME,), "install slownet again"), lambda folder: folder
)
ACCOUNTS = ("passwd", "group")
"""Files of /etc with the numbers of users and groups."""
QUICK, SMALL = 1, 9
"""Presets of xz: for an image, which every machine builds, and for a wheel, which is made once and downloaded often."""


def key(image: str, packages: Mapping[str, str], accounts: Iterable[Path]) -> str:
    """Return what a site is kept under: a hash of everything that determines its files.

    The kernel of the lab that made them is not part of it: it runs the programs, and none of it is in their files.

    Parameters
    ----------
    image : str
        The image's key, which stands for make-site, same-random, provision and slownet's files for WordPress.
    packages : mapping
        Versions of all packages of the image. Those of WordPress, MariaDB and PHP alone would not do: their libraries, shell
        and tar make the files too, and a package that is not involved can still change the order users are made.
    accounts : iterable of Path
        The image's `ACCOUNTS`: the tar has numbers of owners, and apt of another release may make users in another order.
    """
    return cache.key(image, *(f"{name} {version}" for name, version in sorted(packages.items())), *accounts)


def find(name: str) -> Path | None:
    """Return the compressed site of that key, which a wheel brought, or None."""
    folder = cache.found(KIND, name)
    return folder / NAME if folder else None


def pack(tar: Path, into: Path, preset: int) -> None:
    """Compress a site. The same tar gives the same bytes: an xz file has neither date nor name."""
    with tar.open("rb") as source, lzma.open(into, "wb", check=lzma.CHECK_SHA256, preset=preset) as packed:
        shutil.copyfileobj(source, packed)


def unpack(packed: Path, into: Path) -> None:
    """Write a compressed site as a plain tar. Raises LabError if it is damaged, by its SHA-256."""
    try:
        if not packed.is_file():
            raise FileNotFoundError(errno.ENOENT, "the file is missing", str(packed))
        with lzma.open(packed) as source, into.open("wb") as tar:
            shutil.copyfileobj(source, tar)
    except (lzma.LZMAError, EOFError, FileNotFoundError, PermissionError) as error:
        fix = f"remove {packed.parent} and run slownet lab build"
        raise LabError(f"the WordPress site is damaged ({error})", str(packed), fix) from error
