"""The parts of an exact lab: those of every lab, but Debian's kernel, and the image in the shape of a memory device."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from slownet.lab.build import cache, kernel_package
from slownet.lab.build.digests import Part
from slownet.lab.build.kernel_package import Kernel
from slownet.lab.build.shelf import Shelf
from slownet.lab.exact import emulator, exact
from slownet.lab.run.clock import Clock
from slownet.lab.run.lab import MEGABYTES, Share
from slownet.model.options import CLOCK

if TYPE_CHECKING:
    from slownet.lab.build.parts import Parts

IMAGE = "image.pmem"
PART = Part("the image of exact labs", (IMAGE,), fix=CLOCK.in_command("lab exec", "exact true"))
SHELF: Shelf[Path] = Shelf("exact-image", PART, lambda folder: folder / IMAGE)


@dataclass(frozen=True)
class ExactParts:
    """Debian's kernel, and the image as a memory device."""

    kernel: Kernel
    image: Path


def need(parts: Parts) -> ExactParts:
    """Return the parts; make them if none exist, the first time (half a minute). Raises LabError, without QEMU too."""
    emulator.program()
    found = kernel_package.find()
    if not found:
        sys.stderr.write("slownet: fetching Debian's kernel for exact labs (35 MB), once ...\n")
        found = kernel_package.build()
    return ExactParts(found, SHELF.make(key(parts), partial(_copy, parts.image.path)))


def key(parts: Parts) -> str:
    """Return what the image is kept under."""
    return cache.key(parts.image.key, str(emulator.ALIGNED))


def _copy(image: Path, folder: Path) -> None:
    size = emulator.aligned(image.stat().st_size)
    cache.need_space(folder, size >> 20, "making the image of exact labs")
    shutil.copyfile(image, folder / IMAGE)
    os.truncate(folder / IMAGE, size)


def lab(parts: Parts, clock: Clock, *, megabytes: int = MEGABYTES, shares: Sequence[Share] = ()) -> exact.ExactLab:
    """Return an exact lab of these parts, not yet booted. Raises LabError."""
    own = need(parts)

    def verify() -> None:
        kernel_package.SHELF.load(own.kernel.path.parent, full=True)
        SHELF.load(own.image.parent, full=True)
        parts.verify()

    return exact.ExactLab(
        kernel=own.kernel, init=parts.tools / "init.cpio", confine=parts.tools / "confine", image=own.image,
        layer=parts.layer.path if parts.layer else None, clock=clock, megabytes=megabytes, shares=shares, verify=verify,
    )  # fmt: skip
