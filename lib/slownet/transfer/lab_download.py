"""Gets an exported lab by its content: from a folder that machines share, or over HTTP, once a machine.

A transfer that is broken off goes on where it was, if the server can do that (`RFC 9110`_, section 14). Nothing is used before
the SHA-256 of the whole file was checked.

.. _RFC 9110: https://www.rfc-editor.org/rfc/rfc9110#section-14
"""

from __future__ import annotations

import fcntl
import hashlib
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any

from slownet.lab.build import cache
from slownet.lab.build.cache_cleanup import DOWNLOAD
from slownet.model.errors import LabError
from slownet.model.options import Option
from slownet.transfer import unpack

STEP = 1 << 20
TRIES = 5
"""The number of successive interruptions of a transfer without a single byte."""
MOST = 100
"""The total number of interruptions."""
SILENCE_S = 30.0
"""The time that a server may be silent."""
PAUSE_S = 0.5
BY_HASH = re.compile(r"(?P<place>.+)#sha256=(?P<sha256>[0-9a-f]{64})")
URL = re.compile(r"https?://", re.IGNORECASE)
OPTION = Option("lab")
PARTIAL, NOT_SATISFIABLE, SERVER_ERROR = 206, 416, 500
"""Statuses of HTTP."""


@dataclass(frozen=True)
class Source:
    """An exported lab: its URL or its path on every machine, and its SHA-256."""

    place: str
    sha256: str

    @property
    def is_url(self) -> bool:
        """True if it comes over HTTP."""
        return bool(URL.match(self.place))

    def __str__(self) -> str:
        return f"{self.place}#sha256={self.sha256}"


def source(text: str) -> Source:
    """Return the source that a person names: ``URL#sha256=...`` or a file, which is hashed here. Raises LabError."""
    if found := BY_HASH.fullmatch(text):
        place = found["place"]
        return Source(place if URL.match(place) else str(Path(place).absolute()), found["sha256"])
    if URL.match(text):
        raise LabError(f"{text} is not named by its content", OPTION, f"add what slownet lab export printed: {text}#sha256=...")
    path = Path(text).absolute()
    return Source(str(path), _hash_of(path))


def take(wanted: Source, is_there: Callable[[], bool] = lambda: False) -> list[str]:
    """Put a lab into this machine's cache, unless it exists; return what is new there, as kind/key. Raises LabError.

    One process of a machine fetches; the others wait for it, and ask ``is_there`` again.
    """
    if is_there():
        return []
    with _alone():
        if is_there():
            return []
        if not wanted.is_url:
            _check(Path(wanted.place), wanted)
            return unpack.read(Path(wanted.place))[1]
        path = fetched(wanted)
        _, new = unpack.read(path)
        path.unlink()
        path.parent.rmdir()
        return new


def fetched(wanted: Source) -> Path:
    """Return the whole file of a URL, in the cache; what a broken transfer left there is not fetched again. Raises LabError."""
    path = cache.root() / DOWNLOAD / wanted.sha256[:16] / "lab.tar"
    in_a_row = 0
    for _ in range(MOST):
        before = _size(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if _continue(wanted, path):
                _check(path, wanted, remove=True)
                return path
            why = "the connection ended early"
        except urllib.error.HTTPError as error:
            if error.code < SERVER_ERROR:
                fix = "check the URL, and whether the file is there"
                raise LabError(f"{wanted.place} answers {error.code} {error.reason}", OPTION, fix) from error
            why = f"it answers {error.code}"
        except (urllib.error.URLError, HTTPException, ConnectionError, TimeoutError) as error:
            why = str(getattr(error, "reason", error)) or type(error).__name__
        except OSError as error:
            raise cache.not_writable(error, path) from error
        in_a_row = 0 if _size(path) > before else in_a_row + 1
        if in_a_row == TRIES:
            break
        time.sleep(PAUSE_S * 2**in_a_row if in_a_row else 0.0)
    got = f"{_size(path) / 2**20:.1f} MB came, which the next try keeps"
    raise LabError(f"{wanted.place} cannot be fetched: {why}; {got}", OPTION, "see whether that server runs")


def _continue(wanted: Source, path: Path) -> bool:
    """Fetch what is missing of a file; return whether it is whole now. Raises OSError, HTTPException."""
    have = _size(path)
    request = urllib.request.Request(wanted.place, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        answer = urllib.request.urlopen(request, timeout=SILENCE_S)
    except urllib.error.HTTPError as error:
        if error.code == NOT_SATISFIABLE and have:  # all of it is here, or something else
            return True
        raise
    with answer:
        goes_on = answer.status == PARTIAL and _first(answer) == have
        if have and answer.status == PARTIAL and not goes_on:
            path.unlink()  # of a server that answers something else than it was asked for
            return False
        length = answer.headers.get("Content-Length")
        total = int(length) + (have if goes_on else 0) if length else None
        cache.need_space(path, (total or 0) // STEP + 1, "fetching a lab")
        with path.open("ab" if goes_on else "wb") as file:
            _copy(answer, file)
    return total is None or _size(path) == total


def _copy(answer: Any, file: IO[bytes]) -> None:
    while data := answer.read(STEP):
        file.write(data)


def _first(answer: Any) -> int | None:
    """Return the first byte of a partial answer; None if it does not give it."""
    found = re.match(r"bytes (\d+)-", answer.headers.get("Content-Range") or "")
    return int(found[1]) if found else None


def _check(path: Path, wanted: Source, remove: bool = False) -> None:
    """Raise LabError unless a file's hash is the one in its name; ``remove`` it then."""
    found = _hash_of(path)
    if found == wanted.sha256:
        return
    if remove:
        path.unlink()
        path.parent.rmdir()
    what = f"{wanted.place} is another file: its SHA-256 is {found[:16]}..., not {wanted.sha256[:16]}..."
    raise LabError(what, OPTION, "name the hash that slownet lab export printed, or copy the file again; nothing was imported")


def _hash_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise LabError(f"cannot read {path} ({error.strerror})", OPTION, "name a file written by slownet lab export") from error


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


@contextmanager
def _alone() -> Iterator[None]:
    """Keep other processes of this machine from fetching a lab at the same time."""
    home = cache.root() / DOWNLOAD
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock = (home / ".lock").open("w")
    except OSError as error:
        raise cache.not_writable(error, home) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
