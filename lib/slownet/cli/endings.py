"""The end of a command: one line for each kind of failure, and its exit status.

This module imports little, so that it can also state that memory did not suffice for the others.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn, TextIO

from slownet.model import importing
from slownet.model.control_characters import guard
from slownet.model.errors import DamageWarning, SlownetError
from slownet.model.version import __version__

MISTAKE, BUG, INTERRUPTED, CLOSED_PIPE = 2, 70, 128 + signal.SIGINT, 128 + signal.SIGPIPE
"""Exit statuses; 70 is EX_SOFTWARE of sysexits.h."""
TRACEBACK = "SLOWNET_TRACEBACK"
"""The variable that shows a traceback with the line."""
OUTPUT = "standard output"
PASSES_ON = ["lab", "exec"]
"""The command that prints nothing itself: the user's command in the lab decides what a closed standard output means."""
FIXES = {
    errno.EMFILE: "raise the limit on open files: ulimit -n 1024",
    errno.ENFILE: "end other programs: this machine has no more open files",
    errno.ENOMEM: "end other programs, or raise the limit on memory: ulimit -v unlimited",
    errno.EAGAIN: "raise the limit on processes: ulimit -u",
    errno.ENOSPC: "free space, or name a folder on another disk",
    errno.EDQUOT: "free space, or name a folder on another disk",
    errno.EROFS: "name a folder that can be written",
    errno.EACCES: "change its permissions, or name another",
    errno.EPERM: "change its permissions, or name another",
    errno.ENAMETOOLONG: "use a shorter name",
    errno.EIO: "check that disk",
    errno.EPIPE: "a process of this command ended; check that its Python can be started by this user",
}
"""Fixes for errors of the operating system."""


@contextlib.contextmanager
def one_line() -> Iterator[None]:
    """Run a command in this block: a failure ends with one line on standard error and its exit status."""
    _open_streams()
    guard()
    signal.signal(signal.SIGTERM, _end)
    warnings.simplefilter("always", DamageWarning)
    warnings.showwarning = _warn
    try:
        with importing.going_on():
            yield
        _flush()
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # rich and typer make such an exit of it
            _fail(*_explained(error.__context__))
        _finish(error)
    except KeyboardInterrupt as error:
        _fail("interrupted", error, INTERRUPTED)
    except BaseException as error:
        _fail(*_explained(error))


def _explained(error: BaseException) -> tuple[str, BaseException, int]:
    """Return the line of an error, the error, and the exit status."""
    if isinstance(error, SlownetError):
        return str(error), error, MISTAKE
    if importing.place_of(error):
        return str(importing.failure(error)), error, MISTAKE
    if isinstance(error, BrokenPipeError) and _reader_is_gone():
        return "", error, CLOSED_PIPE
    if isinstance(error, MemoryError) or "failed to map segment" in str(error):  # the latter from the dynamic loader
        return f"memory does not suffice: {FIXES[errno.ENOMEM]}", error, MISTAKE
    if isinstance(error, FileNotFoundError) and not _has_directory():
        return "the working directory was removed: cd to one that exists", error, MISTAKE
    if isinstance(error, OSError) and error.errno:
        where = f", {error.filename}" if error.filename else ""
        fix = FIXES.get(error.errno, f"{TRACEBACK}=1 shows where it happened")
        return f"{error.strerror or os.strerror(error.errno)}{where}: {fix}", error, MISTAKE
    return _bug(error), error, BUG


def _bug(error: BaseException) -> str:
    """Write the traceback to a file, and return the line that asks for a report."""
    what = f"{importing.described(error)}, a bug of slownet {__version__}"
    if os.environ.get(TRACEBACK):
        return f"{what}: please report it to slownet's repository with the lines above"
    try:
        with tempfile.NamedTemporaryFile("w", prefix="slownet-bug-", suffix=".txt", delete=False, errors="replace") as file:
            file.write(f"slownet {__version__}, Python {platform.python_version()}, {platform.platform()}\n")
            file.write(f"command: {sys.argv[1:2]}\n")  # its other words may hold what is nobody's business
            file.writelines(traceback.format_exception(error))
    except OSError:
        return f"{what}: run it again with {TRACEBACK}=1, and please report the lines to slownet's repository"
    return f"{what}: please report it to slownet's repository with {file.name}"


def _reader_is_gone() -> bool:
    """Return whether no process reads this command's output any more; a pipe to a process of its own may break as well."""
    import select

    watched = select.poll()
    for fd in (1, 2):
        with contextlib.suppress(OSError):
            os.fstat(fd)
            watched.register(fd, 0)
    broken = any(event & select.POLLERR for _, event in watched.poll(0))
    return broken or os.fstat(1).st_rdev == os.stat(os.devnull).st_rdev  # rich sends what is left there


def _fail(line: str, error: BaseException, status: int = MISTAKE) -> NoReturn:
    """Print the line and exit. What waits in standard output comes first; if it cannot be written, that is the failure."""
    if status != CLOSED_PIPE:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
    with contextlib.suppress(OSError, ValueError):
        if os.environ.get(TRACEBACK) and status not in (CLOSED_PIPE, INTERRUPTED):
            traceback.print_exception(error)
        if line:
            print(f"slownet: {line}", file=sys.stderr, flush=True)
    _discard_output()
    sys.exit(status)


def _finish(error: SystemExit) -> NoReturn:
    """Exit as asked, after what was printed reached its reader."""
    try:
        _flush()
    except OSError as failure:
        _fail(*_explained(failure))
    raise error


def _flush() -> None:
    """Write what was printed now: at the exit of Python errors are not caught. Raises OSError."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError as error:
        error.filename = error.filename or OUTPUT
        raise
    except ValueError:  # somebody closed it
        pass


def _discard_output() -> None:
    """Let what is still in the buffers go nowhere, if it cannot be written: Python would complain of it at its exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)


def _open_streams() -> None:
    """Make the three standard streams usable: a closed one would be the next file that is opened.

    Raises SlownetError through `_fail` if standard output is closed: what a command prints would be lost.
    """
    closed = [number for number in range(3) if not _is_open(number)]
    for number in closed:
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != number:
            os.dup2(nowhere, number)
            os.close(nowhere)
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    if 1 in closed or sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    if 1 in closed and sys.argv[1:3] != PASSES_ON:
        _fail(f"{OUTPUT} is closed: redirect it, for example to /dev/null", OSError(errno.EBADF, OUTPUT))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # names of files may be no text, and a terminal may lack characters
            stream.reconfigure(errors="backslashreplace")


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _has_directory() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _end(number: int, frame: FrameType | None) -> NoReturn:
    """Exit on SIGTERM through an exception, so that everything that was started is stopped."""
    raise importing.Terminated(128 + number)


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning about a run's records as one line like the others; Python's own form is for programmers."""
    text = f"slownet: {message}\n"
    if not issubclass(category, DamageWarning):
        text = warnings.formatwarning(message, category, filename, lineno, line)
    print(text, file=file or sys.stderr, end="")
