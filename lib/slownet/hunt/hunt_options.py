"""The options of `slownet hunt` and `slownet hunt replay`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from slownet.model.options import stated


@dataclass(frozen=True, kw_only=True)
class HuntOptions:
    """The options of a hunt."""

    examples: int | None = field(
        default=None, metadata=stated("N", "Schedules to try at most. Default: 200, or as before.", least=1)
    )
    budget: str = field(default="30m", metadata=stated("TIME", "Wall time, such as 30m."))
    labs: str = field(default="auto", metadata=stated("N|auto", "Labs at the same time. auto: one per processor, if they fit."))
    seed: int | None = field(
        default=None, metadata=stated("N", "Other schedules for another number. Default: 1, or as before.")
    )
    out: Path | None = field(default=None, metadata=stated("FOLDER", "Where examples go. Default: hunts/NAME."))
    resume: bool = field(default=False, metadata=stated("", "Go on with the hunt in that folder; nothing is repeated."))


@dataclass(frozen=True, kw_only=True)
class ReplayOptions:
    """The options of a schedule that is repeated."""

    times: int = field(default=1, metadata=stated("N", "Boots, one after another.", least=1))
    report: Path | None = field(default=None, metadata=stated("FILE", "Write a page of the last boot: its history and logs."))
