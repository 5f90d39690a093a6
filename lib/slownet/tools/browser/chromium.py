"""Starts Debian's Chromium on a host, once for all the loads of a boot, and reports in a line why it does not run."""

from __future__ import annotations

import atexit
import base64
import hashlib
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Protocol

from slownet.lab.host import owner
from slownet.lab.run.excerpt import tail
from slownet.model.errors import ToolError
from slownet.model.options import MEMORY, Option
from slownet.net.process import Host, end, environment
from slownet.tools.browser.devtools import DevTools

PROGRAM = "chromium"
BROWSER = Option("browser").in_command("init")
ABSENT = f'write packages = ["chromium"] below [tool.slownet] in pyproject.toml ({BROWSER}), then: slownet lab build'
NEEDED_MB = 450
"""Free memory that a start and a page of some MB need; Chromium dies without a word where there is less."""
LAUNCH = 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null'
"""Chromium reads commands from descriptor 3 and writes answers to 4."""
FLAGS = (
    "--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--no-default-browser-check", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
    "--disable-domain-reliability", "--disable-breakpad", "--disable-sync", "--disable-crash-reporter", "--mute-audio",
    "--password-store=basic", "--force-color-profile=srgb", "--hide-scrollbars",
    "--enable-blink-features=ComputedAccessibilityInfo",
    "--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,InterestFeedContentSuggestions",
)  # fmt: skip
"""No sandbox: Chromium's refuses to run as root, and a lab is one already. The others keep it from requests of its own;
`Locator` finds elements by the roles and names that assistive technology gets."""
SEED = "--js-flags=--random-seed=1"
"""Math.random of every page then draws the same numbers."""
VERSIONS = {
    "": (), "1.1": ("--disable-http2", "--disable-quic"), "2": ("--disable-quic",), "3": ("--enable-quic",),
}  # fmt: skip
"""The flags that make Chromium use a version of HTTP; HTTP/3 also needs the origin, see `flags`."""
MORE = f"more memory may help: {MEMORY}"
LOG = "chromium.log"
LOG_LINES = 4


def flags(http: str = "", origin: str = "", trust: Sequence[str | Path] = (), more: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the options of a browser.

    http: the version of HTTP: a key of `VERSIONS`, "" for the browser's own choice.
    origin: the host and port that HTTP/3 is used with at once, ``"10.0.0.1:443"``.
    trust: files of certificates that are trusted, whatever names they are for.
    more: further options.
    """
    if http not in VERSIONS:
        raise ToolError(f"no HTTP version '{http}'", "in browse", f"write one of {', '.join(filter(None, VERSIONS))}")
    found = [*VERSIONS[http], *more]
    if http == "3":
        found.append(f"--origin-to-force-quic-on={origin}")
    if trust:
        files = [trust] if isinstance(trust, str | Path) else trust
        found.append(f"--ignore-certificate-errors-spki-list={','.join(sorted(map(fingerprint, files)))}")
    return tuple(found)


def fingerprint(certificate: str | Path) -> str:
    """Return the base64 SHA-256 of a certificate's public key, which Chromium's option takes. Raises ToolError."""
    words = ["openssl", "x509", "-in", str(certificate), "-noout", "-pubkey"]
    try:
        key = subprocess.run(words, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise ToolError(f"no certificate in {certificate}", "in browse", "name a file in PEM format") from None
    der = base64.b64decode(b"".join(key.split(b"\n")[1:-2]))
    return base64.b64encode(hashlib.sha256(der).digest()).decode()


class WithProcess(Host, Protocol):
    """A host that has a process in its namespaces, as Mininet's have."""

    pid: int


def executable(host: WithProcess) -> str:
    """Return a program that starts Chromium on a host, for Playwright's own ``launch``.

    host: where it runs: with the host's addresses, links and names.
    returns: its path: ``playwright.chromium.launch(executable_path=executable(net["client"]))``.
    Raises ToolError: Chromium is not installed, or there is too little memory.
    """
    program = _program(host)
    _check_memory(host)
    path = Path(tempfile.mkdtemp(prefix="chromium-", dir=owner.directory())) / PROGRAM
    words = ["nsenter", "--net", "--mount", f"--target={host.pid}", "--", program, "--no-sandbox", SEED]
    path.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def _program(host: Host) -> str:
    program = shutil.which(PROGRAM, path=environment()["PATH"])
    if not program:
        raise ToolError("Chromium is not installed", f"host '{host.name}'", ABSENT)
    return program


class Chromium:
    """One running browser on a host.

    host: where it runs.
    options: beside `FLAGS`.
    Raises ToolError: it is not installed, there is too little memory, or it ends at once.
    """

    def __init__(self, host: Host, options: Sequence[str] = ()) -> None:
        self.host, self.options = host, tuple(options)
        program = _program(host)
        _check_memory(host)
        self.profile = Path(tempfile.mkdtemp(prefix="chromium-", dir=owner.directory()))
        self.argv = (program, *FLAGS, SEED, *self.options, f"--user-data-dir={self.profile}", "about:blank")
        with (self.profile / LOG).open("wb") as log:
            self._process = self._started(log)
        commands, answers = self._process.stdin, self._process.stdout
        assert commands
        assert answers
        self.devtools = DevTools(commands.fileno(), answers.fileno(), self.ended)
        try:
            self.version = str(self.devtools.call("Browser.getVersion")["product"])
        except ToolError:
            self.close()
            raise

    def _started(self, log: IO[bytes]) -> subprocess.Popen[bytes]:
        words = ["sh", "-c", LAUNCH, "sh", *self.argv]
        return self.host.popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment(self._home()))

    def _home(self) -> dict[str, str]:
        return {"HOME": str(self.profile), "SSLKEYLOGFILE": str(self.keys)}

    @property
    def keys(self) -> Path:
        """Its log of TLS keys, with which captures are read."""
        return self.profile / "keys"

    @property
    def runs(self) -> bool:
        """True if it can be used."""
        return self._process.poll() is None

    def answers(self) -> bool:
        """Return whether it exists: one that was killed is for a moment still a process."""
        try:
            return self.runs and bool(self.devtools.call("Browser.getVersion"))
        except ToolError:
            return False

    def ended(self) -> ToolError:
        """Return the error for a browser that has gone, with its last log lines."""
        status = self._process.wait()
        how = signal.Signals(-status).name if status < 0 else f"status {status}"
        log = tail(self.profile / LOG, LOG_LINES)
        last = log.splitlines()[-1] if log else "it said nothing"
        return ToolError(f"Chromium ended ({how}): {last}", f"host '{self.host.name}'", MORE, raw=log)

    @property
    def log(self) -> str:
        """The last lines of its log."""
        return tail(self.profile / LOG, LOG_LINES)

    def close(self) -> None:
        """End it with all its processes, and remove its files. Fine to call twice."""
        end(self._process, ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)))
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                stream.close()
        shutil.rmtree(self.profile, ignore_errors=True)


def _check_memory(host: Host) -> None:
    text = Path("/proc/meminfo").read_text()
    free = int(next(line for line in text.splitlines() if line.startswith("MemAvailable")).split()[1]) // 1024
    if free < NEEDED_MB:
        what = f"Chromium needs {NEEDED_MB} MB of memory, {free} MB are free"
        raise ToolError(what, f"host '{host.name}'", f"{MEMORY.set(2000)}, or end what else runs there")


_running: list[Chromium] = []


def on(host: Host, options: Sequence[str] = ()) -> Chromium:
    """Return the browser that runs on a host with these options; start it if none exists, and end any other one.

    It runs until this process ends: a start takes seconds, and its memory is that of a server.
    """
    for each in _running:
        if each.options == tuple(options) and _same(each.host, host) and each.answers():
            return each
    return anew(host, options)


def anew(host: Host, options: Sequence[str] = ()) -> Chromium:
    """Start a browser on a host, with a new profile, and end any other one; return it. Raises ToolError."""
    close_all()
    _running.append(Chromium(host, options))
    return _running[0]


def _same(one: Any, other: Any) -> bool:
    """Return whether two hosts are one: a network that was built again has other shells."""
    return one is other or (one.name == other.name and getattr(one, "pid", 0) == getattr(other, "pid", None))


@atexit.register
def close_all() -> None:
    """End the browsers that `on` started."""
    while _running:
        _running.pop().close()
