"""Chrome's own throttling, which is not a network: it delays each request's answer and slows its bytes, above the connections.

The numbers are those of Chrome's DevTools (front_end/core/sdk/NetworkManager.ts): a network's, multiplied by factors that
make pages take about as long as on it (https://crbug.com/721112).
"""

from __future__ import annotations

from collections.abc import Mapping

from slownet.links.conditions import profiles
from slownet.model.errors import ToolError, nearest
from slownet.model.units import duration, rate

FACTORS: Mapping[str, tuple[float, float]] = {"Fast 4G": (2.75, 0.9), "Slow 4G": (3.75, 0.9), "Slow 3G": (5.0, 0.8)}
"""By what the delay and the rates of a named condition are multiplied."""


def simulated(name: str) -> dict[str, float]:
    """Return the parameters of ``Network.emulateNetworkConditions`` for a preset: ms and bytes per second. Raises ToolError."""
    if name not in FACTORS:
        raise ToolError(f"Chrome simulates no '{name}'", "in browse", nearest(name, FACTORS))
    fields, (slower, narrower) = profiles.row(name).fields, FACTORS[name]
    down, up = (rate(str(fields.get(f"rate_{way}", fields.get("rate")))) * narrower / 8 for way in ("down", "up"))
    return {"latency": 1000 * duration(fields["rtt"]) * slower, "downloadThroughput": down, "uploadThroughput": up}
