"""All tools that generate load at a constant rate: this project's own, and those that the caller has installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from slownet.lab.run import load_generators
from slownet.tools.constant_rate import constant_rate
from slownet.tools.oha import oha
from slownet.tools.wrk import wrk2

OWN = "constant_rate"
LOADS: Mapping[str, Callable[..., Any]] = {OWN: constant_rate, "wrk2": wrk2, "oha": oha}
"""Functions (host, url, *, rate, seconds, connections) whose records have ``corrected_...`` and ``uncorrected_...`` metrics."""


def there() -> list[str]:
    """Return the names of those that are installed here, this project's own first."""
    return [OWN, *load_generators.there()]
