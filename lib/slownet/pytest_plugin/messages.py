"""Lines to the user, on standard error, whatever pytest captures."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable

import pytest


def say(config: pytest.Config, lines: Iterable[str]) -> None:
    """Print lines to standard error, while pytest captures output, too."""
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
        for line in lines:
            print(f"slownet: {line}", file=sys.stderr, flush=True)
