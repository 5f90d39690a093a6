"""The account of a cell of a run, which is measured once more if the run has no captures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from slownet.judge.records.result import RunData
from slownet.model.errors import ExperimentError
from slownet.model.sample import Sample, cell_in_words
from slownet.why import of_run

if TYPE_CHECKING:
    from slownet.why.account import Account


def accounted(
    run: RunData, label: Mapping[str, str], client: str | None = None, *, whole: bool = False,
    notify: Callable[[str], None] = lambda line: None,
) -> tuple[Account, RunData]:  # fmt: skip
    """Return where the time of a cell went, and the run whose captures show it.

    Parameters
    ----------
    run : RunData
        The run.
    label : mapping of str to str
        The cell's conditions, as they were given.
    client : str, optional
        The host that began the operation; by default the one that was the first to send.
    whole : bool
        Whether several connections to a server, one after the other, are one operation.
    notify : callable
        Gets a line about what is measured.

    Raises
    ------
    SlownetError
        There is no such cell, its captures cannot be read, or the run cannot be measured again.
    """
    sample = of_run.sample_of(run, label)
    if not of_run.has_captures(sample):
        notify(f"{run.directory.name} has no captures: {cell_in_words(sample['cell'])} is measured once more with them")
        run = _again(run, sample)
        sample = of_run.sample_of(run, dict(sample["cell"]))
        if not of_run.has_captures(sample):
            what = f"the cell was not captured: {sample.get('error') or 'it has no packets'}"
            raise ExperimentError(what, f"run {run.directory}", "name another cell with --cell")
    return of_run.of_sample(run, sample, client, whole=whole), run


def _again(run: RunData, sample: Sample) -> RunData:
    """Measure a sample's cell once more, with captures, and where it was measured: clock, kernel. Raises SlownetError."""
    from slownet.runner import planning
    from slownet.runner.api import calls

    facts = run.facts
    if facts.get("compose") or not facts.get("source"):
        fix = "run it again with --capture"
        raise ExperimentError("a compose project's run is not measured again", f"run {run.directory}", fix)
    place, asked, kernel = planning.where_it_ran(run.directory)
    return calls.run(
        str(facts["source"]), vary={name: [value] for name, value in sample["cell"].items()}, capture=True, repeat=1,
        clock=asked.clock, tdf=asked.tdf, cpu=asked.cpu, place=place, kernel=kernel, runs=run.directory.parent, progress=False,
    )  # fmt: skip
