"""Boots a kernel that was just built, before it is kept: a program in a lab of it has to run and end."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from pathlib import Path

from slownet.lab.build import cache, image, init
from slownet.lab.build.kernel import Kernel
from slownet.lab.run.boot import LEAST_MEGABYTES, Lab
from slownet.lab.run.clock import Clock
from slownet.model.errors import LabError

PROGRAM = "/probe"
FOLDERS = ("dev", "run")


def boot(built: Kernel) -> None:
    """Boot a kernel with an image that holds one program. Raises LabError if the kernel dies or the program fails."""
    tools = init.build()
    with tempfile.TemporaryDirectory(dir=built.path.parent) as name:
        root = Path(name) / "image.squashfs"
        _squash(tools / "probe", root)
        lab = Lab(
            kernel=built.path, init=tools / "init.cpio", confine=tools / "confine", image=root,
            kernel_arguments=built.arguments, clock=Clock("virtual"), megabytes=LEAST_MEGABYTES,
        )  # fmt: skip
        try:
            status = lab.run([PROGRAM, "nothing"])
        except LabError as error:
            raise LabError(f"{built.release} was built and does not boot: {error.what}", fix=error.fix) from error
    if status:
        raise LabError(f"{built.release} was built and boots, but programs fail in it (status {status})")


def _squash(program: Path, target: Path) -> None:
    """Make an image of one program and the folders that init needs."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for name in FOLDERS:
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(folder)
        tar.add(program, PROGRAM.lstrip("/"))
    with cache.start(image.squash(target), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as squash:
        said = squash.communicate(data.getvalue())[1].decode(errors="replace")
    if squash.returncode:
        raise LabError(f"cannot make an image ({squash.returncode}): {said.strip()}")
