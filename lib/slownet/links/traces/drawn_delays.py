"""A condition's delays that are drawn from measured round trips."""

from __future__ import annotations

from collections.abc import Sequence

from slownet.links.conditions.field_row import Fields
from slownet.links.conditions.jitter import Table


def drawn_from(rtts: Sequence[float]) -> Fields:
    """Return the fields of a condition with the distribution of round trips, in seconds. Raises ConditionError.

    Only the direction "down" has jitter, because the sum of two independent jitters has another distribution.
    """
    table, mean, unit = Table.measured(list(rtts))
    up = min(rtts) / 2
    return {"up": up, "down": mean - up, "jitter_down": unit, "distribution": table}
