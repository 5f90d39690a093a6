"""Runs a command in a place with this process's input, output, terminal and signals."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import termios
import tty
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from slownet.lab.run import caller
from slownet.lab.run.lab import Share, Sink
from slownet.lab.run.place import Interrupts, Place
from slownet.model.errors import LabError


def run_here(place: Place, command: list[str], shares: Sequence[Share], terminal: bool) -> int:
    """Run a command in the caller's working directory with the caller's input and output; return its exit status.

    terminal: whether the command gets a terminal. Raises LabError.
    """
    open_what_is_closed()
    here = caller.working_directory() if place.kind == "lab" else None
    if here and here not in [each.path for each in shares]:
        shares = [Share(here), *shares]
    return attend(place, command, shares=shares, cwd=here, terminal=terminal)


def attend(
    place: Place,
    command: Sequence[str],
    *,
    shares: Sequence[Share] = (),
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: int | None = 0,
    terminal: bool = False,
    stdout: Sink | None = None,
    stderr: Sink | None = None,
    heard: Callable[[], object] = lambda: None,
) -> int:
    """Run a command in a place with this process's input, output and signals.

    terminal: whether the command gets a terminal, in which case descriptors 0, 1 and 2 of this process must be terminals.
    stdin: what is passed on as input; in a lab this process's terminal is left as it is unless it is that, descriptor 0.
    stdout, stderr: what takes the command's output instead of this process's. heard: called before anything is printed.
    Returns the exit status as a shell reports it, 128 + N after signal N. Raises LabError.
    """

    def printing(sink: Sink) -> Sink:
        def take(data: bytes) -> None:
            heard()
            sink(data)

        return take

    size = os.get_terminal_size(0) if terminal else None
    in_lab = terminal and place.kind == "lab"
    before = termios.tcgetattr(0) if in_lab and stdin == 0 else None
    try:
        with Interrupts(place) as interrupts:
            if before:
                tty.setraw(0)
            if in_lab:
                signal.signal(signal.SIGWINCH, lambda number, frame: _resize(place))
            status = place.run(
                command, shares=shares, env=env, cwd=cwd, stdin=stdin,
                stdout=printing(stdout or (lambda data: write(1, data))),
                stderr=printing(stderr or (lambda data: write(2, data))),
                terminal=(size.lines, size.columns) if size else None,
            )  # fmt: skip
    except BrokenPipeError:  # the reader is gone, as with `... | head`
        return 128 + signal.SIGPIPE
    finally:
        if in_lab:
            signal.signal(signal.SIGWINCH, signal.SIG_DFL)
        if before:
            termios.tcsetattr(0, termios.TCSADRAIN, before)
    if status < 0 or (interrupts.received and status == 0):
        return 128 + (-status or interrupts.received)
    return status


def are_terminals(*fds: int) -> bool:
    return all(os.isatty(fd) for fd in fds)


def open_what_is_closed() -> None:
    """Open those of the descriptors 0, 1 and 2 that are closed, so that no pipe of ours gets such a number."""
    fd = os.open(os.devnull, os.O_RDWR)
    while fd < 3:
        fd = os.dup(fd)
    os.close(fd)


def say(line: str) -> None:
    """Print a line to standard error, if that can be written."""
    with contextlib.suppress(OSError, LabError):
        write(2, f"{line}\n".encode(errors="replace"))


def _resize(place: Place) -> None:
    size = os.get_terminal_size(0)
    place.resize(size.lines, size.columns)


def write(fd: int, data: bytes) -> None:
    """Write all of it. Raises BrokenPipeError, LabError."""
    while data:
        try:
            data = data[os.write(fd, data) :]
        except BlockingIOError:  # another process has made the descriptor non-blocking
            select.select([], [fd], [])
        except BrokenPipeError:
            raise
        except OSError as error:
            raise LabError(f"cannot write the command's output ({error.strerror})") from error
