"""The experiments that there are: the project's by name, and those of somebody's own files."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from pathlib import Path

from slownet import importing
from slownet.errors import ExperimentError, nearest
from slownet.experiment import Experiment

FILES = (".py", ".toml")


def discover() -> dict[str, Experiment]:
    """The project's experiments by name."""
    return _experiments(_modules())


def find(name: str) -> Experiment:
    """An experiment by name, the only one of a Python file, or that of a hypothesis file. Raises ExperimentError."""
    if name.endswith(".py"):
        return _from_file(Path(name))
    if name.endswith(".toml"):
        from slownet.hypotheses import file as hypotheses  # which brings every tool and service

        return hypotheses.read(Path(name)).experiment()
    # A file is called like the experiment in it, and importing all of them takes a while.
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
        raise ExperimentError(f"{path} holds {len(found)} experiments", fix="an experiment file holds one")
    return found[0]


def _modules() -> list[str]:
    return [each.name for each in pkgutil.iter_modules(importlib.import_module("slownet.experiments").__path__)]


def _experiments(modules: Iterable[str]) -> dict[str, Experiment]:
    """The experiments of some of the project's files, by name."""
    imported = (importlib.import_module(f"slownet.experiments.{each}") for each in modules)
    return {each.name: each for module in imported for each in vars(module).values() if isinstance(each, Experiment)}
