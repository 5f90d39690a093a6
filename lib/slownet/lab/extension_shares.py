"""The packages in a lab that add tools, services and more to the project's (`slownet.extensions`), under a path of their own:
nothing else of the caller's Python comes with them."""

from __future__ import annotations

import os
from collections.abc import Mapping

from slownet import extensions
from slownet.lab.boot import Share

AT = "/opt/slownet/added"


def shares() -> list[Share]:
    """Their code and metadata, read-only. Raises ExperimentError."""
    return [Share(each, at=f"{AT}/{each.name}") for each in extensions.folders()]


def on_path(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which Python finds them, after all else that it names."""
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, [environment.get("PYTHONPATH"), AT]))}
