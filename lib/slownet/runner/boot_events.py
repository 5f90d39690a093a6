"""The events of one boot: what the host takes from `slownet.runner.inside`, and nothing else.

A field that is not named here ends the boot, so a new one is added here, too, or to `slownet.model.sample`.
"""

from __future__ import annotations

from collections.abc import Iterable

from slownet.lab.events import Grammar
from slownet.model import sample, shapes
from slownet.model.facts import Reported
from slownet.model.shapes import mapping, member, number, record, text


def grammar(indices: Iterable[int]) -> Grammar:
    """Return the events of a boot that measures these places of the plan, each of which has one "cell" and one "sample"."""
    index = member(frozenset(indices), "a place in the plan of this boot")
    return {
        "facts": shapes.of(Reported),
        "cell": record({"index": index, "cell": mapping(text())}),
        "sample": record({"index": index, "sample": sample.SENT}),
        "end": record({"virtual_s": number(0)}),
        "error": record({"line": text(), "log": text()}),
    }
