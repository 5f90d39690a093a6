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
            "Conditions to measure instead, e.g. rtt=0ms,25ms or rtt=0:100:10ms; of a compose project a host's, e.g. "
            "db:rtt=0ms,25ms; faults=FILE.toml or faults='kill db at 4 s; start db at 5 s' is what breaks. Repeatable.",
        ),
    )
    repeat: str | None = field(
        default=None,
        metadata=stated(
            "N|PART%|auto",
            "Number of repetitions. 1%: until such a difference between two runs would be found. auto (default): until every "
            "claim is decided; without claims, until two such runs can be compared.",
        ),
    )
    budget: str | None = field(
        default=None,
        metadata=stated("N,TIME", "Limit on repetitions, wall time, or both. Default: 30,1h."),
    )
    runs: Path = field(
        default=RUNS,
        metadata=stated("FOLDER", "The folder of run directories."),
    )
    resume: Path | None = field(
        default=None,
        metadata=stated(
            "RUN",
            "Continue the interrupted run in this directory. With a number of repetitions: measure more of one that has ended.",
        ),
    )
    capture: str | None = field(
        default=None,
        metadata=stated("[INTERFACE,...]", "Save the packets of these interfaces; of all hosts if none is named."),
    )
    labs: str = field(
        default=AUTO,
        metadata=stated("N|auto", "Labs that repeat an experiment in parallel. auto: one per processor."),
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
            "A client that measures the compose project, from its host client: ab, ping, wrk, browse...; with patterns for "
            "values, any command.",
        ),
    )
    option: Sequence[str] = field(
        default=(),
        metadata=stated("NAME=VALUE", "An option of the tool, e.g. url=http://web:8000/ or requests=50. Repeatable."),
    )
    value: Sequence[str] = field(
        default=(),
        metadata=stated(
            "PATTERN",
            "A regular expression for a number of the command's output: 'tps = ([0-9.]+)', or (?P<name_ms>...). Repeatable.",
        ),
    )
