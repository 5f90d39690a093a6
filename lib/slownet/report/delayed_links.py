"""The links that a run's delay was set on, by its record: with several, a law's slope does not count round trips.

Each ms then makes several hops longer, and a round trip of an operation may cross one, two or all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from slownet.judge.records.cell import Cell


def count(cells: Sequence[Cell]) -> int:
    """Return on how many links the cells that were measured differ; 0 if the record does not have their links."""
    found = [_links(cell) for cell in cells if cell.status == "ok"]
    return sum(len({each.get(name) for each in found}) > 1 for name in dict.fromkeys(name for each in found for name in each))


def slope_words(slope: str, condition: str, links: int) -> str:
    """Return what an operation takes longer, for the middle of a sentence.

    slope: in ms for each ms, such as "16 ms"; condition: the delay as it is varied, such as "rtt".
    """
    return f"takes {slope} longer for each ms of {condition}, which is set on {links} links"


def _links(cell: Cell) -> dict[str, str]:
    return next((dict(each["links"]) for each in cell.samples if each.get("links")), {})
