"""Measurements of this machine, taken once: a small JSON file in the cache, measured again if it is damaged."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from slownet.lab.build import cache, digests
from slownet.lab.build.digests import Part
from slownet.lab.build.shelf import Shelf
from slownet.model.shapes import Json


def measured(
    kind: str, key: str, file: str, measure: Callable[[], dict[str, Json]], wanted: Mapping[str, str]
) -> dict[str, Json]:
    """Return what was measured of this machine; measure it the first time, and each time where nothing can be written.

    wanted: what each of its entries is, see `slownet.lab.build.digests.facts`.
    """
    part = Part("a measurement of this machine", (file,))
    shelf = Shelf(kind, part, lambda folder: digests.facts(folder / file, part, wanted))
    if not (shelf.has(key) or cache.may_write(cache.writable_root())):
        return measure()
    return shelf.make(key, lambda half: _keep(measure(), half / file), cache.writable_root())


def _keep(facts: dict[str, Json], path: Path) -> None:
    path.write_text(json.dumps(facts, indent=1) + "\n")
