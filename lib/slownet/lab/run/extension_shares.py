"""Shares extension packages (`slownet.model.extensions`) with a lab at a path of their own, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Mapping

from slownet.lab.run.boot import Share
from slownet.model import extensions

AT = "/opt/slownet/added"


def shares() -> list[Share]:
    """Return read-only shares of their code and metadata. Raises ExperimentError."""
    return [Share(each, at=f"{AT}/{each.name}") for each in extensions.folders()]


def on_path(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with the extension packages last on Python's path."""
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, [environment.get("PYTHONPATH"), AT]))}
