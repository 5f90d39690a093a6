"""Finds experiments: the project's own by name, and those in other files."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from pathlib import Path

from slownet.hypotheses.experiment import Experiment
from slownet.model import importing
from slownet.model.errors import ExperimentError, nearest

FILES = (".py", ".toml")
RECORD = ".json"
"""The ending of an experiment on a compose project, which `slownet run --compose` writes into its run directory."""


def discover() -> dict[str, Experiment]:
    """Return the project's experiments by name."""
    return _experiments(_modules())


def find(name: str) -> Experiment:
    """Return an experiment by its name, or the one in a Python or hypothesis file. Raises ExperimentError."""
    if name.endswith(".py"):
        return _from_file(Path(name))
    if name.endswith(".toml"):
        from slownet.hypotheses import file as hypotheses  # slow: it imports every tool and service

        return hypotheses.read(Path(name)).experiment()
    if name.endswith(RECORD):
        from slownet.hypotheses import composed

        return composed.read(Path(name))
    # A file has the name of its experiment; to import all of them takes a while.
    known = _experiments([name]) if name in _modules() else {}
    if name not in known:
        known = discover()
    if name not in known:
        raise ExperimentError(f"no experiment '{name}'", fix=nearest(name, known))
    return known[name]


def _from_file(path: Path) -> Experiment:
    module = importing.file(path, "name an experiment (slownet list) or a Python file with one")
    found = [each for each in vars(module).values() if isinstance(each, Experiment)]
    if len(found) != 1:
        raise ExperimentError(f"{path} contains {len(found)} experiments", fix="an experiment file contains one")
    return found[0]


def _modules() -> list[str]:
    return [each.name for each in pkgutil.iter_modules(importlib.import_module("slownet.experiments").__path__)]


def _experiments(modules: Iterable[str]) -> dict[str, Experiment]:
    """Return the experiments in some of the project's files, by name."""
    imported = (importlib.import_module(f"slownet.experiments.{each}") for each in modules)
    return {each.name: each for module in imported for each in vars(module).values() if isinstance(each, Experiment)}
