"""Validates an experiment when it is defined, before any lab boots."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from slownet.judge.records.condition_columns import condition
from slownet.lab.run.clock import EXACT, check_tdf
from slownet.model.errors import ExperimentError

WHERE = "@experiment"
TEXTS = 'write each value as a text, a link\'s with its unit: vary={"rtt": ["0ms", "10ms"]}'
CELLS = 'write each cell as its conditions: cells=[{"rtt": "0ms"}, {"rtt": "10ms"}]'
NETWORK = "name a topology, or give a class of Mininet's Topo, or an object of it"


def check(
    *,
    topology: object,
    vary: object,
    cells: object,
    service: object,
    published: object,
    tdf: str | None,
    clock: str | None,
    blocks: object,
    unit: object,
    prepare: object,
    warm_up: object,
) -> None:
    """Check the arguments of the decorator `experiment`. Raises ExperimentError; UnitError for a value that cannot be read."""
    if bool(vary) == bool(cells):
        raise ExperimentError("an experiment needs either vary or cells", where=WHERE, fix="give one of them")
    _check_topology(topology)
    _check_vary(_table("vary", vary or {}, TEXTS))
    _check_cells(cells)
    for called, function, fix in (("service", service, "(net, directory)"), ("prepare", prepare, "(net, service)")):
        if function is not None and not callable(function):
            raise ExperimentError(f"{called} is {function!r:.60}", where=WHERE, fix=f"name a function {fix}")
    if published is not None:
        _table("published", published, "give one of slownet.theory.published")
    if unit is not None and not isinstance(unit, str):
        raise ExperimentError(f"unit is {unit!r:.60}", WHERE, 'write a text, such as unit="ms"')
    _check_clock(tdf, clock)
    for called, number, least, what in (("blocks", blocks, 1, ""), ("warm_up", warm_up, 0, " of operations")):
        if number is not None and (type(number) is not int or number < least):
            fix = f"write a whole number{what} from {least}, or leave it out"
            raise ExperimentError(f"{called} is {number!r:.60}", where=WHERE, fix=fix)


def check_function(measure: Callable[..., object], cells: Sequence[Mapping[str, str]], has_service: bool) -> None:
    """Check that a function takes the network, the service if there is one, and the conditions of each cell.

    Raises ExperimentError.
    """
    name = getattr(measure, "__name__", repr(measure))
    if not callable(measure) or isinstance(measure, type) or inspect.iscoroutinefunction(measure):
        fix = "write a plain function: def mine(net, rtt)"
        raise ExperimentError(f"{name} is not a function that returns what it measured", WHERE, fix)
    given = ("net", "service")[: 1 + has_service]
    signature = inspect.signature(measure)
    for cell in {tuple(cell): cell for cell in cells}.values():  # their values do not matter
        try:
            signature.bind(*given, **cell)
        except TypeError as error:
            fix = f"it takes {' and '.join(given)}, and each condition: def {name}({', '.join((*given, *cell))})"
            raise ExperimentError(f"{name}() does not fit the experiment's cells ({error})", WHERE, fix) from error


def check_differences(why: object, spreads: Sequence[object]) -> None:
    """Check what `Experiment.differs` is given. Raises ExperimentError."""
    if not isinstance(why, str) or not why:
        raise ExperimentError(
            f"why a run differs is {why!r:.60}", "differs()", 'write what is random, such as "BBR starts at random"'
        )
    for each in spreads:
        if not hasattr(each, "to_json"):
            raise ExperimentError(f"a spread is {each!r:.60}", "differs()", 'give a Spread("mbit_per_s", 0.0015)')


def _check_topology(topology: object) -> None:
    is_class = isinstance(topology, type)
    is_one = isinstance(topology, str) or hasattr(topology, "addHost") or hasattr(topology, "hosts")
    if not (is_one or (callable(topology) and not is_class)):
        raise ExperimentError(f"topology is {topology!r:.60}", WHERE, NETWORK)


def _check_vary(vary: Mapping[Any, Any]) -> None:
    for name, texts in vary.items():
        _check_name("vary", name)
        if isinstance(texts, str) or not isinstance(texts, Sequence) or not texts:
            raise ExperimentError(f"vary has {texts!r:.60} for {name}", WHERE, TEXTS)
        for text in texts:
            _check_text("vary", name, text, TEXTS)


def _check_cells(cells: object) -> None:
    if isinstance(cells, str) or not isinstance(cells, Sequence):
        raise ExperimentError(f"cells is {cells!r:.60}", WHERE, CELLS)
    known: dict[frozenset[tuple[str, str]], int] = {}
    for number, cell in enumerate(cells, 1):
        called = f"cell {number}"
        for name, text in _table(called, cell, CELLS).items():
            _check_name(called, name)
            _check_text(called, name, text, CELLS)
        condition(cell)
        if (first := known.setdefault(frozenset(cell.items()), number)) < number:
            raise ExperimentError(f"{called} is the same as cell {first}", WHERE, "leave one of them out")


def _check_clock(tdf: str | None, clock: str | None) -> None:
    if tdf is not None:
        check_tdf(tdf)
    if clock is not None and (clock != EXACT or tdf is not None):
        what = f"clock is {clock!r:.60}" if clock != EXACT else "the exact clock has no time dilation factor"
        raise ExperimentError(what, where=WHERE, fix=f"write clock={EXACT!r} without tdf, or leave it out")


def _table(called: str, value: object, fix: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise ExperimentError(f"{called} is {value!r:.60}", WHERE, fix)
    return value


def _check_name(called: str, name: object) -> None:
    if not isinstance(name, str) or not name.isidentifier() or name in ("net", "service"):
        fix = "name it as a parameter of the function, such as rtt"
        raise ExperimentError(f"{called} has a condition {name!r:.60}", WHERE, fix)


def _check_text(called: str, name: str, text: object, fix: str) -> None:
    if not isinstance(text, str):
        raise ExperimentError(f"{called} has {text!r:.60} for {name}", WHERE, fix)
