"""Progress bars for what is counted in steps; `slownet --help` imports this, so it imports no records."""

from __future__ import annotations

from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

from slownet.report.screen import Bars, Screen


def bars() -> Bars:
    """Return progress bars on standard error, shown only on a terminal; each has a field `now` for the current activity."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[now]}", markup=False),
    )
    errors = Screen(stderr=True)
    return Bars(*columns, console=errors, transient=True, disable=not errors.is_terminal)
