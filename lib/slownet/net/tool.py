"""Run a program on a host and return its output."""

from __future__ import annotations

import os
import re
import select
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from slownet.lab.host import native
from slownet.lab.run import load_generators
from slownet.lab.run import missing_programs as absent
from slownet.model.errors import ToolError
from slownet.net.process import Host, end, environment, no_host

ENDING = ((signal.SIGINT, 2.0), (signal.SIGTERM, 2.0), (signal.SIGKILL, 5.0))
"""The signals that end a program that takes too long. SIGINT comes first because many programs then print interim results."""

PACKAGES = {
    "ab": "apache2-utils", "gtlsclient": "ngtcp2-client", "ip": "iproute2", "nft": "nftables", "php": "php-cli",
    "ping": "iputils-ping",
}  # fmt: skip
"""Debian packages whose name differs from the program's."""


_companions: list[Callable[[], AbstractContextManager[Any]]] = []


@dataclass(frozen=True)
class Completed:
    """A program that has ended.

    argv: the command.
    stdout, stderr: its output.
    status: its exit status.
    seconds: how long it ran, in seconds of the clock where it ran.
    """

    argv: tuple[str, ...]
    stdout: str
    stderr: str
    status: int
    seconds: float

    @property
    def raw(self) -> str:
        """All output: standard output, then standard error."""
        return self.stdout + self.stderr


def run(
    host: Host, argv: Sequence[str], timeout: float = 600.0, check: bool = True, env: Mapping[str, str] | None = None
) -> Completed:
    """Run a program on a host, in the C locale, without a shell.

    host: the host to run it on.
    argv: the program and its arguments.
    timeout: seconds after which the program is ended (SIGINT, SIGTERM, SIGKILL).
    check: whether an exit status other than 0 is an error.
    env: more environment variables.
    returns: its output, exit status and duration.
    Raises ToolError: the program is missing, takes too long, or fails while ``check`` is true; ``.raw`` is its output.
    """
    with running(host, argv, env) as wait:
        return wait(timeout, check)


@contextmanager
def accompanied(by: Callable[[], AbstractContextManager[Any]]) -> Iterator[None]:
    """Enter what ``by`` returns beside each program that `run` or `running` starts within this context, while it runs."""
    _companions.append(by)
    try:
        yield
    finally:
        _companions.remove(by)


@contextmanager
def noted(programs: list[tuple[int, int]]) -> Iterator[None]:
    """Note when each program runs that `run` or `running` starts within this context: its begin and end in ns since 1970."""

    @contextmanager
    def one() -> Iterator[None]:
        began = time.time_ns()
        try:
            yield
        finally:
            programs.append((began, time.time_ns()))

    with accompanied(one):
        yield


@contextmanager
def beside() -> Iterator[None]:
    """Enter what accompanies a program for a ``with`` block: for a tool whose program runs longer than one measurement."""
    with ExitStack() as stack:
        for companion in tuple(_companions):
            stack.enter_context(companion())
        yield


@contextmanager
def running(
    host: Host, argv: Sequence[str], env: Mapping[str, str] | None = None
) -> Iterator[Callable[[float, bool], Completed]]:
    """Run a program in the background for a ``with`` block.

    Yields a function ``wait(timeout, check)`` that waits for the program as `run` does. A program that is still running at
    the end of the block is ended. Raises ToolError.
    """
    argv, where = tuple(argv), place(host)
    with _started(host, argv, env, subprocess.DEVNULL) as process:
        begun = time.monotonic()

        def wait(timeout: float, check: bool) -> Completed:
            return _checked(_completed(process, argv, where, timeout, begun), where, check)

        yield wait


@contextmanager
def answering(
    host: Host, argv: Sequence[str], env: Mapping[str, str] | None = None, timeout: float = 600.0
) -> Iterator[Callable[[], str]]:
    """Run a program that answers each line on its standard input with a line, for a ``with`` block.

    Yields a function that sends an empty line and returns the answer; it raises ToolError if the program ends instead, or
    does not answer within ``timeout`` seconds. The program is ended at the end of the block. Raises ToolError.
    """
    argv, where = tuple(argv), place(host)
    with _started(host, argv, env, subprocess.PIPE) as process:
        begun = time.monotonic()
        assert process.stdin
        assert process.stdout
        asked, answers = process.stdin, process.stdout
        ready = select.poll()
        ready.register(answers, select.POLLIN)

        def ask() -> str:
            with suppress(BrokenPipeError):  # it has ended, and says why on standard error
                asked.write(b"\n")
                asked.flush()
            if not ready.poll(1000 * timeout):
                raise _overdue(process, argv, where, f"did not answer within {timeout:g} s")
            if (answer := answers.readline()).endswith(b"\n"):
                return answer.decode(errors="replace")
            done = _checked(_completed(process, argv, where, timeout, begun), where, check=True)
            raise ToolError(f"{argv[0]} ended without an answer", where, raw=done.raw)

        yield ask


def place(host: Host) -> str:
    """Return a host as the place of an error. Raises ToolError if it is not one, such as a host's name."""
    if what := no_host(host):
        raise ToolError(what, "in a tool", 'give one, such as net["client"]')
    return f"host '{host.name}'"


@contextmanager
def _started(host: Host, argv: tuple[str, ...], env: Mapping[str, str] | None, stdin: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program and its companions for a ``with`` block, and end it if it still runs then. Raises ToolError."""
    if wrong := [each for each in argv if not isinstance(each, str | bytes | os.PathLike)]:
        what = f"{argv[0]} was given a {type(wrong[0]).__name__} instead of a text: {wrong[0]}"
        raise ToolError(what, f"host '{host.name}'", "give a host's address, host.IP(), and numbers as texts")
    with beside():
        try:
            pipe = subprocess.PIPE
            process = host.popen(list(argv), stdin=stdin, stdout=pipe, stderr=pipe, env=environment(env))
        except FileNotFoundError as error:
            raise missing(argv[0], f"host '{host.name}'") from error
        try:
            yield process
        finally:
            if process.returncode is None:
                end(process, ENDING)
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    with suppress(BrokenPipeError):
                        stream.close()


def _completed(process: subprocess.Popen[bytes], argv: tuple[str, ...], where: str, timeout: float, begun: float) -> Completed:
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as error:
        raise _overdue(process, argv, where, f"did not end within {timeout:g} s") from error
    seconds = time.monotonic() - begun
    return Completed(argv, out.decode(errors="replace"), err.decode(errors="replace"), process.returncode, seconds)


def _overdue(process: subprocess.Popen[bytes], argv: tuple[str, ...], where: str, what: str) -> ToolError:
    """End a program that takes too long, and return the error."""
    end(process, ENDING)
    out, err = process.communicate()
    return ToolError(f"{argv[0]} {what}", where, f"command: {shlex.join(argv)}", raw=(out + err).decode(errors="replace"))


def _checked(done: Completed, where: str, check: bool) -> Completed:
    if done.status and not_found(done.argv[0], done.stderr):
        raise missing(done.argv[0], where, done.raw)
    if done.status and check:
        raise ToolError(f"{done.argv[0]} ended with status {done.status}: {why(done)}", where, raw=done.raw)
    return done


def missing(program: str, where: str, raw: str = "") -> ToolError:
    """Return the error for a program that is not installed."""
    package = PACKAGES.get(program, program)
    fix = f"apt-get install {package}"
    if program in load_generators.PROGRAMS:  # no package of Debian's
        fix = f"put it on this machine's PATH, or its path in {load_generators.variable(program)}"
    elif native.inside_lab():
        fix = f'write packages = ["{package}"], if that is its Debian package, {absent.BUILD}'
    return ToolError(f"{program} is not installed", where, fix, raw=raw)


def not_found(program: str, stderr: str) -> bool:
    """Return whether the only line on standard error states that the program does not exist."""
    # The launcher prints it: mnexec "ab: No such file...", ip netns 'exec of "ab" failed: No such file...'.
    pattern = rf"(^|[\s'\"]){re.escape(program)}['\"]?( failed)?: No such file or directory$"
    return re.search(pattern, stderr.strip()) is not None and len(stderr.strip().splitlines()) == 1


def why(done: Completed) -> str:
    """Return the line that begins with the program's name, as most errors do; else Python's exception, else the last line."""
    text = done.stderr or done.stdout
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if line.startswith(f"{done.argv[0]}:")]
    return (named or _raised(text) or lines[-1:] or ["it printed nothing"])[0]


def _raised(text: str) -> list[str]:
    """Return the first line of the last exception that Python shows, of perhaps several; empty if none exists."""
    _, shown, below = text.rpartition("Traceback (most recent call last):\n")
    return [line for line in below.splitlines() if line[:1].strip()][:1] if shown else []
