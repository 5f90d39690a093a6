"""Hypothesis' own plugin of pytest in a session whose tests use no Hypothesis.

At a session's end it imports all of Hypothesis, which took a third of the time of a session with one test. Where its compiled
module is for another Python than a lab's, each lab found that out anew. It has nothing to report unless a test has used
Hypothesis, in this process or in a lab, whose reports carry its marks.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest

NAME = "hypothesispytest"
MARK = "_hypothesis"
"""The prefix of its attributes of a report."""


def is_idle(config: pytest.Config) -> bool:
    """Return True if Hypothesis is installed, but neither a module of this session nor an option uses it."""
    options = (value for name, value in vars(config.option).items() if name.startswith("hypothesis"))
    return config.pluginmanager.get_plugin(NAME) is not None and "hypothesis" not in sys.modules and not any(options)


def leave_out(config: pytest.Config) -> None:
    """Unregister Hypothesis' plugin if it has nothing to report."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    found: dict[str, list[Any]] = getattr(reporter, "stats", {})
    names = (name for reports in found.values() for each in reports for name in getattr(each, "__dict__", ()))
    if is_idle(config) and not any(name.startswith(MARK) for name in names):
        config.pluginmanager.unregister(name=NAME)
