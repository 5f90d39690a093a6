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
            kind="str",
            doc='``"lab"``, ``"native"``, ``"confined"``: a lab, but only where this machine\'s kernel confines it, or '
            '``"auto"``: native if possible.',
        ),
    )
    clock: str | None = field(
        default=None,
        metadata=stated(
            "real|virtual|exact[:N]",
            "The lab's clock; virtual by default. exact counts instructions, N (3) a nanosecond.",
            ("real", "virtual", "exact"),
            kind="str, optional",
            doc='``"real"``, ``"virtual"``, the default, or ``"exact"``, which counts instructions in an emulated machine: 3 '
            'of them in a nanosecond, or N with ``"exact:N"``.',
            tests="For tests with a network.",
        ),
    )
    tdf: str | None = field(
        default=None,
        metadata=stated(
            "N|inf|auto",
            "Factor of the CPU's speed on the virtual clock.",
            ("inf", "auto", "1"),
            kind="str or float, optional",
            doc='Factor of the CPU\'s speed on the virtual clock: a whole number, ``"auto"``, or ``"inf"``.',
            tests="inf by default: it is free.",
        ),
    )
    cpu: str | None = field(
        default=None,
        metadata=stated(
            "work|time|auto",
            "Unit that this clock charges: instructions or time.",
            ("work", "time", "auto"),
            kind="str, optional",
            doc='Unit that the virtual clock charges: ``"work"`` (instructions), ``"time"`` (of the CPU) or ``"auto"``.',
            tests="",
        ),
    )
    memory: int = field(
        default=MEGABYTES,
        metadata=stated(
            "MB", "Memory of each lab.", kind="int", doc="Memory of each lab in MB.", tests=f"Default: {MEGABYTES}."
        ),
    )
    env: tuple[str, ...] = field(
        default=(),
        metadata=stated(
            "NAME[=VALUE]",
            "A variable for the experiment. Repeatable.",
            kind="mapping of str to str, optional",
            doc="Variables for the experiment, here and in the lab; the caller's are as before afterwards.",
        ),
    )
    share: tuple[str, ...] = field(
        default=(),
        metadata=stated(
            "FOLDER[:rw]",
            "A folder that the lab sees at its path. Repeatable.",
            kind="Path, str, or sequence of them",
            doc="Folders that the lab sees under the same path; with ``:rw`` at the end it may write to them.",
        ),
    )
    folder: str = ""
    kernel: str | None = field(
        default=None,
        metadata=stated(
            "base|wide",
            "The lab's kernel; wide has all of Debian's networking.",
            ("base", "wide"),
            kind="str, optional",
            doc='The lab\'s kernel: ``"base"``, the default, or ``"wide"``, with what Debian\'s can do with networks.',
            tests="",
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
