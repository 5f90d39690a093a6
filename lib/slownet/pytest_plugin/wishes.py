"""Requests of a test: a network, its topology, and which clock; read from its fixtures, its markers and the options."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from slownet.lab.run import pytest_inside as inside
from slownet.lab.run.clock import INF, OF_ONE_SPEED, TDF_INF, ClockRequest
from slownet.lab.run.lab import MEGABYTES
from slownet.model import options
from slownet.model.errors import LabError, SlownetError
from slownet.model.units import whole_number
from slownet.pytest_plugin import short_names
from slownet.runner.where import Where

if TYPE_CHECKING:
    import pytest
import sys
from typing import Any

import pytest


class TakesTopologies(pytest.MarkDecorator):
    """A marker that takes a topology class as an argument; pytest's would mark it, as in `@pytest.mark.slow class TestIt`.

    Any other call goes to pytest's marker: a project may have its own marker of this name.
    """

    def __init__(self, plain: pytest.MarkDecorator) -> None:
        self.mark = plain.mark

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and _is_topology(args[0]):
            return self.with_args(*args)
        return super().__call__(*args, **kwargs)


def take_topologies(name: str) -> None:
    """Make `pytest.mark.<name>(...)` accept a topology class as its argument."""
    setattr(pytest.mark, name, TakesTopologies(getattr(pytest.mark, name)))


def _is_topology(value: object) -> bool:
    """Return whether the value is a subclass of Mininet's Topo; none exists before Mininet was imported."""
    mininets = sys.modules.get("mininet.topo")
    return mininets is not None and isinstance(value, type) and issubclass(value, mininets.Topo)


PREFIX = "--slownet-"
CLOCK, TDF, CPU = "--slownet-clock", "--slownet-tdf", "--slownet-cpu"
CONFINED, KERNEL = "--slownet-require-confinement", "--slownet-kernel"
SEED, REPORT, BUDGET, MEMORY = "--slownet-seed", "--slownet-report", "--slownet-budget", "--slownet-memory"
COMMENT, HISTORY, WHY = "--slownet-comment", "--slownet-history", "--slownet-why"
MOST_BOOTS = 100


def _of_runs() -> Iterator[tuple[str, str, str]]:
    """Yield the names here, forms and texts of options that a run has, too."""
    for each in (options.of(Where, name) for name in options.names(Where)):
        if each.tests is not None:
            yield f"{PREFIX}{each.name}", each.metavar, f"{each.text} {each.tests}".strip()


OPTIONS = (
    *_of_runs(),
    (CONFINED, "", "Refuse to run where nothing but its own kernel confines a lab."),
    (BUDGET, "N", "Most boots of a test whose comparison fewer leave open (default: 10); 1 repeats nothing."),
    (SEED, "N", "Seed of every link with loss or another random condition that states no seed itself."),
    (REPORT, "FOLDER", "Save the measurements of `measure`: one run directory per test, with its report.html."),
    (WHY, "", "Capture each test's packets; of a test that fails, print the ten largest parts of its last operation's time."),
    (COMMENT, "FILE", "Write at most 20 lines of Markdown, as a comment for a pull request: compared numbers that changed."),
    (HISTORY, "FILE", "Add the compared numbers to this file; the comment shows those of its last sessions."),
)
NAMES = {(name.removeprefix(PREFIX), ""): name for name, _, _ in OPTIONS} | {
    ("place", "confined"): CONFINED, ("out", "history"): HISTORY, ("out", "comment"): COMMENT,
}  # fmt: skip
"""Pytest's names for options of the command line, and for options with a value."""


def option_names_here() -> AbstractContextManager[None]:
    """Let messages in a ``with`` block name pytest's options."""
    return options.of_another_program(lambda name, value: NAMES.get((name, value)))


ROOT_FIXTURE = "slownet_lab"  # every fixture of the plugin that needs a network requests it


def of_session(config: pytest.Config) -> ClockRequest:
    """Return the session's wish. Raises LabError."""
    tdf, cpu = config.getoption(TDF), config.getoption(CPU)
    wish = ClockRequest(config.getoption(CLOCK) or ("virtual" if tdf or cpu else None), tdf, cpu)
    wish.check()
    return wish


def of_item(item: pytest.Item) -> ClockRequest:
    """Return a test's wish: its nearest markers override the session's options. Raises LabError with the test's name."""
    session = of_session(item.config)
    clock, tdf = _argument(item, "clock"), _argument(item, "tdf")
    if clock is None and tdf is None:
        return session
    if clock is None:
        clock = "virtual"  # only the virtual clock has a TDF
    elif tdf is None and clock not in OF_ONE_SPEED:
        tdf = session.tdf
    wish = ClockRequest(clock, tdf, session.cpu if clock not in OF_ONE_SPEED and tdf != TDF_INF else None)
    try:
        wish.check()
    except SlownetError as error:
        fix = short_names.with_ini_hint(error.fix, (short_names.marker(item, name) for name in ("clock", "tdf")))
        raise LabError(error.what, where=item.nodeid, fix=fix) from error
    return wish


def wish_or_none(item: pytest.Item) -> ClockRequest | None:
    """Return a test's wish; None if its markers are wrong, which `of_item` reports at the test's setup."""
    try:
        return of_item(item)
    except SlownetError:
        return None


def needs_network(item: pytest.Item) -> bool:
    """Return whether a test needs an emulated network."""
    return ROOT_FIXTURE in getattr(item, "fixturenames", ())


def seed(text: str) -> int:
    """Parse a seed for netem."""
    number = whole_number(text)
    if number is None or number >= 2**63 - 2**16:
        raise argparse.ArgumentTypeError(f"'{text}' is not a seed: write a whole number, 0 or more")
    return number


def budget(text: str) -> int:
    """Parse a number of boots."""
    number = whole_number(text) or 0
    if not 1 <= number <= MOST_BOOTS:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of boots: write a whole number from 1 to {MOST_BOOTS}")
    return number


def memory(text: str) -> int:
    """Parse a lab's memory; whether it is enough is checked when labs are chosen."""
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of MB: write a whole number, such as {2 * MEGABYTES}")
    return int(text)


def _argument(item: pytest.Item, name: str) -> str | None:
    """Return the only argument of a marker as text; None without the marker. Raises LabError."""
    marker = short_names.marker(item, name)
    if marker is None:
        return None
    values = [*marker.args, *marker.kwargs.values()]
    if len(values) != 1:
        fix = short_names.with_ini_hint(f"write it like @pytest.mark.{marker.name}(...)", [marker])
        raise LabError(f"the marker {marker.name} takes one value", where=item.nodeid, fix=fix)
    return TDF_INF if values[0] == INF else str(values[0])


def deselect_other_labs(config: pytest.Config, items: list[pytest.Item]) -> None:
    """If workers of a session use several places, deselect the tests that run in another one."""
    mine = inside.handed_over().get("only")
    if not mine or mine.get("forward"):
        return
    wishes = [ClockRequest(*each) for each in mine["wishes"]]
    here = [item for item in items if (wish_or_none(item) in wishes if of_a_place(item) else mine["rest"])]
    if len(here) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in here])
        items[:] = here


def of_a_place(item: pytest.Item) -> bool:
    """Return whether it matters where a test runs."""
    return needs_network(item) and wish_or_none(item) is not None
