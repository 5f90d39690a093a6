"""Runs a client program on a host and gives back what it printed."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ParamSpec, Protocol, TypeVar

from slownet.errors import ToolError
from slownet.tools.process import Host, end, environment

ENDING = ((signal.SIGINT, 2.0), (signal.SIGTERM, 2.0), (signal.SIGKILL, 5.0))
"""How a program is ended that takes too long: SIGINT first, for many then print what they have."""

PACKAGES = {"ab": "apache2-utils", "ping": "iputils-ping", "php": "php-cli", "ip": "iproute2", "nft": "nftables"}
"""Debian packages of programs that are called otherwise."""


P = ParamSpec("P")
R = TypeVar("R")


class Measure(Protocol):
    """What pytest's fixture ``measure`` is: calls a tool and notes its record, with the conditions, in the test's own."""

    def __call__(self, tool: Callable[P, R], *args: P.args, **options: P.kwargs) -> R:
        """Calls ``tool(*args, **options)``, such as ``ab``, and gives back its record. Raises what the tool raises."""


@dataclass(frozen=True)
class Completed:
    """A program that ran to its end: ``seconds`` on the clock of where it ran."""

    argv: tuple[str, ...]
    stdout: str
    stderr: str
    status: int
    seconds: float

    @property
    def raw(self) -> str:
        """Everything that it printed, the errors last."""
        return self.stdout + self.stderr


def run(host: Host, argv: Sequence[str], timeout: float = 600.0, check: bool = True) -> Completed:
    """Runs a program on a host, in the C locale, without a shell.

    Parameters
    ----------
    timeout
        Seconds after which it is ended (SIGINT, SIGTERM, SIGKILL).
    check
        Whether a status other than 0 is an error.

    Raises
    ------
    ToolError
        The program is missing, takes too long, or fails while ``check`` is true; ``.raw`` is what it printed.
    """
    with running(host, argv) as wait:
        return wait(timeout, check)


@contextmanager
def running(host: Host, argv: Sequence[str]) -> Iterator[Callable[[float, bool], Completed]]:
    """A program beside others: gives a function (timeout, check) that waits for its end as :func:`run` does.

    Whatever is still running at the end of the block is ended. Raises ToolError.
    """
    argv = tuple(argv)
    begun = time.monotonic()
    try:
        process = host.popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
    except FileNotFoundError as error:
        raise missing(argv[0], f"host '{host.name}'") from error

    def wait(timeout: float, check: bool) -> Completed:
        done = _completed(process, argv, f"host '{host.name}'", timeout, begun)
        return _checked(done, f"host '{host.name}'", check)

    try:
        yield wait
    finally:
        if process.returncode is None:
            end(process, ENDING)
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()


def _completed(process: subprocess.Popen[bytes], argv: tuple[str, ...], where: str, timeout: float, begun: float) -> Completed:
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as error:
        end(process, ENDING)
        out, err = process.communicate()
        raw = (out + err).decode(errors="replace")
        what = f"{argv[0]} did not end within {timeout:g} s"
        raise ToolError(what, where, f"command: {shlex.join(argv)}", raw=raw) from error
    seconds = time.monotonic() - begun
    return Completed(argv, out.decode(errors="replace"), err.decode(errors="replace"), process.returncode, seconds)


def _checked(done: Completed, where: str, check: bool) -> Completed:
    if done.status and not_found(done.argv[0], done.stderr):
        raise missing(done.argv[0], where, done.raw)
    if done.status and check:
        raise ToolError(f"{done.argv[0]} ended with status {done.status}: {why(done)}", where, raw=done.raw)
    return done


def missing(program: str, where: str, raw: str = "") -> ToolError:
    """The error for a program that is not there."""
    package = PACKAGES.get(program, program)
    return ToolError(f"{program} is not installed", where, f"apt-get install {package}", raw=raw)


def not_found(program: str, stderr: str) -> bool:
    """Whether this is all that whoever should have started a program has to say: there is none of that name."""
    # Who starts the program says so: mnexec "ab: No such file...", ip netns 'exec of "ab" failed: No such file...'.
    pattern = rf"(^|[\s'\"]){re.escape(program)}['\"]?( failed)?: No such file or directory$"
    return re.search(pattern, stderr.strip()) is not None and len(stderr.strip().splitlines()) == 1


def why(done: Completed) -> str:
    """The line that names the program, as most put it before their error; else the last one."""
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    named = [line for line in lines if line.startswith(f"{done.argv[0]}:")]
    return (named or lines[-1:] or ["it printed nothing"])[0]
