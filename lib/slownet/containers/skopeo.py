"""Images of registries and of other programs' stores, through skopeo: it knows registries.conf, logins and proxies."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from slownet.containers import oci_layout, streams
from slownet.containers.blob_source import MOST_JSON, Folder
from slownet.containers.config import ARCHITECTURE, OS
from slownet.containers.image_source import Source
from slownet.containers.layers import Layer
from slownet.lab.build import cache
from slownet.model.errors import ImageError

TRANSPORTS = ("docker", "containers-storage", "docker-daemon", "ostree", "sif", "tarball")
"""Those that are left to skopeo, of `skopeo copy --help` and containers-transports(5)."""
PROGRAMS = {"skopeo": "skopeo"}
PLATFORM = ("--override-os", OS, "--override-arch", ARCHITECTURE)
HINTS = (
    ("server gave HTTP response to HTTPS client", "the registry has no TLS: --no-tls-verify"),
    ("x509:", "trust its certificate, or --no-tls-verify"),
    ("no such host", "check the registry's name and the network"),
    ("connection refused", "check the registry's name and port"),
    ("unauthorized", "skopeo login REGISTRY, or check the image's name"),
    ("denied", "skopeo login REGISTRY, or check the image's name"),
    ("manifest unknown", "check the image's name and tag"),
    ("no image found in manifest list", f"build it for --platform {OS}/{ARCHITECTURE}"),
    ("no space left on device", "free space, or set XDG_CACHE_HOME to a folder on another disk"),
)


def source(reference: str, tls_verify: bool = True) -> Source:
    """Return the image of ``docker://shop:1`` or another transport's; its layers are fetched later. Raises ImageError."""
    cache.need_programs(PROGRAMS, f"fetching {reference}")
    verify = () if tls_verify else ("--tls-verify=false",)
    text = _run(reference, ["inspect", *verify, "--config", "--raw", reference])
    digest = streams.digest(text)

    def fetch(work: Path) -> Sequence[Layer]:
        folder = work / "fetched"
        source_verify = ("--src-tls-verify=false",) if verify else ()
        # A folder takes manifest, configuration and layers as they are; an OCI layout would lose Docker's health check.
        _run(reference, ["copy", "--quiet", *source_verify, reference, f"dir:{folder}"], work)
        found = oci_layout.folder_source(Folder(folder))
        if found.digest != digest:
            raise ImageError(f"{reference} changed while it was fetched", fix="add it again")
        return found.layers(work)

    name, _, pinned = reference.removeprefix("docker://").partition("@")
    own = [name] if reference.startswith("docker://") else []
    return Source(text, digest, fetch, own, [pinned] if pinned else [])


def _run(reference: str, words: Sequence[str], work: Path | None = None) -> bytes:
    """Run skopeo; return its output. Raises ImageError with its own words."""
    argv = ["skopeo", *PLATFORM, *(("--tmpdir", str(work)) if work else ()), *words]
    with tempfile.TemporaryFile() as errors, cache.start(argv, stdout=subprocess.PIPE, stderr=errors) as process:
        assert process.stdout
        with process.stdout as pipe:
            output = pipe.read(MOST_JSON + 1)
        if len(output) > MOST_JSON:
            process.kill()
            raise ImageError(
                f"the configuration of {reference} is larger than {MOST_JSON >> 20} MiB", fix="build it with a smaller one"
            )
        if process.wait() == 0:
            return bytes(output)
        errors.seek(0)
        text = errors.read().decode(errors="replace")
    said = re.search(r'level=fatal msg=("(?:[^"\\]|\\.)*"|\S+)', text)
    why = re.sub(r"\\(.)", r"\1", said[1].strip('"')) if said else " ".join(text.split()[-40:])
    why = re.sub(r'^Error parsing image name "[^"]*": ', "", why)  # it is not the name that is wrong
    fix = next((fix for sign, fix in HINTS if sign in why), "")
    raise ImageError(f"skopeo cannot read {reference}: {why}", fix=fix)
