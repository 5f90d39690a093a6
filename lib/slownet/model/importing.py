"""Imports a user's Python file by its path, and shows where in such files something went wrong.

An error in a user's file is the user's to fix: it is reported with its file and line, wherever it happens, also when a function
of the file is called much later. So files are registered here as they are imported.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from slownet.model.errors import ConditionError, ExperimentError, SlownetError, UnitError

MOST = 4 << 20
"""Bytes of a Python file."""
ARGUMENTS = "give them after --, as in: slownet shell FILE -- --bw 10; slownet shell mininet FILE --bw 10 runs it as a program"
LONGEST = 300
"""Characters of an error's own words that are shown."""
PACKAGE = Path(__file__).resolve().parents[1]
"""The folder of this package."""
PACKAGE_FOLDERS = ("site-packages", "dist-packages")
"""Folders of installed packages, whichever environment's."""
_folders: set[str] = set()
"""The folders of the files that were imported here: the modules beside them are the user's as well."""
_real_exit = os._exit
_lock = threading.Lock()
_open: list[tuple[int, bool]] = []
"""The process, and ``whoever``, of each block of `going_on` that is open, in any thread."""


OF_FILES = (ExperimentError, UnitError, ConditionError)
"""Errors in what a user's file states, such as a wrong claim."""


class Terminated(SystemExit):
    """The end by a signal, which may interrupt a user's file but is not its doing."""


class _Exit(SystemExit):
    """The replacement of `os._exit` in a user's file: the real one would end this program as if all were well."""


class _UsageError(Exception):
    """The message of an argument parser about the arguments of a file."""


def file(path: Path, otherwise: str, arguments: Sequence[str] = ()) -> ModuleType:
    """Import a file and return the module. arguments: those that it finds in sys.argv after its own name.

    Raises ExperimentError: with the fix ``otherwise`` if no such file exists; with file and line for what the file raises, or
    if it ends the program. A SlownetError of another kind that the file raises passes.
    """
    if not path.is_file():
        raise ExperimentError(f"no file {path}", fix=otherwise)
    if path.stat().st_size > MOST:
        raise ExperimentError(f"{path} is larger than {MOST >> 20} MiB", fix="name a Python file")
    folder = str(path.resolve().parent)
    if folder not in sys.path:  # as for `python mine.py`: the modules beside it
        sys.path.insert(0, folder)
    _folders.add(folder)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    with called(path), _arguments([str(path), *arguments]):
        spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def _arguments(words: list[str]) -> Iterator[None]:
    """Let a file find its own arguments, and let parsers of arguments raise an error instead of ending the program."""
    import argparse  # both take 20 ms in a lab, where the package's own experiments need none
    import optparse

    before = sys.argv
    parsers: list[Any] = [argparse.ArgumentParser, optparse.OptionParser]
    errors = {cls: cls.error for cls in parsers}

    def error(parser: Any, message: str) -> NoReturn:
        raise _UsageError(message)

    sys.argv = words
    for cls in errors:
        cls.error = error
    try:
        yield
    finally:
        sys.argv = before
        for cls, method in errors.items():
            cls.error = method


@contextlib.contextmanager
def called(path: Path) -> Iterator[None]:
    """Call something of a user's file in this block.

    Raises ExperimentError with file and line for every exception but a SlownetError, whose kind stays: an error in what the
    file states has its place. That the file ends the program is a failure, too.
    """
    with going_on():
        try:
            yield
        except OF_FILES as error:
            raise with_its_line(error) from error
        except (SlownetError, KeyboardInterrupt, Terminated, MemoryError, GeneratorExit):
            raise
        except BaseException as error:
            raise failure(error, path) from error


@contextlib.contextmanager
def going_on(*, whoever: bool = False) -> Iterator[None]:
    """Call functions of users' files in this block, such as claims: that one ends the program is an ExperimentError.

    ``sys.exit(0)`` and ``os._exit(0)`` there would end it as if all were well. Exceptions of other kinds pass. whoever: nothing
    that is called here may end it, a function of an added package neither.
    """
    with _lock:
        _open.append((os.getpid(), whoever))
        os._exit = _exit_unless_own
    try:
        yield
    except SystemExit as error:
        place = place_of(error) or (_innermost(error) if whoever else "")
        if isinstance(error, Terminated) or not place:
            raise
        raise failure(error, Path(place)) from error
    finally:
        with _lock:
            _open.pop()
            os._exit = _exit_unless_own if _open else _real_exit


def _exit_unless_own(status: int) -> NoReturn:
    """End the process, but not from a user's file in the process that goes on; a child of it has to end so."""
    kinds = [whoever for pid, whoever in _open if pid == os.getpid()]
    if any(kinds) or (kinds and any(_is_own(each.f_code.co_filename) for each, _ in traceback.walk_stack(sys._getframe(1)))):
        raise _Exit(status)
    _real_exit(status)


def _innermost(error: BaseException) -> str:
    """Return the file and line where an exception was raised, but for the lines of this module."""
    lines = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    return "".join(f"{_relative(name)}:{line}" for name, line in [each for each in lines if each[0] != __file__][-1:])


def failure(error: BaseException, path: Path | None = None) -> ExperimentError:
    """Return the error of a user's file, by file and line. path: the file, if the traceback may lack it."""
    if isinstance(error, SyntaxError) and error.filename and not error.filename.startswith("<"):
        place = f"{_relative(error.filename)}:{error.lineno or 1}"
    else:
        place = place_of(error) or (str(path) if path else "")
    if isinstance(error, _UsageError):
        return ExperimentError(f"the file reads its own arguments: {error}", place, ARGUMENTS)
    if isinstance(error, IndexError) and "argv" in _line(error):
        return ExperimentError("the file reads its own arguments, and finds too few", place, ARGUMENTS)
    if isinstance(error, SystemExit):
        how = f"os._exit({error.code!r})" if isinstance(error, _Exit) else f"SystemExit({error.code!r})"
        return ExperimentError(f"the file ends the program: {how}", place, "leave that out: a file only defines")
    return ExperimentError(described(error), place, "correct the file")


def _line(error: BaseException) -> str:
    """Return the source line that raised an error."""
    frames = traceback.extract_tb(error.__traceback__)
    return (frames[-1].line or "") if frames else ""


def described(error: BaseException) -> str:
    """Return an exception's kind and its own words, in one line that is not long."""
    try:
        text = " ".join((error.msg if isinstance(error, SyntaxError) else str(error)).split())
    except Exception:  # an exception whose __str__ raises one
        text = ""
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def with_its_line(error: SlownetError) -> SlownetError:
    """Return an error of ``OF_FILES`` that names the line of a user's file which caused it, if there is one."""
    where = ", ".join(filter(None, (error.where, place_of(error))))
    return type(error)(error.what, where, error.fix)


def place_of(error: BaseException) -> str:
    """Return the innermost line of a user's file in an error's traceback, such as ``mine.py:12``; empty if none exists."""
    lines = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [(name, line) for name, line in lines if _is_own(name)]
    return f"{_relative(own[-1][0])}:{own[-1][1]}" if own else ""


def _is_own(name: str) -> bool:
    """Return whether a file of source is a user's; ``<string>`` is not."""
    return not name.startswith("<") and os.path.dirname(os.path.realpath(name)) in _folders


def _relative(name: str) -> str:
    """Return a file's name as a person would write it here."""
    with contextlib.suppress(OSError):  # the working directory may be gone
        here = os.getcwd()
        if name.startswith(f"{here}{os.sep}"):
            return name[len(here) + 1 :]
    return name
