"""Caches what is built once per machine (kernels, images, probes), by a hash of the inputs.

The user's own cache is under XDG_CACHE_HOME. What it lacks may be in the system's cache, which all accounts of a machine read.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from slownet.lab.run.excerpt import clipped
from slownet.model.errors import LabError
from slownet.model.options import SYSTEM
from slownet.model.userfile import expanded

LOG_LINES = 3
END_S = 10.0
LOOK_S = 0.02
HALF = ".half"
"""The end of an unfinished folder's name."""

BUNDLE = Path(__file__).parents[2] / "bundle"
"""Folders of the same kinds and keys that a wheel brought; see setup.py."""

_own: Path | None = None
"""See `use_system`."""
_running: set[subprocess.Popen[bytes]] = set()


def root() -> Path:
    """Return the project's folder in the user's cache; it may be missing yet."""
    if _own:
        return _own
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return expanded(base, "XDG_CACHE_HOME", LabError).absolute() / "slownet"


def own_root() -> Path:
    """Return the user's own folder, for a cache that belongs to another user (XDG_STATE_HOME)."""
    base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return expanded(base, "XDG_STATE_HOME", LabError).absolute() / "slownet"


def system_root() -> Path | None:
    """Return the folder of the cache that all accounts read (SLOWNET_SYSTEM_CACHE); None if that is set to nothing."""
    name = os.environ.get("SLOWNET_SYSTEM_CACHE", "/var/cache/slownet")
    return expanded(name, "SLOWNET_SYSTEM_CACHE", LabError).absolute() if name else None


def use_system() -> None:
    """Use the system's cache as this process's own, so that what it builds is for all accounts. Raises LabError."""
    global _own
    _own = system_root()
    if not _own:
        raise LabError(
            "the system cache is switched off: SLOWNET_SYSTEM_CACHE is empty", SYSTEM, "set it to a folder, or unset it"
        )
    if not may_write(_own):
        raise LabError(f"cannot write to {_own}", SYSTEM, "run it as root, or set SLOWNET_SYSTEM_CACHE to another folder")
    os.umask(0o022)


def writable_root() -> Path:
    """Return the folder for this user's layers and measurements: the cache, or the own one if the cache is another user's."""
    return root() if may_write(root()) else own_root()


def key(*inputs: bytes | str | Path) -> str:
    """Return a short hash of these inputs; a Path stands for the file's content."""
    import hashlib  # loads OpenSSL, which is not needed when this module is imported inside a lab

    digest = hashlib.sha256()
    for each in inputs:
        data = each.read_bytes() if isinstance(each, Path) else each.encode() if isinstance(each, str) else each
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:16]


def bases() -> list[Path]:
    """Return the roots of all caches in the order they are searched, each once; some may not exist."""
    return list(dict.fromkeys(base for base in (root(), own_root(), system_root(), BUNDLE) if base))


def found(kind: str, name: str) -> Path | None:
    """Return the finished folder of that kind and key, in any of the caches, or None."""
    paths = (base / kind / name for base in bases())
    return next((path for path in paths if os.path.isdir(path)), None)  # False, too, where another user's folder is closed


def may_write(folder: Path) -> bool:
    """Return whether this user may write to a folder, or make it."""
    return os.access(there(folder), os.W_OK)


def there(path: Path) -> Path:
    """Return the path itself, or the nearest folder above it that exists."""
    return next(each for each in (path, *path.parents) if each.exists())


def make(
    kind: str,
    name: str,
    build: Callable[[Path], None],
    base: Path | None = None,
    is_whole: Callable[[Path], bool] = lambda folder: True,
) -> Path:
    """Return the folder of that kind and key; `build` fills it the first time, and if one that exists is not whole.

    base: the cache's root. The folder gets its name only when it is complete. Two builds of the same folder wait for each
    other, and the remains of a killed build are removed by the next.
    """
    home = (base or root()) / kind
    whole = home / name
    if whole.is_dir() and is_whole(whole):
        return whole
    try:
        home.mkdir(parents=True, exist_ok=True)
        with _locked(home / f".{name}.lock"):
            if whole.is_dir() and is_whole(whole):  # another process has made it meanwhile
                return whole
            half = home / f".{name}{HALF}"
            _remove(half)
            if os.path.lexists(whole):
                whole.rename(half)  # nobody sees it half removed
            return _build(half, whole, build)
    except OSError as error:
        raise not_writable(error, home) from error


@contextlib.contextmanager
def scratch(kind: str, base: Path) -> Iterator[Path]:
    """Make a folder on the disk of that cache, for what is not whole yet; it goes with the block.

    What a killed process left there is removed by the next.
    """
    home = base / kind
    home.mkdir(parents=True, exist_ok=True)
    sweep(kind, base)
    half = home / f".{os.getpid()}{HALF}"
    with _locked(half.with_suffix(".lock")):
        _remove(half)
        half.mkdir()
        try:
            yield half
        finally:
            _remove(half)
            half.with_suffix(".lock").unlink()


def not_writable(error: OSError, where: Path) -> LabError:
    """Return the error for a failure to write to the cache."""
    what = f"cannot write to {error.filename or where} ({error.strerror})"
    return LabError(what, fix=space_or(error, "set XDG_CACHE_HOME to a folder that you can write to"))


def space_or(error: OSError, fix: str) -> str:
    """Return how to fix a failure to write: as given, and by free space if the disk is full."""
    return f"free space, or {fix}" if error.errno in (errno.ENOSPC, errno.EDQUOT) else fix


def sweep(kind: str, base: Path | None = None) -> None:
    """Remove what killed builds of that kind left behind; builds that are under way are left alone."""
    for half in ((base or root()) / kind).glob(f".*{HALF}"):
        with contextlib.suppress(OSError), left_alone(half):
            _remove(half)


@contextlib.contextmanager
def left_alone(half: Path) -> Iterator[None]:
    """Keep builds off an unfinished folder. Raises BlockingIOError if one fills it now, OSError."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(FileNotFoundError):
            lock = stack.enter_context(half.with_suffix(".lock").open())
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


@contextlib.contextmanager
def in_use(folder: Path) -> Iterator[bool]:
    """Keep `remove_unused` off a finished folder during the block; yield whether it exists."""
    with _lock_of(folder).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield folder.is_dir()


def remove_unused(folder: Path) -> bool:
    """Remove a finished folder, of which no other process sees half, unless one uses it; return whether it is gone.

    Raises OSError.
    """
    with _lock_of(folder).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        half = folder.with_name(f".{folder.name}{HALF}")
        folder.rename(half)
        shutil.rmtree(half)
        return True


def disk_bytes(folder: Path) -> int:
    """Return how many bytes of disk all in a folder takes; what another process removes meanwhile takes none."""
    total = 0
    for home, folders, files in os.walk(folder):
        for name in (*folders, *files):
            with contextlib.suppress(FileNotFoundError):
                total += os.lstat(os.path.join(home, name)).st_blocks * 512
    return total


def is_in_use(folder: Path) -> bool:
    """Return whether a process uses a finished folder."""
    with _lock_of(folder).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.lock")


def _build(half: Path, whole: Path, build: Callable[[Path], None]) -> Path:
    _remove(half)
    half.mkdir()
    try:
        build(half)
        half.rename(whole)
    finally:
        _remove(half)
    return whole


def _remove(path: Path) -> None:
    """Remove a folder, or whatever else has its name."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    with contextlib.suppress(OSError):
        path.chmod(0o700)  # one that is closed could not be emptied
    shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def need_space(path: Path, megabytes: int, what: str) -> None:
    """Raise LabError if the disk of `path` has less free space."""
    folder = there(path)
    free = shutil.disk_usage(folder).free // 2**20
    if free < megabytes:
        raise LabError(
            f"{what} needs {megabytes} MB of disk, but only {free} MB are free",
            where=f"in {folder}",
            fix="free space, or set XDG_CACHE_HOME to a folder on another disk",
        )


def need_programs(programs: Mapping[str, str], what: str) -> None:
    """Raise LabError with the packages of programs that are not installed. programs: {program: Debian package}."""
    missing, packages = lacking(programs)
    if missing:
        raise LabError(f"{what} needs {', '.join(missing)}", fix=f"apt-get install {' '.join(packages)}")


def lacking(programs: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return the programs that are not installed, and the packages that bring them. programs: {program: Debian package}."""
    missing = [program for program in programs if not shutil.which(program, path=search_path())]
    return missing, sorted({programs[each] for each in missing})


def search_path() -> str:
    """Return PATH plus the sbin folders, which an ordinary user's PATH lacks on Debian."""
    return os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/local/sbin:/usr/sbin:/sbin"


def run(
    argv: Sequence[str | Path], log: Path, what: str, *, cwd: Path | None = None, hints: Iterable[tuple[str, str]] = ()
) -> None:
    """Run a program of a build; all its output goes to `log`.

    Raises LabError with the last lines of the log if it fails; `hints` maps a text in the log to a fix.
    """
    with log.open("ab") as output, start(argv, stdout=output, stderr=output, cwd=cwd) as process:
        status = process.wait()
    if status:
        raise failure(what, status, log, hints)


def failure(what: str, status: int, log: Path, hints: Iterable[tuple[str, str]] = ()) -> LabError:
    """Return the error for a failed program of a build, and keep its log."""
    text = log.read_text(errors="replace")
    kept = writable_root() / "log" / log.name
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(text)
    for sign, fix in hints:
        if sign in text:
            return LabError(f"{what} failed", where=f"log {kept}", fix=fix)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("E:", "error", "ERROR", "fatal"))] or lines
    return LabError(f"{what} failed ({status}): {' | '.join(map(clipped, errors[-LOG_LINES:]))}", where=f"log {kept}")


@contextlib.contextmanager
def start(argv: Sequence[str | Path], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program of a build in its own process group. It ends with the `with` block, or with this process."""
    words = ["setpriv", "--pdeathsig", "TERM", *argv]
    environment = {**os.environ, "LC_ALL": "C", "PATH": search_path()}
    process = subprocess.Popen(
        words, stdin=options.pop("stdin", subprocess.DEVNULL), env=environment, process_group=0, **options
    )
    _running.add(process)
    try:
        yield process
    finally:
        _running.discard(process)
        _end_group(process)


def end_builds() -> None:
    """End every running program of a build, whichever thread started it."""
    for process in list(_running):
        _end_group(process)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End a program that runs, and all programs that it started: one that outlives it could still write to what is removed."""
    if process.poll() is not None:
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + END_S
        try:
            os.killpg(process.pid, number)
            while time.monotonic() < deadline:
                process.poll()
                os.killpg(process.pid, 0)
                time.sleep(LOOK_S)
        except ProcessLookupError:
            process.wait()
            return
