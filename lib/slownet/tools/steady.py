"""Load at a constant rate by this project's own program, and by those that the caller has brought."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from slownet.lab import load_generators
from slownet.tools.constant_rate import constant_rate
from slownet.tools.oha import oha
from slownet.tools.wrk import wrk2

OWN = "constant_rate"
LOADS: Mapping[str, Callable[..., Any]] = {OWN: constant_rate, "wrk2": wrk2, "oha": oha}
"""Each is a function (host, url, *, rate, seconds, connections) -> record with ``corrected_...`` and ``uncorrected_...``."""


def there() -> list[str]:
    """The names of those that can be had here, this project's own first."""
    return [OWN, *load_generators.there()]
