"""The functions: measure as `slownet run` does, read a run, compare two."""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import os
import sys
import textwrap
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, Unpack, get_args, get_type_hints

from slownet.api.presented import Run
from slownet.hypotheses.experiment import Experiment
from slownet.judge.records import measured_folder
from slownet.judge.records.result import RunData
from slownet.judge.records.run_json import MALFORMED, unreadable
from slownet.lab.run.caller import without_values
from slownet.lab.run.events import Event
from slownet.lab.run.place import Interrupts, Place
from slownet.model import options
from slownet.model.control_characters import visible
from slownet.model.errors import ExperimentError, SlownetError
from slownet.model.options import here, of_another_program
from slownet.report.progress import Follower
from slownet.runner import RUNS, planning
from slownet.runner.planning import HOSTS
from slownet.runner.repetition import Follow
from slownet.runner.run import ClaimsError, execute, last_lines
from slownet.runner.run_options import Arguments, RunOptions, Texts
from slownet.runner.run_request import RunRequest, what_is_left

OF_COMPARE = ("within", "fail_if_slower", "metric", "at", "t0")
ARGUMENTS = (*(each.name for each in fields(RunRequest)), *OF_COMPARE)


def argument(name: str, value: str) -> str | None:
    """Return the argument in place of an option of the command line in messages: ``repeat=4`` for ``--repeat 4``."""
    name = name.replace("-", "_")
    if name not in ARGUMENTS or not value:
        return f"{name}=" if name in ARGUMENTS else None
    if value.isdecimal():
        return f"{name}={value}"
    is_word = name in options.names(RunOptions) and value.partition(":")[0] in options.of(RunOptions, name).words
    return f'{name}="{value}"' if is_word else None


@contextlib.contextmanager
def naming_arguments() -> Iterator[None]:
    """Let messages of a ``with`` block name arguments, and the errors that leave it, whenever they are printed."""
    with of_another_program(argument):
        try:
            yield
        except SlownetError as error:
            error.what, error.where, error.fix = map(here, (error.what, error.where, error.fix))
            raise


if TYPE_CHECKING:
    from slownet.api.compared import Compared

OWN = "slownet.experiments."
P = ParamSpec("P")
R = TypeVar("R")


def _with_options(call: Callable[P, R]) -> Callable[P, R]:
    """Give a function the options of a run as parameters, in its signature and docstring; type checkers read `Arguments`."""
    signature = inspect.signature(call)
    own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    defaults = {each.name: each.default for each in fields(RunOptions)} | {"capture": False, "runs": str(RUNS)}
    kinds = {name: kind.__forward_arg__ for name, kind in Arguments.__annotations__.items()}
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None if defaults[name] == () and kind.endswith("| None") else defaults[name],
            annotation=kind,
        )
        for name, kind in kinds.items()
    ]
    complete = signature.replace(parameters=[*own[:1], *parameters, *own[1:]])
    lines = []
    for each in (options.of(RunOptions, name) for name in kinds):
        lines += [f"{each.name} : {each.kind}", *textwrap.wrap(each.doc, 120, initial_indent="    ", subsequent_indent="    ")]
    text = textwrap.indent("\n".join(lines), "    ").lstrip()

    @functools.wraps(call)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            complete.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{call.__name__}() {error}") from None
        return call(*args, **kwargs)

    called.__signature__ = complete  # type: ignore[attr-defined]  # of a function
    del called.__wrapped__  # whose source has other parameters, which Sphinx would read
    called.__doc__ = (call.__doc__ or "").replace("{options}", text)
    return called


@naming_arguments()
@_with_options
def run(
    experiment: str | Path | Experiment | None = None,
    *,
    compose: Path | str | Sequence[Path | str] = (),
    progress: bool = True,
    **given: Unpack[Arguments],
) -> Run:
    """Run an experiment, judge its claims and write its records and report, as `slownet run` does.

    It runs in the caller's process and its labs as child processes. An interrupt ends them and keeps the samples.

    Parameters
    ----------
    experiment : str, Path or Experiment, optional
        A name (see ``slownet list``), a Python or hypothesis file, or an experiment that was imported from a file; none with
        ``compose`` or ``resume``.
    {options}
    compose : Path, str, or sequence of them
        A compose project's file or folder, to be measured with ``tool``; several files are merged.
    progress : bool
        Whether to show progress on standard error.

    Returns
    -------
    Run
        The measured run.

    Raises
    ------
    SlownetError
        A user error, or the lab failed.
    KeyboardInterrupt
        It was interrupted; its note explains how to continue.
    """
    asked = RunRequest(
        **_as_typed(given),
        experiments=[_named(experiment)] if experiment is not None else [],
        compose=[Path(each) for each in _all(compose)],
    )
    asked.check()
    with restored(given.get("env") or {}):
        plans, where = asked.plans()
        for line in asked.notices(plans):
            print(f"slownet: {visible(here(line))}", file=sys.stderr)
        plans[0].state(argv=without_values(asked.words()))
        with Follower(planning.totals(plans)) if progress else contextlib.nullcontext(_ignore) as follow:
            return _measured(plans, where, follow)


@naming_arguments()
def load(path: Path | str) -> Run:
    """Read a run or a sweep from its directory.

    Parameters
    ----------
    path : Path or str
        The directory of a run or of a sweep, its run.json or sweep.json, or a baseline (see ``slownet compare save``).

    Raises
    ------
    SlownetError
        No run exists there, or its records are damaged or of a newer version.
    """
    path = measured_folder.of(Path(path))
    run = Run.of(_read(path))
    try:
        _ = run.law  # makes the view, which reads all that is shown
    except MALFORMED as error:
        raise unreadable(path, error) from error
    return run


def _read(path: Path) -> RunData:
    from slownet.comparison import baseline

    return baseline.read(path) if baseline.is_one(path) else measured_folder.load(path)


@naming_arguments()
def compare(
    first: RunData | Path | str,
    second: RunData | Path | str,
    *,
    within: float | str | None = None,
    fail_if_slower: str | None = None,
    metric: str | Texts = (),
    at: Mapping[str, str] | None = None,
    t0: str | None = None,
) -> Compared:
    """Compare two runs, or a run and a field measurement, as ``slownet compare`` does.

    Parameters
    ----------
    first, second : RunData, Path or str
        Runs, directories of runs, baselines; the second may be a field.json.
    within : float or str, optional
        Relative difference that counts as equal; 0.05 unless given, and 0.005 of two runs on the exact clock.
    fail_if_slower : str, optional
        Ask only whether a time is longer or a rate lower by more than this: ``"5%"``.
    metric : str or sequence of str
        Compare only these metrics.
    at : mapping of str to str, optional
        Compare only at these conditions: ``{"loss": "0%"}``.
    t0 : str, optional
        Time per operation at the field site without delay.

    Returns
    -------
    Compared
        Its ``outcome.word`` is "better", "equal", "worse", "different" or "open", or "no slower" with ``fail_if_slower``.

    Raises
    ------
    SlownetError
        One of them cannot be read, or they have no condition or metric in common.
    """
    from slownet.api.compared import Compared
    from slownet.comparison import compare as comparing
    from slownet.comparison.row import asked_margin

    part = asked_margin(within, fail_if_slower)
    sides = [each if isinstance(each, RunData) else Path(each) for each in (first, second)]
    names, only = [str(each) for each in _all(metric)], dict(_mapped("at", at, "slownet.compare()"))
    found = comparing.compare(sides[0], sides[1], part, names, only, t0, one_sided=fail_if_slower is not None)
    return Compared.of(found)


def _measured(plans: Sequence[planning.Plan], place: Place, follow: Follow) -> Run:
    """Execute the plan; a signal is passed to the labs if this is the main thread, which alone gets signals."""
    try:
        with Interrupts(place) if threading.current_thread() is threading.main_thread() else contextlib.nullcontext():
            (done,) = execute(plans, place, follow)
    except ClaimsError as error:
        error.add_note(f"corrected, it is judged without measuring again: slownet.run(resume={str(plans[0].directory)!r})")
        raise
    except (SlownetError, KeyboardInterrupt) as error:
        if left := what_is_left(plans[0]):
            error.add_note(f"{left}. Continue with slownet.run(resume={str(plans[0].directory)!r})")
        raise
    for line in last_lines([done]):
        print(f"slownet: {visible(here(line))}", file=sys.stderr)
    return Run.of(done)


def _as_typed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are options of a run as the command line has them, by the types of their fields."""
    kinds = get_type_hints(RunOptions)
    return {name: _of_kind(kinds[name], name, value) for name, value in given.items()}


def _of_kind(kind: Any, name: str, value: Any) -> Any:
    if name == "vary":
        return [f"{each}={_joined(values)}" for each, values in _mapped(name, value).items()]
    if name in ("option", "env"):
        return [f"{each}={stated}" for each, stated in _mapped(name, value).items()]
    if name == "capture":
        return HOSTS if value is True else _joined(value or "") or None
    if kind == Sequence[str]:
        return [str(each) for each in _all(value)]
    if kind is int:
        return value
    if Path in (kind, *get_args(kind)):
        return Path(value) if value or kind is Path else None
    return str(value) if kind is str else _number(value)


def _ignore(name: str, event: Event) -> None:
    """Follow a run without showing it."""


def _named(experiment: str | Path | Experiment) -> str:
    """Return what the lab imports it by: a name, or a file. Raises ExperimentError."""
    if not isinstance(experiment, Experiment):
        return str(experiment)
    if experiment.measure.__module__.startswith(OWN):
        return experiment.name
    file = inspect.getsourcefile(experiment.measure) or ""
    if file.endswith(".py") and Path(file).is_file():
        return file
    fix = "write it into a file, in a notebook with %%writefile mine.py, and name the file"
    raise ExperimentError(f"{experiment.name} is in no file that a lab could import", "in slownet.run()", fix)


@contextlib.contextmanager
def restored(names: Mapping[str, str]) -> Iterator[None]:
    """Restore these environment variables afterwards."""
    before = {name: os.environ.get(name) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _all(given: Any) -> list[Any]:
    if given is None:
        return []
    return [given] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)


def _joined(values: str | Texts) -> str:
    return ",".join(map(str, _all(values)))


def _mapped(argument: str, values: Any, call: str = "slownet.run()") -> Mapping[str, Any]:
    """Return the mapping that an argument is to be. Raises ExperimentError."""
    if values is None or isinstance(values, Mapping):
        return values or {}
    raise ExperimentError(f"{argument} is {values!r}", f"in {call}", f'give a dict: {argument}={{"NAME": "VALUE"}}')


def _number(value: float | str | None) -> str | None:
    """Write a number as on the command line: 4 for 4.0."""
    if value is None or isinstance(value, str):
        return value
    return f"{value:g}" if isinstance(value, Real) and math.isfinite(value) else str(value)
