"""The first member of an exported lab: what it was built for, and each further member's size and SHA-256."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from slownet.lab.build import parts
from slownet.model import userfile
from slownet.model.errors import LabError
from slownet.model.version import __version__

NAME = "manifest.json"
FORMAT = 1
KINDS = ("containers", "layer", "kernel", "init", "image")
"""Folders of the cache, in the order an import puts them in place: a lab counts as built once its image exists."""
MEMBER = re.compile(rf"(?P<folder>(?:{'|'.join(KINDS)})/[A-Za-z0-9-]+)/[A-Za-z0-9_][A-Za-z0-9._-]*")
DIGEST = re.compile(r"[0-9a-f]{64}")
AGAIN = "export or copy it again; nothing was imported"


@dataclass(frozen=True)
class Member:
    """One file of the cache."""

    name: str
    """Its path in the cache: kind/key/file."""
    size: int
    sha256: str
    executable: bool = False

    @property
    def mode(self) -> int:
        """Its permissions: everyone may read it."""
        return 0o755 if self.executable else 0o644


@dataclass(frozen=True)
class Manifest:
    """The manifest of an exported lab."""

    members: Sequence[Member]
    keys: Mapping[str, str]
    """The keys of its kernel, image and init."""
    sources: Mapping[str, str]
    """The places of the source code of the programs in it, as their licences require."""
    slownet: str = __version__
    machine: str = platform.machine()
    format: int = FORMAT

    @property
    def folders(self) -> list[str]:
        """The folders of its members, kind/key, in the order they are put in place."""
        found = dict.fromkeys(each.name.rpartition("/")[0] for each in self.members)
        return sorted(found, key=lambda each: KINDS.index(each.partition("/")[0]))

    def digests(self, folder: str) -> dict[str, str]:
        """Return the SHA-256 of the files of one of the folders, by their names."""
        parted = ((*each.name.rpartition("/")[::2], each.sha256) for each in self.members)
        return {name: sha256 for its, name, sha256 in parted if its == folder}

    @property
    def size(self) -> int:
        """Bytes of all members."""
        return sum(each.size for each in self.members)

    def text(self) -> bytes:
        """Return it as JSON, the same bytes for the same content."""
        return (json.dumps(asdict(self), indent=1, sort_keys=True) + "\n").encode()

    def check(self, where: str) -> None:
        """Raise LabError unless this machine and this version of slownet can use the lab."""
        if self.machine != platform.machine():
            raise LabError(
                f"this lab is for {self.machine}, and this machine is {platform.machine()}",
                where,
                "export it on such a machine",
            )
        ours = parts.keys()
        other = [kind for kind in ours if self.keys[kind] != ours[kind]]
        if other:
            what = f"this lab is of slownet {self.slownet}; slownet {__version__} here needs another {', '.join(other)}"
            raise LabError(what, where, "export it again with this version")


def parse(text: bytes, where: str) -> Manifest:
    """Return the manifest from its JSON. Raises LabError."""
    try:
        data = userfile.json(text)
        if data["format"] > FORMAT:
            raise LabError(f"this lab was exported by slownet {data['slownet']}, which is newer", where, "install that version")
        members = [Member(**each) for each in data.pop("members")]
        found = Manifest(members, **data)
        if not members or not _is_sound(found):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LabError("its manifest cannot be read", where, AGAIN) from error
    return found


def _is_sound(found: Manifest) -> bool:
    names = [each.name for each in found.members]
    numbers: list[Any] = [each.size for each in found.members]
    return (
        len(set(names)) == len(names)
        and all(MEMBER.fullmatch(each) for each in names)
        and all(DIGEST.fullmatch(each.sha256) for each in found.members)
        and all(isinstance(each, int) and each >= 0 for each in numbers)
        and all(f"{kind}/{key}" in found.folders for kind, key in found.keys.items())
        and set(found.keys) == set(parts.keys())
    )
