"""Imports a user's Python file by its path, for an experiment or topologies."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from slownet.errors import ExperimentError, SlownetError


def file(path: Path, otherwise: str) -> ModuleType:
    """Import a file and return the module.

    Raises ExperimentError, with the fix ``otherwise`` if there is no such file, and every SlownetError that the file raises.
    """
    if not path.is_file():
        raise ExperimentError(f"no file {path}", fix=otherwise)
    folder = str(path.resolve().parent)
    if folder not in sys.path:  # as for `python mine.py`: the modules beside it
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ExperimentError as error:  # e.g. a wrong claim; the traceback has its line
        raise type(error)(error.what, ", ".join(filter(None, (error.where, _line_of(path, error)))), error.fix) from error
    except SlownetError:
        raise
    except Exception as error:
        raise ExperimentError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    return module


def _line_of(path: Path, error: BaseException) -> str:
    """Return where in the file an error was raised, such as ``mine.py:12``; empty if the file is not in the traceback."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if Path(each.filename).resolve() == path.resolve()]
    return f"{path}:{frames[-1].lineno}" if frames else ""
