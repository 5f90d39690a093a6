"""`slownet doctor clean`: removes what killed runs left behind, and nothing else."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from slownet.model.errors import LabError


def clean(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be removed.")] = False,
) -> None:
    """Remove what killed runs left on this machine: programs, cgroups, switches, interfaces, private files."""
    from slownet.net import leftovers

    if os.geteuid() != 0:
        raise LabError("only root can clean up", fix="sudo slownet doctor clean; a lab leaves nothing behind")
    found = leftovers.find()
    for each in found:
        print(f"{'would remove' if dry_run else 'removing'} {each}")
    if not found:
        print("killed runs left nothing behind")
    elif not dry_run:
        leftovers.remove(found)
