"""Copies what a wheel can carry of a built lab to a folder: kernel and init, programs for any Linux on this processor.

The image is not among them: it is ten times as large as all the rest, and Debian's mirrors have it in packages, which are newer
each month. See `make wheel` and setup.py.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from slownet.errors import LabError, SlownetError
from slownet.lab import init, kernel
from slownet.transfer.sources import SOURCES, of_init, of_kernel

TEXT = """\
The programs in this folder are free software. Their source code:

kernel  {kernel}
        The patches and the configuration are in this package too, in lab/linux; the configuration that was used is the file
        `config` beside the kernel, if it is there. The licence is GPL-2.0-only.
init    {init}
        The C files are in this package too, in lab. The licences are GPL-2.0-or-later, and LGPL-2.1-or-later for glibc.

The source packages are in Debian's archive and in its snapshots of earlier days.
"""


def make(into: Path) -> None:
    """Fill a folder, which must not exist yet. Raises LabError if the kernel was not built."""
    found = kernel.find()
    if not found:
        raise LabError("the lab is not built on this machine, or not for this version", fix="slownet lab build")
    for kind, folder in (("kernel", found.path.parent), ("init", init.build())):
        shutil.copytree(folder, into / kind / folder.name, ignore=shutil.ignore_patterns("*.log", "init"))
    (into / SOURCES).write_text(TEXT.format(kernel=of_kernel(found), init=of_init()))


if __name__ == "__main__":
    try:
        make(Path(sys.argv[1]))
    except SlownetError as error:
        sys.exit(f"slownet: {error}")
