"""Finds experiments: the project's own and other packages' by name, and those in other files."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path

from slownet.hypotheses.experiment import Experiment
from slownet.model import importing
from slownet.model.errors import ExperimentError, nearest
from slownet.model.extensions import Register
from slownet.model.options import OUT

FILES = (".py", ".toml")
RECORD = ".json"
"""The ending of an experiment that a command line describes, in its run directory."""
ADDED: Register[Experiment] = Register("experiments", {})
"""Those of other packages, by entry points (`slownet.model.extensions`)."""


LAYERED = ("routing",)
"""Folders of the checkout's examples whose experiments are in the catalogue, too. The packages in the project file of each
become a layer of the lab, which only these experiments have."""
LAYERED_FILES = ("failover", "news")


def layered() -> dict[str, Path]:
    """Return the files of experiments that need a layer of their own, by names such as "routing/failover"."""
    examples = Path(__file__).resolve().parents[3] / "examples"
    found = {f"{folder}/{name}": examples / folder / f"{name}.py" for folder in LAYERED for name in LAYERED_FILES}
    return {name: path for name, path in found.items() if path.is_file()}


def discover() -> dict[str, Experiment]:
    """Return the project's experiments by name."""
    return _experiments(_modules())


def everything() -> dict[str, Experiment]:
    """Return the project's experiments and those of other packages, by name. Raises ExperimentError."""
    own = discover()
    return own | {name: _added(name) for name in ADDED if name not in own}


def names() -> list[str]:
    """Return the names of all experiments, without importing any: a file has the name of its experiment."""
    return [*_modules(), *ADDED, *layered()]


def find(name: str) -> Experiment:
    """Return an experiment by its name, or the one in a Python or hypothesis file. Raises ExperimentError."""
    name = str(layered().get(name, name))
    if name.endswith(".py"):
        return _from_file(Path(name))
    if name.endswith(".toml"):
        from slownet.hypotheses import file as hypotheses  # slow: it imports every tool and service

        return hypotheses.read(Path(name)).experiment()
    if name.endswith(RECORD):
        return _recorded(Path(name))
    # A file has the name of its experiment; to import all of them takes a while.
    known = _experiments([name]) if name in _modules() else {}
    if name not in known:
        known = discover()
    if name in known:
        return known[name]
    if name in ADDED:
        return _added(name)
    beside = [name.partition(":")[0].removesuffix(".py") + ending for ending in FILES]
    here = " or ".join(each for each in beside if Path(each).is_file())
    fix = f"name the file: {here}" if here else nearest(name, [*known, *ADDED, *layered()])
    if Path(name).is_dir() and not fix.startswith("did you mean"):
        fix = f"it is a folder: name an experiment or its file, and the folder by an option, such as {OUT}"
    raise ExperimentError(f"no experiment '{name}'", fix=fix)


def _recorded(path: Path) -> Experiment:
    """Return the experiment that a command line has described. Raises SlownetError."""
    from slownet.hypotheses import commanded, composed, recorded

    record = recorded.read(path)
    if isinstance(record.get(commanded.COMMAND), list):
        return commanded.of(record, find)
    return composed.of(path, record)


def _added(name: str) -> Experiment:
    """Return another package's experiment. Raises ExperimentError, also if it has another name: a run is named after it."""
    found = ADDED[name]
    where = f"'{name}' of slownet.experiments"
    if not isinstance(found, Experiment):
        raise ExperimentError(f"a {type(found).__name__} is not an experiment", where, "name a function with @experiment")
    if found.name != name:
        raise ExperimentError(f"the experiment is named '{found.name}'", where, "give both one name")
    return found


def _from_file(path: Path) -> Experiment:
    module = importing.file(path, "name an experiment (slownet list) or a Python file with one")
    found = [each for each in vars(module).values() if isinstance(each, Experiment)]
    if len(found) != 1:
        raise ExperimentError(f"{path} contains {len(found)} experiments", fix="an experiment file contains one")
    return found[0]


def _modules() -> list[str]:
    import pkgutil  # only who lists them all needs it

    return [each.name for each in pkgutil.iter_modules(importlib.import_module("slownet.experiments").__path__)]


def _experiments(modules: Iterable[str]) -> dict[str, Experiment]:
    """Return the experiments in some of the project's files, by name."""
    imported = (importlib.import_module(f"slownet.experiments.{each}") for each in modules)
    return {each.name: each for module in imported for each in vars(module).values() if isinstance(each, Experiment)}
