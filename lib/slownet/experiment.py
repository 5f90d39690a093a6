"""An experiment: one question, asked of a topology under varying conditions, with claims about the answer.

An experiment file holds one function, decorated with `experiment`; its docstring is the question, its parameters are
the network, the service and one condition each. It is imported on the host to list and judge, and in the lab to run.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import itertools
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from slownet.errors import ExperimentError, SlownetError, nearest
from slownet.topologies import find as find_topology
from slownet.units import duration

if TYPE_CHECKING:
    from slownet.claim import Claim

FILES = (".py", ".toml")
DURATIONS = ("rtt", "delay")
Cell = dict[str, str]


class Record(Protocol):
    """What a measuring function returns: a tool's record."""

    @property
    def command(self) -> Sequence[str]: ...

    @property
    def raw(self) -> str: ...

    def metrics(self) -> Mapping[str, Mapping[str, Any]]: ...


Service = Callable[[Any, Path], AbstractContextManager[Any]]


@dataclass
class Experiment:
    """See the module; made by the decorator `experiment`."""

    name: str
    question: str
    measure: Callable[..., Record]
    topology: Any
    vary: Mapping[str, Sequence[str]]
    service: Service | None = None
    published: Mapping[str, Any] | None = None
    judged_by: list[Claim] = field(default_factory=list)

    def claims(self, *claims: Claim) -> None:
        """States what should hold, and is judged after every run."""
        self.judged_by.extend(claims)

    def cells(self, chosen: Mapping[str, Sequence[str]] | None = None) -> list[Cell]:
        """Every combination of conditions, the baseline first. `chosen` replaces the values of some conditions.

        Raises ExperimentError, UnitError.
        """
        values = dict(self.vary)
        for name, texts in (chosen or {}).items():
            if name not in values:
                raise ExperimentError(f"{self.name} does not vary '{name}'", fix=nearest(name, values))
            values[name] = list(texts)
        cells = [dict(zip(values, texts, strict=True)) for texts in itertools.product(*values.values())]
        for cell in cells:
            condition(cell)
        return cells


def condition(cell: Cell) -> dict[str, Any]:
    """A cell's conditions with the unit in the name: {"rtt": "10ms"} becomes {"rtt_ms": 10.0}. Raises UnitError."""
    return {
        f"{name}_ms" if name in DURATIONS else name: round(duration(text) * 1000, 6) if name in DURATIONS else text
        for name, text in cell.items()
    }


def experiment(
    *,
    topology: Any,
    vary: Mapping[str, Sequence[str]],
    service: Service | None = None,
    published: Mapping[str, Any] | None = None,
) -> Callable[[Callable[..., Record]], Experiment]:
    """Makes an experiment of a function (net[, service], one parameter a condition) -> record of a tool.

    topology: a Mininet Topo class, or the name of one of the project's; vary: {condition: values, the baseline first};
    service: called with the network and the run directory, a context manager; published: the article's numbers for the
    report.
    """

    def make(measure: Callable[..., Record]) -> Experiment:
        question = " ".join((inspect.getdoc(measure) or "").split("\n\n")[0].split())
        cls = find_topology(topology) if isinstance(topology, str) else topology
        return Experiment(measure.__name__, question, measure, cls, vary, service, published)

    return make


def discover() -> dict[str, Experiment]:
    """The project's experiments by name."""
    package = importlib.import_module("slownet.experiments")
    found = (_experiments(f"{package.__name__}.{each.name}") for each in pkgutil.iter_modules(package.__path__))
    return {each.name: each for some in found for each in some}


def find(name: str) -> Experiment:
    """An experiment by name, the only one of a Python file, or that of a hypothesis file. Raises ExperimentError."""
    if name.endswith(".py"):
        return _from_file(Path(name))
    if name.endswith(".toml"):
        from slownet import hypothesis

        return hypothesis.read(Path(name)).experiment()
    known = discover()
    if name not in known:
        raise ExperimentError(f"no experiment '{name}'", fix=nearest(name, known))
    return known[name]


def _from_file(path: Path) -> Experiment:
    if not path.is_file():
        raise ExperimentError(f"no file {path}", fix="name an experiment (slownet list) or a Python file with one")
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
    found = [each for each in vars(module).values() if isinstance(each, Experiment)]
    if len(found) != 1:
        raise ExperimentError(f"{path} holds {len(found)} experiments", fix="an experiment file holds one")
    return found[0]


def _experiments(module: str) -> Iterator[Experiment]:
    return (each for each in vars(importlib.import_module(module)).values() if isinstance(each, Experiment))
