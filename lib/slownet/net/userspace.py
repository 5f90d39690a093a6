"""Mininet's `UserSwitch`, whose programs, of OpenFlow's reference implementation, no distribution has any more."""

from __future__ import annotations

import shutil
from typing import Any

from mininet.log import warn
from mininet.node import UserSwitch

from slownet.net.nodes import QuickSwitch

PROGRAM = "ofdatapath"


class InPlace(QuickSwitch):
    """Open vSwitch's switch in place of a `UserSwitch`: it forwards the same packets, in the kernel instead of a process."""

    said = False

    def __init__(self, name: str, dpopts: str = "", **params: Any) -> None:
        """dpopts: options of the program that is missing, without effect here. The first one names the replacement."""
        super().__init__(name, **params)
        if not InPlace.said:
            warn(f"*** UserSwitch needs {PROGRAM}, which Debian does not have: made an OVSSwitch\n")
            InPlace.said = True


InPlace.__name__ = "UserSwitch"  # in messages


def switch() -> type:
    """Return the class that a program gets as `UserSwitch`."""
    return UserSwitch if shutil.which(PROGRAM) else InPlace
