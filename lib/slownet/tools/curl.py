"""``curl``: requests URLs over HTTP/1.1, HTTP/2 or HTTP/3, one after the other or at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.judge.measured import Metrics
from slownet.model import userfile
from slownet.model.errors import ExperimentError, ToolError, nearest
from slownet.model.shapes import Json
from slownet.net.output import complaint, figure
from slownet.net.process import Host
from slownet.net.tool import run, why
from slownet.tools.numbers import Metric, series
from slownet.tools.register import tool

FORMAT = "%{json}\n"
FAILED = 400
"""Statuses of HTTP from here on are errors."""
GROUPS = "X25519:P-256"
"""The client's groups: its key share is of the first, so that a server that takes only the second asks again."""


@dataclass(frozen=True)
class Curl(Metrics):
    """The results of ``curl``.

    command: the command.
    raw: what it wrote: a JSON object for each transfer.
    times_ms: the time of each transfer, in the order they ended.
    first_byte_ms: the time until the first byte of each response.
    connections: how many connections were opened.
    versions: the version of HTTP of each response: "1.1", "2" or "3".
    size: bytes of all bodies.
    urls: the URL of each transfer.
    connect_ms: the longest time until a connection was open: a round trip over TCP, and over QUIC unless the certificate is
        large.
    """

    command: tuple[str, ...]
    raw: str
    times_ms: tuple[float, ...]
    first_byte_ms: tuple[float, ...]
    connections: int
    versions: tuple[str, ...]
    size: int
    urls: tuple[str, ...]
    connect_ms: float

    def metrics(self) -> dict[str, Metric]:
        """Return ``time_ms`` per transfer and ``first_byte_ms``."""
        return {"time_ms": series(self.times_ms), "first_byte_ms": series(self.first_byte_ms)}


VERSIONS = {"1.1": "--http1.1", "2": "--http2", "3": "--http3-only"}


@tool("curl", versions=("http",))
def curl_page(host: Host, url: str, *, requests: int = 1, http: str = "1.1") -> Curl:
    """Request a page some times, one after the other.

    host: the host that ``curl`` runs on.
    url: the page's URL.
    requests: how often.
    http: the version of HTTP: "1.1", "2" or "3".
    returns: parsed output.
    Raises ExperimentError: no such version. Raises ToolError: as for `curl`.
    """
    if http not in VERSIONS:
        raise ExperimentError(f"no HTTP {http}", "in curl", nearest(http, VERSIONS))
    return curl(host, [VERSIONS[http], *[url] * requests])


def curl(host: Host, words: Sequence[str], *, keys: Path | None = None, timeout: float = 600.0) -> Curl:
    """Request URLs with ``curl``, without checking certificates, and discard what they have.

    host: the host that ``curl`` runs on.
    words: URLs and options; ``--next`` begins requests with options of their own.
    keys: a file for the connections' secrets, so that a capture of them can be read.
    timeout: seconds for all requests.
    returns: times in ms.
    Raises ToolError: ``curl`` is missing, a request fails, or the output is not understood.
    """
    if isinstance(words, str):
        raise ToolError(f"curl was given the text {words!r}", f"host '{host.name}'", 'give a list: ["http://10.0.0.2/"]')
    done = run(host, _argv(words), timeout, check=False, env=key_log(keys))
    if done.status:
        raise ToolError(f"curl ended with status {done.status}: {why(done)}", f"host '{host.name}'", raw=done.raw)
    return parse(done.stdout, done.argv)


def _argv(words: Sequence[str]) -> list[str]:
    """Return the command: the options for all, again after each ``--next``, and for each URL where its content goes."""
    common = ["--silent", "--show-error", "--insecure", "--fail", "--curves", GROUPS, "--write-out", FORMAT]
    argv = ["curl", "--disable", *common]
    for each in words:
        argv += [each, *common] if each == "--next" else [each, "--output", "/dev/null"] if "://" in each else [each]
    return argv


def key_log(keys: Path | None) -> dict[str, str]:
    """Return the environment where curl and ngtcp2's programs write their connections' secrets to a file."""
    return {"SSLKEYLOGFILE": str(keys)} if keys else {}


def parse(text: str, command: Sequence[str] = ("curl",)) -> Curl:
    """Parse what ``curl --write-out %{json}`` wrote.

    text: a JSON object per line, one for each transfer.
    command: the command, for the record and for errors.
    returns: the results.
    Raises ToolError: no transfer was printed, or a number is missing.
    """
    try:
        found = [userfile.json(line) for line in text.splitlines() if line.startswith("{")]
        if not found:
            raise complaint("curl printed no transfer", text, command)
        for each in found:
            _succeeded(each, text, command)
        return Curl(
            tuple(command),
            text,
            tuple(1000 * figure(each["time_total"], "time_total") for each in found),
            tuple(1000 * figure(each["time_starttransfer"], "time_starttransfer") for each in found),
            sum(int(figure(each["num_connects"], "num_connects")) for each in found),
            tuple(str(each["http_version"]) for each in found),
            sum(int(figure(each["size_download"], "size_download")) for each in found),
            tuple(each["url"] for each in found),
            1000 * max(figure(each["time_connect"], "time_connect") for each in found),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise complaint(f"curl printed a transfer that is not understood: {error!r}", text, command) from None


def _succeeded(transfer: Json, text: str, command: Sequence[str]) -> None:
    """Raise ToolError for a transfer that failed: curl's own status is that of the last one."""
    status = transfer.get("response_code", transfer.get("http_code", 200))
    if transfer.get("exitcode") or not 0 < status < FAILED:
        said = transfer.get("errormsg") or (f"the response has status {status}" if status else "there was no response")
        raise complaint(f"a transfer of curl failed ({transfer.get('url', '')}): {said}", text, command)
