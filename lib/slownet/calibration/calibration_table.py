"""A calibration as a table in the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slownet.calibration.judge import CONFIDENCE, Row
from slownet.calibration.measure import Calibration
from slownet.links.ip import VERSIONS
from slownet.model.units import show_rate
from slownet.report.fitted import Fitted
from slownet.report.text import NOTHING, trimmed

DIGITS = 6
COLUMNS = ("stated", "measured", "error", "from", "to")


def show(found: Calibration) -> RenderableType:
    """Return the table of rows, and below it how many are not ok, which random ones are outside, and what was left out."""
    return Group(_table(found), *(Text(line) for line in _notes(found)))


def _table(found: Calibration) -> Table:
    made = Fitted(titles=2)
    for name in ("condition", "what"):
        made.add_column(name, no_wrap=True)
    for name in COLUMNS:
        made.add_column(name, justify="right", no_wrap=True)
    for name in ("unit", "rule", "verdict"):
        made.add_column(name, no_wrap=name != "rule")
    last = ""
    for row in found.rows:
        made.add_row("" if row.condition == last else row.condition, *_cells(row, row in found.outside))
        last = row.condition
    return made


def _cells(row: Row, outside: bool) -> tuple[str | Text, ...]:
    verdict = Text("ok" if row.ok else "not ok", style="green" if row.ok else "bold red")
    if outside:
        verdict.append(" *", style="yellow")
    numbers = (_number(each) for each in (row.stated, row.measured, row.error, row.low, row.high))
    return (row.what, *numbers, row.unit, "; ".join(filter(None, (row.rule, row.note))), verdict)


def _number(value: float | None) -> str:
    return NOTHING if value is None else trimmed(round(value, DIGITS), DIGITS)


def _notes(found: Calibration) -> list[str]:
    facts = found.facts
    clock = f"{facts['clock']} clock" + (f", TDF {facts['tdf']}" if facts["tdf"] is not None else "")
    notes = [
        f"{clock}, Linux {facts['kernel']}, {VERSIONS[facts['ip_version']]}, seed {facts['seed']}: "
        f"{len(found.rows)} row{'s' * (len(found.rows) != 1)}, {len(found.bad)} not ok, "
        f"{facts['virtual_s']:.1f} s on its clock, {facts['wall_s']:.1f} s here"
    ]
    chancy = len(found.by_chance)
    if chancy:
        notes.append(
            f"random quantities: {chancy}; if all links are right, all of them are ok in 99 % of calibrations; outside their "
            f"own 99 % interval (*): {len(found.outside)}, {(1 - CONFIDENCE) * chancy:.1f} expected"
        )
    if found.left_out and found.ceiling:
        names = "; ".join(dict.fromkeys(case.name for case in found.left_out))
        notes.append(
            f"left out, because above half of the {show_rate(float(f'{found.ceiling:.2g}'))} that this CPU can carry: {names}"
        )
    return notes
