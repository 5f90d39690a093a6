"""Where boots are measured, as a command's options say it: a value that processes and machines pass on."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace

from slownet.lab.run.boot import MEGABYTES
from slownet.lab.run.caller import Given
from slownet.lab.run.clock import ClockRequest


@dataclass(frozen=True)
class Where:
    """The options of `slownet.lab.run.place.choose` and `with_given`, and the folder of the project that labs belong to."""

    place: str = "auto"
    clock: str | None = None
    tdf: str | None = None
    cpu: str | None = None
    memory: int = MEGABYTES
    env: tuple[str, ...] = ()
    share: tuple[str, ...] = ()
    folder: str = ""
    kernel: str | None = None

    @property
    def asked(self) -> ClockRequest:
        """The clock."""
        return ClockRequest(self.clock, self.tdf, self.cpu)

    def with_values(self) -> Where:
        """Return it with the value of each variable, for workers that have another environment. Raises LabError.

        They are set here, too, where the experiment's file is read, which may depend on them.
        """
        values = Given.read(self.env, ()).env
        os.environ.update(values)
        return replace(self, env=tuple(f"{name}={value}" for name, value in values.items()))


PLACED = tuple(each.name for each in fields(Where) if each.name != "folder")
"""The options of a command that say where it measures."""
