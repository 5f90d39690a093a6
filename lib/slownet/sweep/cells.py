"""The cells of a sweep, and the limit on their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slownet.hypotheses.experiment import VARY, Cell, Experiment, once, tried
from slownet.model.errors import SweepError
from slownet.model.options import Option
from slownet.model.units import show_duration
from slownet.sweep.design import GRID, OPTION, Design
from slownet.sweep.factors import Factors

ASK = 100_000
"""More samples than that are only measured with ``--yes``."""
CELL_S = 1.5
"""Wall time of a cell in the estimate of a large sweep: about that of a page of WordPress, with its share of the boot."""


def factors_of(experiment: Experiment, vary: Mapping[str, Sequence[str]]) -> Factors:
    """Return the values of all factors: those chosen, and the experiment's own for the others. Raises SlownetError."""
    if experiment.listed:
        experiment.cells(vary)
        return {name: tuple(texts) for name, texts in experiment.conditions.items()}
    found = {**experiment.conditions, **experiment.whole(vary)}
    experiment.cells({name: texts[:1] for name, texts in found.items()})  # refuses a factor that it does not have
    return {name: tuple(texts) for name, texts in found.items()}


def check_values(experiment: Experiment, vary: Mapping[str, Sequence[str]]) -> Factors:
    """Return the values of all factors. Raises SlownetError for a value that cannot be read, before there are many cells."""
    found = factors_of(experiment, vary)
    if not experiment.listed:
        for name, texts in found.items():
            tried(name, texts, f"{VARY} {name}" if name in vary else f"in {experiment.name}")
    return found


def cells_of(experiment: Experiment, vary: Mapping[str, Sequence[str]], design: Design) -> list[Cell]:
    """Return the cells of a sweep. Raises SlownetError, also for a value that cannot be read."""
    found = check_values(experiment, vary)
    if experiment.listed:
        if design.kind != GRID:
            raise SweepError(f"{experiment.name} lists its cells", OPTION, "leave it out: there is no grid to draw from")
        return experiment.cells(vary)
    return list(design.cells({name: once(name, texts) for name, texts in found.items()}))


def check_size(experiment: Experiment, vary: Mapping[str, Sequence[str]], design: Design, repeat: int, labs: int) -> None:
    """Raise SweepError for a sweep that takes days; it is not made for that."""
    cells = len(experiment.listed) or design.size(factors_of(experiment, vary))
    if cells * repeat <= ASK:
        return
    size = f"{cells:,} cells" + (f" with {repeat} repetitions" if repeat > 1 else "")
    takes = f"about {show_duration(cells * repeat * CELL_S / labs)} on {labs} lab{'s' * (labs > 1)}, if one takes {CELL_S:g} s"
    raise SweepError(
        f"{size} take {takes}",
        VARY,
        f"add {Option('yes')} if that is meant, name fewer values, or {Option('sample').set('sobol:1024')}",
    )
