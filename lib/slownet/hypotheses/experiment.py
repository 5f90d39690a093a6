"""An experiment: one question about a topology under varying conditions, with claims about the answer.

An experiment file holds one function, decorated with `experiment`. Its docstring is the question; its parameters are the
network, the service and then one per condition. The file is imported on the host to list and judge, and in the lab to run.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Protocol, TypeVar, overload

from slownet.hypotheses import value_texts
from slownet.judge.records.condition_columns import NONE, condition, is_of_links
from slownet.lab.run.clock import EXACT, check_tdf
from slownet.model.errors import ExperimentError, SlownetError, nearest
from slownet.model.facts import Published
from slownet.model.options import Option
from slownet.model.sample import Metric
from slownet.topologies import find as find_topology

if TYPE_CHECKING:
    from slownet.judge.claim import Claim
    from slownet.judge.histories.history import History
    from slownet.judge.records.repeatability import Spread
    from slownet.judge.records.result import RunData
    from slownet.model.mininets import Topology
    from slownet.net.network import Network


# Validates an experiment when it is defined, before any lab boots.

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


__all__ = ["Cell", "Experiment", "Record", "condition", "experiment"]

Cell = dict[str, str]
FAULTS = "faults"
"""The condition that is a schedule of faults, as text."""
VARY = Option("vary")
"""The option that states other values of conditions."""


S = TypeVar("S")


class Record(Protocol):
    """The interface of a tool's record, which a measuring function returns."""

    @property
    def command(self) -> Sequence[str]:
        """The program that was run, with its arguments."""

    @property
    def raw(self) -> str:
        """The program's output, kept with the run."""

    def metrics(self) -> Mapping[str, Metric]:
        """Return the metrics by name, which ends with the unit: ``{"rtt_ms": {"mean": 10.2, "sd": 0.1, "n": 5}}``."""


Returned = Record | Mapping[str, float | Sequence[float]] | float | Sequence[float]
"""The result of a measuring function; see `experiment`."""


MOST_CELLS = 10_000
"""Cells of one run; a sweep may have more."""


def grid(values: Mapping[str, Sequence[str]]) -> list[Cell]:
    """Return the cells of all combinations of values. Raises ExperimentError if they are too many."""
    count = math.prod(len(texts) for texts in values.values())
    if count > MOST_CELLS:
        each = " x ".join(str(len(texts)) for texts in values.values())
        fix = f"a run has at most {MOST_CELLS:,}: vary less, or use slownet sweep"
        raise ExperimentError(f"the conditions have {count:,} combinations, {each}", fix=fix)
    return [dict(zip(values, texts, strict=True)) for texts in itertools.product(*values.values())]


def once(name: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the values of a condition without those that are equal to one before: ``0.01s`` is ``10ms`` once more."""
    kept: dict[str, str] = {}
    for text in texts:
        kept.setdefault(str(condition({name: text}) if is_of_links(name) else text), text)
    return tuple(kept.values())


def tried(name: str, texts: Sequence[str], where: str) -> None:
    """Raise SlownetError with its place for a value of a condition that cannot be read."""
    for text in texts:
        try:
            condition({name: text})
        except SlownetError as error:
            fix = error.fix if ":" not in text else f"{error.fix}; a range is from:to:step, such as 0:100:10ms"
            raise type(error)(error.what, error.where or where, fix) from error


@dataclass
class Experiment:
    """One question about a topology under several conditions, made by the decorator `experiment`.

    Parameters
    ----------
    name, question : str
        The measuring function's name, and the first paragraph of its docstring.
    measure : callable
        The function: (net[, service], one parameter per condition) -> record.
    topology, vary, service, published, tdf, clock, blocks, unit, prepare, warm_up
        As in `experiment`, but with a topology's name replaced by its class.
    judged_by : list of Claim
        The claims, in order.
    listed : sequence of dict
        The argument ``cells`` of `experiment`.
    made_of : sequence, optional
        What measure and service were made of, if that was at run time, as from a hypothesis file: see `parts`.
    chance : str
        What is random in it, in addition to what its parts declare.
    spreads : sequence of Spread
        How far its numbers differ between boots because of that.
    answered_by : callable, optional
        The function that `answer` was given.
    space : FaultSpace, optional
        What `hunt` was given, with `checks`.
    """

    name: str
    question: str
    measure: Callable[..., Returned]
    topology: Topology | Callable[[], Topology]
    vary: Mapping[str, Sequence[str]]
    service: Callable[[Network, Path], AbstractContextManager[Any]] | None = None
    published: Published | None = None
    judged_by: list[Claim] = field(default_factory=list)
    listed: Sequence[Cell] = ()
    tdf: str | None = None
    clock: str | None = None
    blocks: int | None = None
    unit: str | None = None
    prepare: Callable[..., object] | None = None
    made_of: Sequence[Any] | None = None
    chance: str = ""
    spreads: Sequence[Spread] = ()
    answered_by: Callable[[RunData], str] | None = None
    warm_up: int | None = None
    space: Any = None
    checks: Sequence[Callable[[History], Any]] = ()

    @property
    def parts(self) -> tuple[Any, ...]:
        """All that decides its numbers, for `slownet.judge.records.repeatability.has_own_programs`."""
        made = (self.measure, self.service) if self.made_of is None else tuple(self.made_of)
        return (*made, self.prepare, self.topology)

    def claims(self, *claims: Claim) -> None:
        """Add claims, which are judged after every run.

        Parameters
        ----------
        *claims : Claim
            Appended to the existing ones.

        Raises
        ------
        ClaimError
            One of them is not a claim.
        """
        from slownet.judge.claim import validation

        validation.claims(claims, f"in {self.name}")
        self.judged_by.extend(claims)

    def differs(self, why: str, *spreads: Spread) -> None:
        """State that programs in the experiment draw random numbers, so that another run gives other ones.

        Parameters
        ----------
        why : str
            What is random, for `repeats` in run.json: ``"BBR starts its cycle of rates at random"``.
        *spreads : Spread
            By how much metrics differ between boots with free CPU, as it was measured in at least nine of them. A verdict from
            few boots then counts with it; without, it takes the boots that show it.
        """
        check_differences(why, spreads)
        self.chance, self.spreads = why, spreads

    def answer(self, function: Callable[[RunData], str]) -> Callable[[RunData], str]:
        """Use a function for the first sentence of table and report: a decorator.

        Parameters
        ----------
        function : callable
            Gets the run, as a claim's function does, and returns the answer to the question in one or two sentences, in the
            question's unit: ``f"The page takes {run.at(FAR).amount('page_ms')}."``. It states what was measured; how far the
            claims carry it is added. Where a cell or a metric is missing that it asks for, the general answer is shown.

        Returns
        -------
        callable
            The function.
        """
        if not callable(function):
            raise ExperimentError(f"the answer of {self.name} is {function!r:.60}", fix="decorate a function (run) -> text")
        self.answered_by = function
        return function

    def hunt(self, space: Any, *checks: Callable[[History], Any]) -> None:
        """State what `slownet hunt` breaks, and what must hold all the same.

        The experiment varies ``faults``, which its function gives to `Network.faults`, and returns a `Recorder`.

        Parameters
        ----------
        space : FaultSpace, or callable
            What `faults` returns; or a function without arguments that returns a strategy of Hypothesis for `Faults`. It is
            called on the host alone, so import Hypothesis in it.
        *checks : callable
            Such as `no_lost_writes`, or functions (history) that return what is wrong as text, or None.

        Raises
        ------
        ExperimentError
            It varies no ``faults``, or there is no check.
        """
        if FAULTS not in self.conditions:
            fix = f'write vary={{"{FAULTS}": ["{NONE}"]}}, and give {FAULTS} to net.faults() in the function'
            raise ExperimentError(f"{self.name} does not vary '{FAULTS}'", "hunt()", fix)
        if not checks or not all(map(callable, checks)):
            raise ExperimentError("nothing is checked", "hunt()", "name checks, such as no_lost_writes()")
        self.space, self.checks = space, checks
        self.warm_up = self.warm_up or 0  # what operations before the first one leave behind would stand in no history

    def cells(self, chosen: Mapping[str, Sequence[str]] | None = None) -> list[Cell]:
        """Return the listed cells, or every combination of conditions, with the baseline first.

        Parameters
        ----------
        chosen : mapping of str to sequence of str, optional
            Values by condition. They replace the values to vary; of listed cells they select those with one of the values.

        Returns
        -------
        list of dict
            For each condition a text with its unit: ``[{"rtt": "0ms"}, {"rtt": "10ms"}]``.

        Raises
        ------
        ExperimentError
            The experiment does not vary the condition, or has no such cell.
        UnitError
            A value cannot be read.
        """
        replaced: Mapping[str, Sequence[str]] = self.whole(chosen or {})
        if self.listed:
            return self._picked(replaced)
        values: dict[str, Sequence[str]] = dict(self.vary)
        for name, texts in replaced.items():
            if name not in values:
                raise self._not_varied(name)
            values[name] = list(texts)
        for name, texts in values.items():
            tried(name, texts, f"{VARY} {name}" if name in replaced else f"{name} of {self.name}")
        cells = grid({name: once(name, texts) for name, texts in values.items()})
        for cell in cells:
            condition(cell)
        return cells

    def whole(self, chosen: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        """Return chosen values; the experiment's own values that contain a comma stay whole again. Raises ExperimentError."""
        own = self.conditions
        return {name: value_texts.whole(name, texts, own.get(name, ()), self.name) for name, texts in chosen.items()}

    def _picked(self, chosen: Mapping[str, Sequence[str]]) -> list[Cell]:
        cells = [dict(cell) for cell in self.listed]
        for name, texts in chosen.items():
            known = {cell[name] for cell in self.listed if name in cell}
            if not known:
                raise self._not_varied(name)
            for text in texts:
                if text not in known:
                    raise ExperimentError(f"{self.name} has no cell of {name} {text}", fix=nearest(text, known))
            cells = [cell for cell in cells if cell.get(name) in texts]
        if not cells:
            raise ExperimentError(f"{self.name} has no such cell", fix="see slownet list")
        return cells

    def _not_varied(self, name: str) -> ExperimentError:
        near = nearest(name, self.conditions)
        if not near.startswith("did you mean"):
            near = f"it varies {', '.join(self.conditions)}; for a new one"
            if self.made_of is None:
                near += f" copy {inspect.getsourcefile(self.measure)}, and there add {name} to the function's parameters,"
                near += f" to what it gives to set(), and to {'cells' if self.listed else 'vary'}"
            else:
                near += " add it to the file that describes it"
        return ExperimentError(f"{self.name} does not vary '{name}'", fix=near)

    @property
    def conditions(self) -> dict[str, list[str]]:
        """The conditions with their values, without duplicates, in order."""
        names = dict.fromkeys(name for cell in self.listed for name in cell)
        values = {name: list(dict.fromkeys(cell[name] for cell in self.listed if name in cell)) for name in names}
        return values or {name: list(texts) for name, texts in self.vary.items()}


@overload
def experiment(
    *,
    topology: type[Topology] | Topology | str,
    vary: Mapping[str, Sequence[str]] | None = None,
    cells: Sequence[Cell] = (),
    service: None = None,
    published: Published | None = None,
    tdf: str | None = None,
    clock: str | None = None,
    blocks: int | None = None,
    unit: str | None = None,
    prepare: Callable[[Network], object] | None = None,
    warm_up: int | None = None,
) -> Callable[[Callable[Concatenate[Network, ...], Returned]], Experiment]: ...


@overload
def experiment(
    *,
    topology: type[Topology] | Topology | str,
    vary: Mapping[str, Sequence[str]] | None = None,
    cells: Sequence[Cell] = (),
    service: Callable[[Network, Path], AbstractContextManager[S]],
    published: Published | None = None,
    tdf: str | None = None,
    clock: str | None = None,
    blocks: int | None = None,
    unit: str | None = None,
    prepare: Callable[[Network, S], object] | None = None,
    warm_up: int | None = None,
) -> Callable[[Callable[Concatenate[Network, S, ...], Returned]], Experiment]: ...


def experiment(
    *,
    topology: type[Topology] | Topology | str,
    vary: Mapping[str, Sequence[str]] | None = None,
    cells: Sequence[Cell] = (),
    service: Callable[[Network, Path], AbstractContextManager[Any]] | None = None,
    published: Published | None = None,
    tdf: str | None = None,
    clock: str | None = None,
    blocks: int | None = None,
    unit: str | None = None,
    prepare: Callable[..., object] | None = None,
    warm_up: int | None = None,
) -> Callable[[Callable[..., Returned]], Experiment]:
    """Make an experiment from a function (net[, service], one parameter per condition) -> record or numbers.

    The function returns a tool's record, or numbers that it measured itself: a dict of metrics whose names end with their unit,
    each a number or a list of numbers in the order of measurement, such as ``{"checkout_ms": [12.1, 11.8]}``; or with ``unit``
    one number or one list.

    Parameters
    ----------
    topology : type, Topo or str
        A Mininet ``Topo`` class or object, or the name of one of slownet's topologies.
    vary : mapping of str to sequence of str, optional
        The values of each condition as texts with units, the baseline first; every combination is a cell.
    cells : sequence of dict
        The cells with their conditions, the baseline first; instead of ``vary``.
    service : callable, optional
        Takes the network and the run directory, and returns a context manager; the value that this yields is the function's
        second argument.
    published : mapping, optional
        An article's numbers, for the report: see `slownet.theory.published`.
    tdf : str, optional
        The time dilation factor unless the caller sets one (--clock, --tdf): a whole number, ``"auto"``, or ``"inf"`` if the
        question is only about the network.
    clock : str, optional
        ``"exact"`` for the exact clock unless the caller sets one (--clock, --tdf): the question is what the CPU takes, to the
        instruction.
    blocks : int, optional
        How often a boot goes through the cells, alternately forwards and backwards, calling the function in each. Unless
        given, 2 if CPU is charged or the clock is real, else 1; always 1 on the exact clock.
    unit : str, optional
        The unit of a number or a list that the function returns: ``"ms"``. The metric is called after the function:
        ``checkout_ms``.
    prepare : callable, optional
        Takes the network and the service, and does what takes long and is the same for all cells, such as filling tables. A
        run calls it in each boot, before the cells. A sweep calls it once, stops the services, and keeps their data and all
        that was written to the lab's disk for its other boots; what programs had in memory is gone.
    warm_up : int, optional
        How many operations each boot does before its first cell, without recording them: the function is called, and what it
        measured is left out, until it has returned so many values. Programs behave differently at first: they compile, fill
        caches, prepare a statement when it is executed for the sixth time. That is done in the first cell, and if conditions
        other than links' are varied, in the first cell of each combination of them. Unless given, 0 for slownet's own programs,
        which do not need it, and 30 for others, but no call begins after 10 s on the network's clock.

    Returns
    -------
    callable
        The decorator that turns the function into an `Experiment`.

    Raises
    ------
    ExperimentError
        An argument has the wrong type, neither or both of ``vary`` and ``cells`` are given, there is no topology of this name,
        or the function has other parameters than the network, the service and the cells' conditions.
    UnitError
        A cell's value cannot be read.
    LabError
        ``tdf`` cannot be read.
    """
    check(
        topology=topology, vary=vary, cells=cells, service=service, published=published, tdf=tdf, clock=clock, blocks=blocks,
        unit=unit, prepare=prepare, warm_up=warm_up,
    )  # fmt: skip

    def make(measure: Callable[..., Returned]) -> Experiment:
        first = [{name: texts[0] for name, texts in (vary or {}).items()}]
        check_function(measure, cells or first, service is not None)
        question = " ".join((inspect.getdoc(measure) or "").split("\n\n")[0].split())
        cls = find_topology(topology) if isinstance(topology, str) else topology
        return Experiment(
            measure.__name__, question, measure, cls, vary or {}, service, published, listed=cells, tdf=tdf, clock=clock,
            blocks=blocks, unit=unit, prepare=prepare, warm_up=warm_up,
        )  # fmt: skip

    return make
