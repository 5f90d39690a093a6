"""The Debian releases that a lab is made of and runs on: all that depends on a release is a field of one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Distribution:
    """A release of Debian."""

    number: int
    suite: str
    python: str
    """The version of its Python, as pip names it."""
    linux: str
    """The version of its own kernel, without those of security updates."""
    qemu: tuple[int, int]

    @property
    def title(self) -> str:
        """Its name in sentences."""
        return f"Debian {self.number}"

    @property
    def backports(self) -> str:
        """The suite of later versions for it."""
        return f"{self.suite}-backports"

    @property
    def cloud_kernels(self) -> str:
        """Apt's pattern for the names of its own kernels for virtual machines, one a security update."""
        return f"^linux-image-{self.linux.replace('.', '[.]')}[.][0-9.]*[+]deb{self.number}-cloud-amd64$"

    @property
    def vagrant_boxes(self) -> tuple[str, str]:
        """The boxes of Vagrant with it: Debian's own, and one for VirtualBox, where Debian publishes none."""
        return f"debian/{self.suite}64", f"bento/debian-{self.number}"


IMAGE = Distribution(13, "trixie", python="3.13", linux="6.12", qemu=(10, 0))
"""The release of a lab's image, and of the kernel of exact labs."""
HOSTS = (Distribution(12, "bookworm", python="3.11", linux="6.1", qemu=(7, 2)), IMAGE)
"""The releases of hosts that build and run labs."""
SOURCES = "^linux-source-[0-9]"
"""Apt's pattern for the names of Debian's packages of kernel source, of any release."""
