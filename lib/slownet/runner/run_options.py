"""The options of a run, which `slownet run` and `slownet.run` have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from slownet.model.options import same, stated
from slownet.runner import RUNS
from slownet.runner.where import Where

AUTO = "auto"
Texts = Sequence[str]


class Arguments(TypedDict, total=False):
    """The types that the options have in Python, such as a mapping for NAME=VALUE: for `slownet.run` and type checkers."""

    vary: Mapping[str, str | Texts] | None
    repeat: int | str | None
    budget: int | str | None
    runs: Path | str
    resume: Path | str | None
    capture: bool | str | Texts
    labs: int | str
    clock: str | None
    tdf: str | float | None
    cpu: str | None
    memory: int
    place: str
    kernel: str | None
    env: Mapping[str, str] | None
    share: Path | str | Sequence[Path | str]
    tool: str | None
    option: Mapping[str, object] | None
    value: str | Texts


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options, as a text or a list of texts each."""

    vary: Sequence[str] = field(
        default=(),
        metadata=stated(
            "NAME=V1,V2",
            "Conditions to measure instead: rtt=0ms,25ms or rtt=0:100:10ms; of a compose project a host's: db:rtt=0ms,25ms; "
            "faults='kill db at 4 s'. Repeatable.",
            kind="mapping of str to sequence of str, optional",
            doc='Values by condition, to measure instead: ``{"rtt": ["0ms", "25ms"]}``. ``"faults"``, for an experiment that '
            'varies them, has a TOML file, or words such as ``"kill db at 4 s"``.',
        ),
    )
    repeat: str | None = field(
        default=None,
        metadata=stated(
            "N|PART%|auto",
            "Repetitions. 1%: until a difference of 1% would be found. auto (default): until every claim is decided.",
            kind="int or str, optional",
            doc='Number of repetitions; ``"auto"``, the default: until every claim is decided.',
        ),
    )
    budget: str | None = field(
        default=None,
        metadata=stated(
            "N,TIME",
            "At most so many repetitions, so long. Default: 30,1h.",
            kind="int or str, optional",
            doc='Limit on repetitions, wall time or both; ``"30,1h"`` by default.',
        ),
    )
    runs: Path = field(
        default=RUNS,
        metadata=stated(
            "FOLDER",
            "The folder of run directories.",
            kind="Path or str",
            doc="Parent folder of the run directory.",
        ),
    )
    resume: Path | None = field(
        default=None,
        metadata=stated(
            "RUN",
            "Continue an interrupted run, or measure more of one.",
            kind="Path or str, optional",
            doc="The directory of an interrupted run, to be continued.",
        ),
    )
    capture: str | None = field(
        default=None,
        metadata=stated(
            "[INTERFACE,...]",
            "Save packets: of all hosts, or of these.",
            kind="bool, str or sequence of str",
            doc="Save the packets of these interfaces; True: of all hosts.",
        ),
    )
    labs: str = field(
        default=AUTO,
        metadata=stated(
            "N|auto",
            "Labs in parallel. auto: one per processor.",
            kind="int or str",
            doc='Labs that repeat the experiment in parallel; ``"auto"``: one per processor.',
        ),
    )
    clock: str | None = same(Where, "clock")
    tdf: str | None = same(Where, "tdf")
    cpu: str | None = same(Where, "cpu")
    memory: int = same(Where, "memory")
    place: str = same(Where, "place")
    kernel: str | None = same(Where, "kernel")
    env: Sequence[str] = same(Where, "env")
    share: Sequence[str] = same(Where, "share")
    tool: str | None = field(
        default=None,
        metadata=stated(
            "NAME|COMMAND",
            "On host client: ab, ping, wrk..., or any command.",
            kind="str, optional",
            doc="The client that measures the compose project from its host client; with ``value``, any command.",
        ),
    )
    option: Sequence[str] = field(
        default=(),
        metadata=stated(
            "NAME=VALUE",
            "Of the tool: url=http://web:8000/. Repeatable.",
            kind="mapping, optional",
            doc='Options of the tool: ``{"url": "http://web:8000/", "requests": 50}``.',
        ),
    )
    value: Sequence[str] = field(
        default=(),
        metadata=stated(
            "PATTERN",
            "A number of its output: 'tps = ([0-9.]+)'. Repeatable.",
            kind="str or sequence of str",
            doc='Regular expressions for the numbers in the command\'s output: ``"tps = ([0-9.]+)"``, or ``(?P<name_ms>...)``.',
        ),
    )
