"""A root file system in memory, without the files' contents: layers are applied to it by the OCI specification.

Source: OCI Image Format Specification, layer.md ("Applying Changesets", "Whiteouts", "Hardlinks"). Paths are resolved inside
the root, as in a chroot: a symbolic link in a path cannot lead out of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from slownet.model.errors import ImageError

MOST_LINKS = 40
"""Symbolic links in one path, as in Linux."""


class Kind(Enum):
    """Kinds of nodes."""

    FOLDER = "folder"
    FILE = "file"
    LINK = "symbolic link"
    FIFO = "FIFO"


@dataclass
class Node:
    """A file or folder. A file with several names is one node with several parents."""

    kind: Kind
    mode: int = 0o755
    uid: int = 0
    gid: int = 0
    mtime: int = 0
    xattrs: Mapping[str, str] = field(default_factory=dict)
    """Values are text with surrogate escapes, as `tarfile` reads them."""
    target: str = ""
    """The target of a symbolic link."""
    size: int = 0
    origin: tuple[int, int] = (0, 0)
    """The place of a file's content: the layer's number, and the member's number in it."""
    children: dict[str, Node] = field(default_factory=dict)


Path = tuple[str, ...]


@dataclass(frozen=True)
class HardLink:
    """Another name of a file that exists already."""

    target: Path


Entry = tuple[Path, Node | HardLink]


@dataclass(frozen=True)
class Changes:
    """The changes of one layer: first those that remove from the layers below, then those that add."""

    entries: Sequence[Entry]
    removed: Sequence[Path] = ()
    opaque: Sequence[Path] = ()
    """Folders whose contents are left out."""
    where: str = ""
    """The name in error messages."""


class Tree:
    """The files of all layers so far."""

    def __init__(self) -> None:
        self.root = Node(Kind.FOLDER)

    def apply(self, changes: Changes) -> None:
        """Apply a layer. Raises ImageError; the tree is then not to be used."""
        where = changes.where
        for path in changes.opaque:
            folder = self._folder(path, where, make=False)
            if folder:
                folder.children.clear()
        for path in changes.removed:
            folder = self._folder(path[:-1], where, make=False)
            if folder:
                folder.children.pop(path[-1], None)
        for path, each in changes.entries:
            self._add(path, each, where)

    def _add(self, path: Path, each: Node | HardLink, where: str) -> None:
        node = self._linked(each.target, path, where) if isinstance(each, HardLink) else each
        if not path:
            if node.kind is not Kind.FOLDER:
                raise ImageError(f"the root is a {node.kind.value}", where=where)
            node.children, self.root = self.root.children, node
            return
        folder = self._folder(path[:-1], where, make=True)
        assert folder
        before = folder.children.get(path[-1])
        if before and before.kind is node.kind is Kind.FOLDER:
            node.children = before.children
        folder.children[path[-1]] = node

    def _linked(self, target: Path, path: Path, where: str) -> Node:
        folder = self._folder(target[:-1], where, make=False) if target else None
        found = folder.children.get(target[-1]) if folder else None
        if not found or found.kind is Kind.FOLDER:
            what = "a folder" if found else "missing"
            raise ImageError(f"the hard link {'/'.join(path)} points to {'/'.join(target)}, which is {what}", where=where)
        return found

    def _folder(self, path: Path, where: str, *, make: bool) -> Node | None:
        """Return the folder of a path, through symbolic links; make what is missing, or return None."""
        trail, ahead, links = [self.root], list(reversed(path)), 0
        while ahead:
            part = ahead.pop()
            if part in ("", "."):
                continue
            if part == "..":  # of a link's target: it ends at the root, as in a chroot
                trail = trail[:-1] or trail
                continue
            child = trail[-1].children.get(part)
            if child is None and make:
                child = trail[-1].children[part] = Node(Kind.FOLDER)
            if child is not None and child.kind is Kind.LINK:
                links += 1
                if links > MOST_LINKS:
                    raise ImageError(f"the path {'/'.join(path)} goes through too many symbolic links", where=where)
                trail = trail[:1] if child.target.startswith("/") else trail
                ahead.extend(reversed(child.target.split("/")))
            elif child is not None and child.kind is Kind.FOLDER:
                trail.append(child)
            elif make:
                raise ImageError(f"something is below {'/'.join(path)}, which is not a folder", where=where)
            else:
                return None
        return trail[-1]

    def walk(self) -> Iterator[tuple[Path, Node]]:
        """Yield every path and its node, folders before what is in them, sorted by name."""
        stack: list[tuple[Path, Node]] = [((), self.root)]
        while stack:
            path, node = stack.pop()
            yield path, node
            stack.extend(((*path, name), node.children[name]) for name in sorted(node.children, reverse=True))
