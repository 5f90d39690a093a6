"""The place and clock of boots, from a command's options: a value that processes and machines pass on."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from slownet.lab.run.caller import Given
from slownet.lab.run.clock import ClockRequest
from slownet.lab.run.lab import MEGABYTES
from slownet.model import options
from slownet.model.options import stated

if TYPE_CHECKING:
    from slownet.lab.run.place import Place


@dataclass(frozen=True)
class Where:
    """The options of `slownet.lab.run.place.choose` and `with_given`, and the folder of the project that labs belong to."""

    place: str = field(
        default="auto",
        metadata=stated(
            "auto|native|lab|confined",
            "native: as root; confined: a lab that the kernel confines.",
            ("auto", "native", "lab", "confined"),
        ),
    )
    clock: str | None = field(
        default=None,
        metadata=stated(
            "real|virtual|exact[:N]",
            "The lab's clock; virtual by default. exact counts instructions, N (3) a nanosecond.",
            ("real", "virtual", "exact"),
        ),
    )
    tdf: str | None = field(
        default=None,
        metadata=stated("N|inf|auto", "Factor of the CPU's speed on the virtual clock.", ("inf", "auto", "1")),
    )
    cpu: str | None = field(
        default=None,
        metadata=stated("work|time|auto", "Unit that this clock charges: instructions or time.", ("work", "time", "auto")),
    )
    memory: int = field(
        default=MEGABYTES,
        metadata=stated("MB", "Memory of each lab."),
    )
    env: tuple[str, ...] = field(
        default=(),
        metadata=stated("NAME[=VALUE]", "A variable for the experiment. Repeatable."),
    )
    share: tuple[str, ...] = field(
        default=(),
        metadata=stated("FOLDER[:rw]", "A folder that the lab sees at its path. Repeatable."),
    )
    folder: str = ""
    kernel: str | None = field(
        default=None,
        metadata=stated(
            "base|wide",
            "The lab's kernel; wide has all of Debian's networking.",
            ("base", "wide"),
        ),
    )

    @property
    def asked(self) -> ClockRequest:
        """The clock."""
        return ClockRequest(self.clock, self.tdf, self.cpu)

    def choose(self, *, exact: bool = False, or_real: bool = False) -> Place:
        """Return the place. exact: it may have the exact clock; or_real: its clock is the real one unless another is asked for.

        Raises LabError.
        """
        from slownet.lab.run.place import choose, with_given

        asked = self.asked.or_real() if or_real else self.asked
        found = choose(self.place, asked, self.memory, exact=exact, kernel=self.kernel)
        return with_given(found, self.env, self.share) if self.env or self.share else found

    def with_values(self) -> Where:
        """Return it with the value of each variable, for workers that have another environment. Raises LabError.

        They are set here, too, where the experiment's file is read, which may depend on them.
        """
        values = Given.read(self.env, ()).env
        os.environ.update(values)
        return replace(self, env=tuple(f"{name}={value}" for name, value in values.items()))


PLACED = tuple(options.names(Where))
"""The options that determine where a command measures."""
