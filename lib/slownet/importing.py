"""A Python file of somebody's own, imported by its path: an experiment, topologies."""

from __future__ import annotations

import importlib.util
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
    except SlownetError:
        raise
    except Exception as error:
        raise ExperimentError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    return module
