"""What a test asks of its place: a network at all, and which clock; from its fixtures, its markers and the options."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slownet.errors import LabError, SlownetError
from slownet.lab.clock import INF, TDF_INF, check_cpu, check_kind, check_tdf
from slownet.pytest_plugin import names

if TYPE_CHECKING:
    import pytest

CLOCK, TDF, CPU = "--slownet-clock", "--slownet-tdf", "--slownet-cpu"
SEED, REPORT = "--slownet-seed", "--slownet-report"
OPTIONS = (
    (CLOCK, "real|virtual", "The clock of tests with a network; virtual where a lab is used."),
    (TDF, "N|inf|auto", "How many times faster the CPU looks on the virtual clock."),
    (CPU, "work|time|auto", "What the virtual clock charges: instructions, or the time that they take."),
    (SEED, "N", "The seed of every link that leaves something to chance and states none of its own."),
    (REPORT, "FOLDER", "Keep what `measure` measured: a run directory for each test, with its report.html."),
)
ROOT_FIXTURE = "slownet_lab"  # every fixture of the plugin that needs a network rests on it


@dataclass(frozen=True)
class Wish:
    """The clock that is asked for, as the command line writes it; None leaves it to the place."""

    clock: str | None = None
    tdf: str | None = None
    cpu: str | None = None

    def check(self) -> None:
        """Raises LabError."""
        kind = check_kind(self.clock) if self.clock is not None else None
        if self.tdf is not None:
            check_tdf(self.tdf)
            if kind == "real":
                raise LabError(
                    f"a time dilation factor of {self.tdf} means nothing on the real clock", fix="leave out one of them"
                )
        if self.cpu is not None:
            check_cpu(self.cpu)
            if kind == "real":
                raise LabError(f"the real clock does not charge the CPU's {self.cpu}", CPU, "leave out one of them")

    def __str__(self) -> str:
        parts = [f"{self.clock} clock" if self.clock else "", f"TDF {self.tdf}" if self.tdf else ""]
        return ", ".join(filter(None, parts)) or "the usual clock"


def of_session(config: pytest.Config) -> Wish:
    """The session's. Raises LabError."""
    tdf, cpu = config.getoption(TDF), config.getoption(CPU)
    wish = Wish(config.getoption(CLOCK) or ("virtual" if tdf or cpu else None), tdf, cpu)
    wish.check()
    return wish


def of_item(item: pytest.Item) -> Wish:
    """A test's: its nearest markers go before the session's options. Raises LabError naming the test."""
    session = of_session(item.config)
    clock, tdf = _argument(item, "clock"), _argument(item, "tdf")
    if clock is None and tdf is None:
        return session
    if clock is None:
        clock = "virtual"  # on the real one there is no TDF
    elif tdf is None and clock != "real":
        tdf = session.tdf
    wish = Wish(clock, tdf, session.cpu if clock != "real" and tdf != TDF_INF else None)
    try:
        wish.check()
    except SlownetError as error:
        fix = names.with_a_way_out(error.fix, (names.marker(item, name) for name in ("clock", "tdf")))
        raise LabError(error.what, where=item.nodeid, fix=fix) from error
    return wish


def needs_network(item: pytest.Item) -> bool:
    """Whether a test rests on an emulated network."""
    return ROOT_FIXTURE in getattr(item, "fixturenames", ())


def seed(text: str) -> int:
    """A seed as netem takes it, for the option's parser."""
    if not (text.isascii() and text.isdigit() and int(text) < 2**63 - 2**16):
        raise argparse.ArgumentTypeError(f"'{text}' is no seed: write a whole number from 0 on")
    return int(text)


def _argument(item: pytest.Item, name: str) -> str | None:
    """The only argument of a marker as text; None without the marker. Raises LabError."""
    marker = names.marker(item, name)
    if marker is None:
        return None
    values = [*marker.args, *marker.kwargs.values()]
    if len(values) != 1:
        fix = names.with_a_way_out(f"write it like @pytest.mark.{marker.name}(...)", [marker])
        raise LabError(f"the marker {marker.name} takes one value", where=item.nodeid, fix=fix)
    return TDF_INF if values[0] == INF else str(values[0])
