"""The images of the shop, made of Debian packages once a machine: `python kept_images.py`."""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from slownet.containers import store
from slownet.lab.build import distribution
from slownet.lab.build.image import squash

LEFT_OUT = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/info/*")
IMAGES = {
    "localhost/slownet-test/web:1": ["python3-minimal", "python3-psycopg2", "python3-redis"],
    "localhost/slownet-test/postgres:1": ["postgresql"],
    "localhost/slownet-test/redis:1": ["redis-server"],
}


def keep() -> None:
    """Keep all of them; each takes a minute or two where it is not kept yet."""
    for name, packages in IMAGES.items():
        if store.find(name) is None:
            _make(name, packages)


def _make(name: str, packages: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="slownet-image-") as folder:
        tar = Path(folder, "root.tar")
        subprocess.run(
            [
                "mmdebstrap", "--quiet", "--variant=minbase", "--format=tar", f"--include={','.join(packages)}",
                *(f"--dpkgopt=path-exclude={each}" for each in LEFT_OUT), distribution.IMAGE.suite, tar,
            ],
            check=True, cwd="/",
        )  # fmt: skip
        with tar.open("rb") as file:
            layer = hashlib.file_digest(file, "sha256").hexdigest()
        layers = {"type": "layers", "diff_ids": [f"sha256:{layer}"]}
        text = json.dumps({"architecture": "amd64", "os": "linux", "config": {}, "rootfs": layers}).encode()

        def build(into: Path) -> None:
            with tar.open("rb") as file:
                subprocess.run(squash(into / store.SQUASHFS), stdin=file, check=True)

        store.add(f"sha256:{hashlib.sha256(text).hexdigest()}", text, build, names=[name], source=" ".join(packages))


if __name__ == "__main__":
    keep()
