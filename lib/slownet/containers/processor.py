"""What processor the programs of a root file system are for, where no configuration states it."""

from __future__ import annotations

import tarfile

from slownet.containers.config import ARCHITECTURE, OS, Config, check_platform
from slownet.containers.layers import Archive

HEADER = 20
MACHINES = {
    3: "386",
    8: "mips",
    21: "ppc64",
    22: "s390x",
    40: "arm",
    62: ARCHITECTURE,
    183: "arm64",
    243: "riscv",
    258: "loong64",
}
"""ELF's e_machine (elf.h) in the words of OCI."""


class Machines:
    """The processors of the programs that it was shown."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        """A program of each."""

    def look(self, archive: Archive, member: tarfile.TarInfo) -> None:
        """Look at a file if it is executable."""
        if not member.mode & 0o111 or member.size < HEADER:
            return
        start = archive.content(member).read(HEADER)
        if start.startswith(b"\x7fELF"):
            number = int.from_bytes(start[18:20], "big" if start[5] == 2 else "little")
            self.found.setdefault(MACHINES.get(number, f"machine {number}"), member.name)

    def check(self, where: str) -> None:
        """Raise ImageError if there are programs, and none for a lab's processor."""
        if self.found and ARCHITECTURE not in self.found:
            name, program = next(iter(self.found.items()))
            check_platform(Config(name, OS), f"{where} ({program})")
