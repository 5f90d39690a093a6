"""Fetches what client programs need, each set of packages once, into the user's cache; labs see it through a share.

Each ecosystem's own program does it on the host, because a lab has no network: pip, npm, go, mvn and javac, cargo; what PHP,
Ruby and Perl need is packaged by Debian. A set is
kept under a key of the packages with their versions (and of the program, if it is compiled), so that several versions of one
package lie side by side.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from slownet.costs.catalogue import HERE
from slownet.costs.entry import Server
from slownet.lab.build import cache, distribution, parts, wheels
from slownet.lab.build.cache_cleanup import COSTS
from slownet.lab.build.project import OWN, at
from slownet.model.errors import LabError

CLIENTS = HERE / "clients"
FETCH_S = 1800.0
BASIC = {"node": ("nodejs",), "java": ("openjdk-21-jre-headless",), "php": ("php-cli",)}
"""Debian packages that all packages of an ecosystem need."""
RELEASE = "17"
"""The release of Java that clients are compiled for: Debian 12 and 13 run it."""


@dataclass(frozen=True)
class Client:
    """The way a client program runs in a lab.

    argv: its command, for a shell in its own folder.
    file, code: a file that is written there before; empty if it is compiled.
    link: a folder that is linked there; empty without one.
    env: more variables.
    """

    argv: str
    file: str = ""
    code: str = ""
    link: str = ""
    env: Mapping[str, str] = field(default_factory=dict)


def home() -> Path:
    """Return the folder of all of it, which labs see."""
    folder = cache.writable_root() / COSTS
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def clients() -> Path:
    """Return a folder, which labs see, of what times operations in each language."""
    files = sorted(each for each in CLIENTS.iterdir() if each.is_file())

    def build(folder: Path) -> None:
        for each in files:
            shutil.copy(each, folder)

    return _made("clients", [each.read_text() for each in files], build)


def client(ecosystem: str, needs: Sequence[str], code: str) -> Client:
    """Return how a client program runs, with its packages fetched. Raises LabError."""
    return CLIENT[ecosystem](needs, code)


def commands(ecosystem: str, needs: Sequence[str]) -> Client:
    """Return how shell commands run that find packages in ``$PACKAGES``. Raises LabError."""
    found = folder(ecosystem, needs)
    return Client("", env={"PACKAGES": str(found)} if found else {})


def of_server(server: Server) -> dict[str, str]:
    """Return the folder of a server's packages, or how its compiled program runs; empty texts without. Raises LabError."""
    if server.code:
        return {"packages": "", "program": CLIENT[server.ecosystem](server.packages, server.code).argv}
    return {"packages": str(folder(server.ecosystem, server.packages) or ""), "program": ""}


def folder(ecosystem: str, needs: Sequence[str]) -> Path | None:
    """Return the folder of packages, which labs see; None without any. Raises LabError."""
    if not needs:
        return None
    if ecosystem not in FETCHED:
        raise LabError(f"packages of '{ecosystem}' are not fetched by themselves", fix=f"use one of {', '.join(FETCHED)}")
    return FETCHED[ecosystem](needs)


def layer(debian: Sequence[str]) -> Path:
    """Return the folder of a project whose layer has these Debian packages, which is built if necessary. Raises LabError."""
    names = sorted(set(debian))
    folder = home() / "layers" / cache.key(*names)
    folder.mkdir(parents=True, exist_ok=True)
    listed = ", ".join(f'"{each}"' for each in names)
    (folder / OWN).write_text(f"packages = [{listed}]\n")
    if (project := at(folder / OWN)) and project.needs_layer:
        parts.build_layer(parts.need(), project)
    return folder


def _made(ecosystem: str, inputs: Sequence[str], build: Callable[[Path], None]) -> Path:
    return cache.make(f"{COSTS}/{ecosystem}", cache.key(ecosystem, *inputs), build, cache.writable_root())


def _python(needs: Sequence[str], code: str) -> Client:
    path = os.pathsep.join(str(each) for each in (clients(), folder("python", needs)) if each)
    return Client("/usr/bin/python3 client.py", "client.py", code, env={"PYTHONPATH": path})


def _wheels(needs: Sequence[str]) -> Path:
    return _made("pypi", needs, lambda folder: _pip(folder, needs))


def _pip(folder: Path, needs: Sequence[str]) -> None:
    platforms = [word for platform in wheels.PLATFORMS for word in ("--platform", platform)]
    _run(
        [
            sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", folder,
            "--no-compile", "--only-binary=:all:", "--python-version", distribution.IMAGE.python, "--implementation", "cp",
            *platforms, *needs,
        ],
        folder, r"^ERROR: ((?:No matching distribution|Cannot install|Invalid requirement).*)",
    )  # fmt: skip


def _node(needs: Sequence[str], code: str) -> Client:
    folder = _modules(needs)
    code = code.replace('"slownet_costs"', f'"{clients()}/slownet_costs.mjs"')
    return Client("node client.mjs", "client.mjs", code, f"{folder}/node_modules")


def _modules(needs: Sequence[str]) -> Path:
    return _made("npm", needs, lambda folder: _npm(folder, needs))


def _npm(folder: Path, needs: Sequence[str]) -> None:
    (folder / "package.json").write_text("{}")
    argv: list[str | Path] = [
        "npm",
        "install",
        "--prefix",
        folder,
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--loglevel=error",
        *needs,
    ]
    _run(argv, folder, r"^npm (?:error|ERR!) (?!code)(.+)")


def _go(needs: Sequence[str], code: str) -> Client:
    def build(folder: Path) -> None:
        (folder / "client.go").write_text(code)
        shutil.copy(CLIENTS / "slownet_costs.go", folder)
        env = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"}
        _run(["go", "mod", "init", "client"], folder, "", env)
        if needs:
            _run(["go", "get", *needs], folder, r"^go: (.+)", env)
        _run(["go", "build", "-buildvcs=false", "-o", "client", "."], folder, r"(.+)", env)

    return Client(str(_made("go", [*needs, code, (CLIENTS / "slownet_costs.go").read_text()], build) / "client"))


POM = """<project><modelVersion>4.0.0</modelVersion>
<groupId>slownet</groupId><artifactId>client</artifactId><version>1</version>
<dependencies>{}</dependencies></project>
"""


def _java(needs: Sequence[str], code: str) -> Client:
    jars = _jars(needs)

    def build(folder: Path) -> None:
        (folder / "Client.java").write_text(code)
        shutil.copy(CLIENTS / "SlownetCosts.java", folder)
        files = ["Client.java", "SlownetCosts.java"]
        argv = ["javac", "--release", RELEASE, "-nowarn", "-cp", f"{jars}/lib/*", "-d", "classes", *files]
        _run(argv, folder, r"(.*error: .+)")

    folder = _made("maven", [*needs, code, (CLIENTS / "SlownetCosts.java").read_text()], build)
    return Client(f"java -Xshare:auto -cp '{folder}/classes:{jars}/lib/*' Client")


def _jars(needs: Sequence[str]) -> Path:
    def build(folder: Path) -> None:
        named = [each.split(":") for each in needs]
        if any(len(each) != 3 for each in named):
            raise LabError(f"'{' '.join(needs)}' are not Maven's coordinates", fix='write "group:artifact:version"')
        wanted = [
            f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>"
            for group, artifact, version in named
        ]
        (folder / "pom.xml").write_text(POM.format("".join(wanted)))
        copy = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib", "-DincludeScope=runtime"]
        _run(copy, folder, r"(Could not (?:find artifact|transfer artifact|resolve)[^\n\x1b]*)")
        (folder / "lib").mkdir(exist_ok=True)  # mvn makes none without dependencies

    return _made("maven-jars", needs, build)


CARGO = '[package]\nname = "client"\nversion = "0.0.0"\nedition = "2021"\n[profile.dev]\ndebug = false\n[dependencies]\n'


def _rust(needs: Sequence[str], code: str) -> Client:
    def build(folder: Path) -> None:
        (folder / "src").mkdir()
        (folder / "Cargo.toml").write_text(CARGO + "\n".join(needs) + "\n")
        (folder / "src" / "main.rs").write_text(code)
        shutil.copy(CLIENTS / "slownet_costs.rs", folder / "src")
        _run(["cargo", "build", "--quiet"], folder, r"^error(?:\[.*\])?: (.+)")
        (folder / "target" / "debug" / "client").rename(folder / "client")
        shutil.rmtree(folder / "target")

    return Client(str(_made("cargo", [*needs, code, (CLIENTS / "slownet_costs.rs").read_text()], build) / "client"))


SHEBANG = re.compile(r"#!(.+)\n")


def _debian(needs: Sequence[str], code: str) -> Client:
    """Return a program of a language that Debian packages: its first line names the interpreter."""
    found = SHEBANG.match(code)
    if not found:
        raise LabError(
            "the client program does not name its interpreter", fix="let it begin with a line such as #!/usr/bin/ruby"
        )
    return Client(f"{found[1]} client", "client", code, env={"PYTHONPATH": str(clients()), "CLIENTS": str(clients())})


FETCHED: Mapping[str, Callable[[Sequence[str]], Path]] = {"python": _wheels, "node": _modules, "java": _jars}
"""The ecosystems whose packages need no program that is compiled with them."""
CLIENT: Mapping[str, Callable[[Sequence[str], str], Client]] = {
    "python": _python, "node": _node, "go": _go, "java": _java, "rust": _rust,
} | dict.fromkeys(("php", "ruby", "perl", "debian"), _debian)  # fmt: skip


ADDRESS = re.compile(r"\bhttps?://[^/\s)\]'\",]+")
"""The registry that a program of this machine is set up for, in its messages: which one it is does not help."""


def _run(argv: Sequence[str | Path], folder: Path, pattern: str, env: Mapping[str, str] | None = None) -> None:
    """Run a program on the host. Raises LabError with the line of its output that the pattern finds."""
    program = "pip" if argv[0] == sys.executable else str(argv[0])
    try:
        done = subprocess.run(
            argv, cwd=folder, env={**os.environ, **(env or {})}, capture_output=True, text=True, errors="replace", check=False,
            timeout=FETCH_S, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except FileNotFoundError:
        raise LabError(
            f"{program} is not installed on this machine, and fetches these packages", fix=f"install {program}"
        ) from None
    except subprocess.TimeoutExpired:
        raise LabError(f"{program} took more than {FETCH_S:g} s", fix="check the network, then try again") from None
    if done.returncode:
        text = done.stderr + done.stdout
        found = re.search(pattern, text, re.MULTILINE) if pattern else None
        last = (text.strip().splitlines() or [f"status {done.returncode}"])[-1]
        reason = ADDRESS.sub("REGISTRY", found[1] if found else last)
        raise LabError(f"{program}: {reason}", fix="correct `packages` or `version`, or check the network")
