"""A Python file of somebody's own, imported by its path: an experiment, topologies."""

from __future__ import annotations

import importlib.util
import traceback
from pathlib import Path
from types import ModuleType

from slownet.errors import ExperimentError, SlownetError


def file(path: Path, otherwise: str) -> ModuleType:
    """The module that a file makes; ``otherwise`` says what to name if there is none.

    Raises ExperimentError, and SlownetError as the file itself does.
    """
    if not path.is_file():
        raise ExperimentError(f"no file {path}", fix=otherwise)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ExperimentError as error:  # a claim, say: the traceback knows its line
        raise type(error)(error.what, ", ".join(filter(None, (error.where, _line_of(path, error)))), error.fix) from error
    except SlownetError:
        raise
    except Exception as error:
        raise ExperimentError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    return module


def _line_of(path: Path, error: BaseException) -> str:
    """Where in the file it was raised: ``mine.py:12``; empty where it was not raised by what the file does."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if Path(each.filename).resolve() == path.resolve()]
    return f"{path}:{frames[-1].lineno}" if frames else ""
