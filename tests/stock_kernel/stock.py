"""Debian 13's own kernel and what else a guest needs besides the lab's image, built once per machine from Debian's packages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.lab.build import cache, debian, distribution
from slownet.lab.build.image import LEFT_OUT

HERE = Path(__file__).parent
RECIPE = HERE / "recipe"
# busybox and kmod go into the initramfs, which initramfs-tools builds when the kernel is installed; sudo is for the guest.
PACKAGES = ["linux-image-amd64", "initramfs-tools", "busybox", "kmod", "sudo"]
PROGRAMS = {**debian.PROGRAMS, "tar2sqfs": "squashfs-tools-ng"}
MEGABYTES = 1500
WHAT = "fetching Debian's kernel"


@dataclass(frozen=True)
class Stock:
    """Debian's kernel, its initramfs, and a layer with its modules: files in one folder."""

    folder: Path

    @property
    def release(self) -> str:
        return (self.folder / "release").read_text().strip()

    @property
    def kernel(self) -> Path:
        return self.folder / "vmlinuz"

    @property
    def initramfs(self) -> Path:
        return self.folder / "initrd.img"

    @property
    def layer(self) -> Path:
        return self.folder / "layer.squashfs"


def build() -> Stock:
    """Return the kernel; fetch it if necessary (about a minute). Raises LabError."""
    inputs = [RECIPE, *sorted((HERE / "initramfs").iterdir())]
    return Stock(cache.make("stock-kernel", cache.key(distribution.IMAGE.suite, *PACKAGES, *inputs), _build))


def _build(folder: Path) -> None:
    cache.need_programs(PROGRAMS, WHAT)
    cache.need_space(cache.root(), MEGABYTES, WHAT)
    log = folder / "stock-kernel.log"
    mmdebstrap: Sequence[str | Path] = [
        "mmdebstrap", "--variant=essential", "--format=null", f"--include={','.join(PACKAGES)}",
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT),
        f'--essential-hook="{RECIPE}" before "$1"', f'--customize-hook="{RECIPE}" after "$1"',
        f"--customize-hook=sync-out /guest {folder}", distribution.IMAGE.suite, "/dev/null",
    ]  # fmt: skip
    cache.run(mmdebstrap, log, WHAT, cwd=Path("/"), hints=debian.HINTS)
    with (folder / "layer.tar").open("rb") as layer, log.open("ab") as output:
        squash = ["tar2sqfs", "--quiet", "--force", "--compressor", "zstd", folder / "layer.squashfs"]
        with cache.start(squash, stdin=layer, stdout=output, stderr=output) as process:
            status = process.wait()
    if status:
        raise cache.failure(WHAT, status, log, debian.HINTS)
    (folder / "layer.tar").unlink()
