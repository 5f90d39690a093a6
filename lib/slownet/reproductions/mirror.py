"""A mirror of packages for apt and pip, made of packages of its own, and what these programs fetch from it."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from slownet.lab.host import owner
from slownet.model.errors import ServiceError
from slownet.net.process import Host, Hosts
from slownet.net.tool import run
from slownet.services.nginx import Nginx
from slownet.tools.timed import Timed, timed

PACKAGES = tuple(f"sample{number:02}" for number in range(1, 21))
VERSION, SIZE = "1.0", 1000
"""The version of each package, and the bytes of each one for apt; those for pip are about as large."""
APT, WITHOUT_PIPELINE, PIP = "apt", "apt without pipelining", "pip"
COMMITTED = 10
"""Files that apt commits at a time to the program that fetches them (Acquire::Max-Pipeline-Depth, in apt's acquire.cc)."""
WHEELS = Path("/usr/share/python-wheels")
"""Where Debian's python3-pip-whl, which python3-venv brings, has pip."""


class Mirror(Nginx):
    """The web server nginx with an archive for apt and an index for pip.

    net: the network.
    directory: the run directory, for log and configuration.
    on: the name of the host that it runs on.
    """

    operation = "installation"

    def __init__(self, net: Hosts, directory: str | Path, *, on: str = "server") -> None:
        super().__init__(net[on], directory, root="")

    def prepare(self) -> None:
        """Make the packages, and write the configuration."""
        self.root = self.state / "files"
        for folder in (self.root, self.root / "apt", self.root / "simple", self.root / "wheels"):
            folder.mkdir()
            folder.chmod(0o755)
        archive(self.root / "apt")
        for name in PACKAGES:
            wheel(self.root, name)
        super().prepare()

    def fetch(self, client: Host, program: str, packages: int) -> Timed:
        """Fetch packages as `apt-get install` and `pip install` do, without installing them.

        client: the host that fetches them.
        program: `APT`, `WITHOUT_PIPELINE` or `PIP`.
        packages: how many.
        returns: the time in ms; apt has its lists already.
        Raises ServiceError, ToolError: a program is missing or fails.
        """
        names = PACKAGES[:packages]
        with owner.temporary("mirror") as temporary:
            folder = Path(temporary)
            if program == PIP:
                return timed(client, _pip(folder, self.url, names), env=_isolated(folder))
            (folder / "sources.list").write_text(f"deb [trusted=yes] {self.url}apt ./\n")
            apt = _apt(folder, ["-o", "Acquire::http::Pipeline-Depth=0"] if program == WITHOUT_PIPELINE else [])
            here = {"TMPDIR": temporary}
            run(client, [*apt, "update"], env=here)
            return timed(client, [*apt, "--download-only", "--yes", "install", *names], env=here)


def archive(folder: Path) -> None:
    """Write an archive for apt, flat and without signatures, into a folder."""
    stanzas = []
    for name in PACKAGES:
        content = name.encode().ljust(SIZE, b"\n")
        path = folder / f"{name}_{VERSION}_all.deb"
        path.write_bytes(content)
        stanzas.append(
            f"Package: {name}\nVersion: {VERSION}\nArchitecture: all\nMaintainer: nobody <nobody@slownet.example>\n"
            f"Filename: ./{path.name}\nSize: {SIZE}\nSHA256: {hashlib.sha256(content).hexdigest()}\nDescription: {name}\n"
        )
    lists = "\n".join(stanzas).encode()
    (folder / "Packages").write_bytes(lists)
    summed = f" {hashlib.sha256(lists).hexdigest()} {len(lists)} Packages\n"
    (folder / "Release").write_text(f"Date: Thu, 01 Jan 1970 00:00:00 UTC\nSHA256:\n{summed}")


def wheel(root: Path, name: str) -> None:
    """Write a package for pip below ``wheels``, and its page of the index below ``simple`` (PEP 503)."""
    path = root / "wheels" / f"{name}-{VERSION}-py3-none-any.whl"
    about = f"{name}-{VERSION}.dist-info"
    with zipfile.ZipFile(path, "w") as content:
        content.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {VERSION}\n")
        content.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: slownet\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        content.writestr(f"{about}/RECORD", f"{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")
    path.chmod(0o644)
    page = root / "simple" / name / "index.html"
    page.parent.mkdir()
    page.parent.chmod(0o755)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    page.write_text(f'<!DOCTYPE html><html><body><a href="/wheels/{path.name}#sha256={digest}">{path.name}</a></body></html>\n')


def _apt(folder: Path, options: Sequence[str]) -> list[str]:
    """Return the command of an apt with lists and archives of its own."""
    for each in ("lists/partial", "archives/partial", "parts"):
        (folder / each).mkdir(parents=True)
    own: Mapping[str, str | Path] = {
        "Dir::Etc::SourceList": folder / "sources.list",
        "Dir::Etc::SourceParts": folder / "parts",
        "Dir::State::Lists": folder / "lists",
        "Dir::Cache": folder,
        "Dir::Cache::Archives": folder / "archives",
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
    }
    return ["apt-get", "--quiet", *(word for name, value in own.items() for word in ("-o", f"{name}={value}")), *options]


def _pip(folder: Path, url: str, names: Sequence[str]) -> list[str]:
    """Return the command of pip. Raises ServiceError if Debian's pip is missing."""
    found = sorted(WHEELS.glob("pip-*.whl"))
    if not found:
        raise ServiceError("pip is not installed", str(WHEELS), "apt-get install python3-pip-whl")
    host = url.split("/")[2]
    options = ["--index-url", f"{url}simple/", "--trusted-host", host, "--no-deps", "--no-cache-dir", "--quiet"]
    return ["python3", f"{found[-1]}/pip", "download", *options, "--dest", str(folder), *names]


def _isolated(folder: Path) -> dict[str, str]:
    """Return the environment where pip has no configuration, and does not look for a version of itself."""
    return {"PIP_CONFIG_FILE": "/dev/null", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "HOME": str(folder)}
