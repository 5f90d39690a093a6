"""Builds the lab's root file system: Debian with the experiments' programs, as one squashfs file.

A squashfs preserves file owners and modes even without root, and is a single file to copy to a cluster's workers. What servers
write, the database and compiled pages of the WordPress site, would never be the same twice: it is made in a lab of the rest,
where the date is fixed and the CPU is free, unless a wheel brought what such a lab made of the same packages.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Protocol

from slownet.lab.build import cache, debian, digests, distribution, wheels, wordpress_site
from slownet.lab.build.digests import NUMBER, TABLE, Part
from slownet.lab.build.shelf import Shelf
from slownet.lab.run import excerpt
from slownet.lab.run.lab import Share, Sink
from slownet.lab.run.outbox import LARGEST, Outbox
from slownet.model.errors import LabError

HERE = Path(__file__).parent
PROVISION = ["packages.txt", "provision", "make-site", "same-random", "wordpress"]
PROGRAMS = {**debian.PROGRAMS, "tar2sqfs": "squashfs-tools-ng"}
MEGABYTES = 4000
SITE_MEMORY = 1536
"""MB of memory of the lab that makes the WordPress site: three quarters of it are its disk."""
KIT, SITE, OUT = "/opt/slownet/kit", "/run/kit", "/run/out"
WHAT = "building the lab's image"
# Each lab decompresses about 150 MB of the image: LZ4 takes a third less time for that than zstd, and 200 MB more disk.
COMPRESSOR = "lz4"
ON_THE_HOST = ("pyyaml",)
"""Host-only requirements: a lab never reads compose files."""
FILES_UNTIL = 1767225600  # 2026-01-01
"""No file of the image is dated later, so that two builds of the same packages have the same bytes."""
NO_CLUSTER = """
    mkdir -p "$1/etc/postgresql-common/createcluster.d"
    echo "create_main_cluster = false" >"$1/etc/postgresql-common/createcluster.d/slownet.conf"
"""
"""PostgreSQL's package would make a cluster that no lab uses, with random numbers in it."""


class AnyLab(Protocol):
    """A lab of any kernel that runs one command."""

    def run(self, argv: Sequence[str], *, stdout: Sink, stderr: Sink, wall_clock: int) -> int: ...


Boot = Callable[[Path, int, Sequence[Share]], AnyLab]
Say = Callable[[str], None]
UNUSED = [
    "/etc/varnish/secret",
    "/var/lib/mysql/*",
    "/etc/ssl/private/ssl-cert-snakeoil.key",
    "/etc/ssl/certs/ssl-cert-snakeoil.pem",
    "/etc/openvswitch-testcontroller/*",
    "/var/lib/openvswitch/pki/*",
    "/var/log/openvswitch/ovs-pki.log",
    "/etc/ssh/ssh_host_*",
]
"""Files with random contents that packages write during installation and services of a lab do not use."""
LEFT_OUT = [
    *(f"/usr/share/{each}/*" for each in ("man", "doc", "locale", "info", "lintian")),
    # what PostgreSQL would compile queries with
    *("/usr/lib/*/libLLVM*", "/usr/lib/*/libz3*", "/usr/lib/postgresql/*/lib/bitcode/*", "/usr/lib/postgresql/*/lib/llvmjit*"),
]


@dataclass(frozen=True)
class Image:
    """A built image: one squashfs file, and the WordPress site in it once more, for `make wheel`."""

    path: Path
    key: str
    packages: dict[str, str]
    built: int  # seconds since 1970
    site_key: str | None = None  # None: the image is of a version that did not keep the site

    @property
    def description(self) -> str:
        return f"{distribution.IMAGE.title} ({distribution.IMAGE.suite}), {self.key}"

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the relevant packages, {package: version}."""
        return _relevant(self.packages)

    @property
    def site(self) -> Path:
        """The path of the compressed site, if `site_key` is set."""
        return self.path.with_name(wordpress_site.NAME)


def requirements() -> list[str]:
    """Return the project's requirements and its extra "lab" (PEP 508), without those of the host and of Debian's packages."""
    left_out = {*packages(), *ON_THE_HOST}
    stated = (each.partition(";") for each in metadata.requires("slownet") or [])
    wanted = {name.strip() for name, _, marker in stated if "extra ==" not in marker or "'lab'" in marker.replace('"', "'")}
    return sorted(each for each in wanted if re.split(r"[^A-Za-z0-9_-]", each)[0] not in left_out)


def packages() -> list[str]:
    """Return the Debian packages of the image, in the order of packages.txt."""
    lines = (line.split("#")[0].split() for line in (HERE / "packages.txt").read_text().splitlines())
    return [package for line in lines for package in line]


def _relevant(versions: Mapping[str, str]) -> dict[str, str]:
    """Keep the versions that belong in a result: of the packages in packages.txt, and of PHP's versioned packages."""
    listed = set(packages())
    return {name: version for name, version in versions.items() if name in listed or re.match(r"php\d", name)}


def installed() -> dict[str, str]:
    """Return the versions of the same packages on this machine, {package: version}."""
    words = ["dpkg-query", "--show", "--showformat", "${Package} ${Version}\n"]
    try:
        lines = subprocess.run(words, capture_output=True, text=True, check=False).stdout.splitlines()
    except OSError:
        return {}
    return _relevant({name: version for name, _, version in (line.partition(" ") for line in lines)})


def key() -> str:
    """Return what an image of this version is kept under."""
    files = [path for name in PROVISION for path in sorted([HERE / name, *(HERE / name).rglob("*")]) if path.is_file()]
    stated = (distribution.IMAGE.suite, COMPRESSOR, NO_CLUSTER, *LEFT_OUT, *UNUSED)
    return cache.key(*stated, *requirements(), *(path.name for path in files), *files)


def find() -> Image | None:
    """Return the image, or None if it was not built on this machine. Raises DamagedError."""
    return SHELF.find(key())


def build(boot: Boot, say: Say = lambda text: None) -> Image:
    """Return the image; build it if necessary (minutes; half of them if a wheel brought the site). Raises LabError.

    boot: makes a lab of a root file system that is all but finished, with this memory in MB and these shares.
    say: called with what the user should know of a build that goes on.
    """
    return SHELF.make(key(), lambda folder: _build(folder, boot, say))


def _load(folder: Path) -> Image:
    facts = digests.facts(folder / FACTS, PART, {"packages": TABLE, "built": NUMBER})
    site = facts.get("site", {})
    site_key = site.get("key") if isinstance(site, dict) else 0
    if not isinstance(site_key, str | None):
        raise PART.damaged(folder / FACTS, "has a 'site' without a key")
    return Image(folder / SQUASHFS, folder.name, facts["packages"], facts["built"], site_key)


SQUASHFS, FACTS = "image.squashfs", "image.json"
PART = Part("the lab's image", (SQUASHFS, FACTS))
SHELF = Shelf("image", PART, _load)


def _build(folder: Path, boot: Boot, say: Say) -> None:
    cache.need_programs(PROGRAMS, WHAT)
    cache.need_space(cache.root(), MEGABYTES, WHAT)
    work, base = folder / "work", folder / "work" / "base.squashfs"
    kit = work / "kit"
    kit.mkdir(parents=True)
    log = work / "image.log"
    for name in PROVISION:
        source = HERE / name
        shutil.copytree(source, kit / name) if source.is_dir() else shutil.copy(source, kit / name)
    (kit / "requirements.txt").write_text("\n".join(requirements()) + "\n")
    wheels.fetch(kit / "requirements.txt", kit / "wheels", log)
    _debootstrap(kit, base, log)
    packages = _versions(log)
    site, tar = folder / wordpress_site.NAME, work / "site.tar"
    site_key = wordpress_site.key(key(), packages, [work / each for each in wordpress_site.ACCOUNTS])
    is_carried = _take_site(site_key, site, tar, say)
    if not is_carried:
        _make_site(boot, base, kit, tar, log)
        wordpress_site.pack(tar, site, wordpress_site.QUICK)
    # Two tars in one: without the end of the first one, which is two empty blocks.
    together: list[str | Path] = ["sh", "-c", 'head -c -1024 "$1" && exec sqfs2tar --root-becomes . "$2"', "sh", tar, base]
    _squash_output(together, folder / SQUASHFS, log)
    site_facts = {"key": site_key, "carried": is_carried}
    facts = {"format": digests.FORMAT, "built": int(time.time()), "site": site_facts, "packages": packages}
    (folder / FACTS).write_text(json.dumps(facts, indent=1) + "\n")
    shutil.rmtree(work)


def _debootstrap(kit: Path, image: Path, log: Path) -> None:
    settings = f"SLOWNET_REQUIREMENTS={KIT}/requirements.txt SLOWNET_WHEELS={KIT}/wheels SLOWNET_SITE=files PYTHONHASHSEED=0"
    provision = f'chroot "$1" env {settings} sh {KIT}/provision'
    unwanted = " ".join(f".{each}" for each in (KIT, *UNUSED))
    report = """chroot "$1" dpkg-query -W -f 'PACKAGE ${Package} ${Version}\\n' >&2"""
    accounts = " ".join(f"/etc/{each}" for each in wordpress_site.ACCOUNTS)
    # Packages' scripts run Python: PYTHONDONTWRITEBYTECODE, for one, would change which of its compiled files the image has.
    of_python = [f"--unset={name}" for name in os.environ if name.startswith("PYTHON")]
    mmdebstrap = [
        "env", *of_python, f"SOURCE_DATE_EPOCH={FILES_UNTIL}",
        "mmdebstrap", "--variant=minbase", "--format=tar", f"--include={','.join(packages())}",
        f"--essential-hook={NO_CLUSTER}",
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT), "--dpkgopt=path-include=/usr/share/doc/*/copyright",
        '--customize-hook=mkdir -p "$1/opt/slownet"', f"--customize-hook=copy-in {kit} {Path(KIT).parent}",
        f"--customize-hook={provision}", f'--customize-hook=cd "$1" && rm -rf {unwanted}',
        f"--customize-hook={report}", f"--customize-hook=copy-out {accounts} {image.parent}", distribution.IMAGE.suite, "-",
    ]  # fmt: skip
    _squash_output(mmdebstrap, image, log)


def _take_site(site_key: str, into: Path, tar: Path, say: Say) -> bool:
    """Copy the site of a wheel to the image, and unpack it; return whether there was one that is whole."""
    packed = wordpress_site.find(site_key)
    if not packed:
        return False
    try:
        wordpress_site.unpack(packed, tar)
    except LabError as error:
        say(f"{error.what}, {error.where}: making it anew")
        return False
    shutil.copy(packed, into)
    return True


def _make_site(boot: Boot, base: Path, kit: Path, tar: Path, log: Path) -> None:
    """Let the site's servers write their files in a lab, and pack them as a tar. Raises LabError."""
    out = tar.parent / "out"
    out.mkdir()
    with excerpt.appended(log) as output:
        lab = boot(base, SITE_MEMORY, [Share(kit, at=SITE), Share(out, writable=True, at=OUT)])
        status = lab.run(
            ["sh", f"{SITE}/make-site", SITE, OUT, str(FILES_UNTIL)],
            stdout=output.add,
            stderr=output.add,
            wall_clock=FILES_UNTIL,
        )
    if status:
        raise cache.failure(WHAT, status, log)
    with Outbox(out).open(tar.name, LARGEST) as made, tar.open("wb") as copy:
        shutil.copyfileobj(made, copy)


def _squash_output(argv: Sequence[str | Path], image: Path, log: Path) -> None:
    """Make an image of the tar that a program writes. Raises LabError."""
    with log.open("ab") as output, cache.start(argv, stdout=subprocess.PIPE, stderr=output, cwd="/") as first:
        assert first.stdout
        with cache.start(squash(image), stdin=first.stdout, stdout=output, stderr=output, cwd=image.parent) as second:
            first.stdout.close()
            statuses = first.wait(), second.wait()
    for status in statuses:
        if status:
            raise cache.failure(WHAT, status, log, debian.HINTS)


def squash(target: Path) -> list[str | Path]:
    """Return the command that makes a squashfs of the tar on its standard input."""
    return ["tar2sqfs", "--quiet", "--force", "--compressor", COMPRESSOR, target]


def _versions(log: Path) -> dict[str, str]:
    found = re.findall(r"^PACKAGE (\S+) (\S+)$", log.read_text(errors="replace"), re.MULTILINE)
    if not found:
        raise LabError("the image's package list is empty", where=str(log))
    return dict(found)
