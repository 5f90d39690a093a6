"""Mounts of a container besides its image: folders and files of the lab, volumes, memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from slownet.model.errors import ImageError, nearest

BIND, TMPFS, VOLUME = KINDS = ("bind", "tmpfs", "volume")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Mount:
    """A folder or file in a container.

    Parameters
    ----------
    source : str or Path
        Of a bind, a path of the lab, which `--share` brings there; of a volume, its name, or nothing for one that no other
        container has. A tmpfs has none.
    target : str
        The path in the container; made if the image lacks it.
    kind : str
        ``"bind"``; ``"volume"``: a folder in memory that begins with what the image has at that path, and lasts as long as
        the network if it has a name, else as long as the container; ``"tmpfs"``: an empty one.
    read_only : bool
        Whether the container may only read it.
    subpath : str
        Of a volume with a name: the folder in it that is mounted; a container has made it by then.
    copies : bool
        Whether an empty volume begins with what the image has at the target.
    options : sequence of str
        Of a tmpfs: mount options, such as ``size=64m`` or ``mode=1777``.

    Raises
    ------
    ImageError
        No such kind, or a path or name is not usable.
    """

    source: str | Path
    target: str
    kind: str = BIND
    read_only: bool = False
    subpath: str = ""
    copies: bool = True
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        where = f"the mount at {self.target}"
        if self.kind not in KINDS:
            raise ImageError(f"unknown kind '{self.kind}'", where, nearest(self.kind, KINDS))
        path = PurePosixPath(self.target)
        if not path.is_absolute() or ".." in path.parts or len(path.parts) < 2:
            raise ImageError(f"'{self.target}' is not a path in a container", where, "write a whole path such as /data")
        if self.kind == BIND and not str(self.source):
            raise ImageError("a bind has no source", where, "name a folder or file of the lab")
        if self.kind == TMPFS and str(self.source):
            raise ImageError(f"a tmpfs is empty, and has no source '{self.source}'", where, "leave the source out")
        if self.kind == VOLUME and str(self.source) and not _NAME.fullmatch(str(self.source)):
            raise ImageError(f"'{self.source}' is not a name of a volume", where, "use letters, digits, '.', '_' and '-'")
        if self.subpath and not (self.kind == VOLUME and str(self.source)):
            raise ImageError("only a volume with a name has a subpath", where, "leave it out")
        if self.options and self.kind != TMPFS:
            raise ImageError("only a tmpfs has options", where, "leave them out")

    @property
    def path(self) -> PurePosixPath:
        """The target without double slashes."""
        return PurePosixPath("/", *PurePosixPath(self.target).parts[1:])


def complete(mounts: Sequence[Mount], volumes: Sequence[str], where: str = "") -> list[Mount]:
    """Return mounts, outer ones first, and nameless volumes for those of an image's volumes that none of them is at.

    Raises ImageError for two at the same path.
    """
    taken: set[PurePosixPath] = set()
    for each in mounts:
        if each.path in taken:
            raise ImageError(f"two mounts are at {each.path}", where, "leave one of them out")
        taken.add(each.path)
    own = [Mount("", path, VOLUME) for path in volumes]
    found = [*mounts, *(each for each in own if each.path not in taken)]
    return sorted(found, key=lambda each: (len(each.path.parts), str(each.path)))
