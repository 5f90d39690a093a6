"""The options of a run, which `slownet run` and `slownet.run` have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from slownet.model.options import same, stated
from slownet.runner import RUNS
from slownet.runner.where import Where

AUTO = "auto"


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options, as a text or a list of texts each."""

    vary: Sequence[str] = field(
        default=(),
        metadata=stated(
            "NAME=V1,V2",
            "Conditions to measure instead: rtt=0ms,25ms or rtt=0:100:10ms; of a compose project a host's: db:rtt=0ms,25ms; "
            "faults='kill db at 4 s'. Repeatable.",
        ),
    )
    repeat: str | None = field(
        default=None,
        metadata=stated(
            "N|PART%|auto",
            "Repetitions. 1%: until a difference of 1% would be found. auto (default): until every claim is decided.",
        ),
    )
    budget: str | None = field(
        default=None,
        metadata=stated("N,TIME", "At most so many repetitions, so long. Default: 30,1h."),
    )
    runs: Path = field(
        default=RUNS,
        metadata=stated("FOLDER", "The folder of run directories."),
    )
    resume: Path | None = field(
        default=None,
        metadata=stated(
            "RUN",
            "Continue an interrupted run, or measure more of one.",
        ),
    )
    capture: str | None = field(
        default=None,
        metadata=stated("[INTERFACE,...]", "Save packets: of all hosts, or of these."),
    )
    labs: str = field(
        default=AUTO,
        metadata=stated("N|auto", "Labs in parallel. auto: one per processor."),
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
        ),
    )
    option: Sequence[str] = field(
        default=(),
        metadata=stated("NAME=VALUE", "Of the tool: url=http://web:8000/. Repeatable."),
    )
    value: Sequence[str] = field(
        default=(),
        metadata=stated(
            "PATTERN",
            "A number of its output: 'tps = ([0-9.]+)'. Repeatable.",
        ),
    )
