"""The causes of an operation's round trips, from the packets of one more time: by the account of waits."""

from __future__ import annotations

from typing import Any

from slownet.model.errors import SlownetError
from slownet.waits.account import Cause
from slownet.waits.account_text import SHORT_NS
from slownet.waits.blocks import Block, blocks
from slownet.waits.live import Captured


def of(captured: Captured, begin: int, end: int) -> dict[str, Any]:
    """Return the round trips ("trips") of the time between two instants in ns since 1970, and what they were ("parts").

    Nothing was sent, or nothing answered: 0 and an empty list.
    """
    try:
        account = captured.made((begin, end))
    except SlownetError:  # no packets, or no answer
        return {"trips": 0, "parts": []}
    parts = [_text(each) for each in blocks(account, SHORT_NS)]
    return {"trips": len(list(account.trips())) / 2, "parts": [each for each in parts if each]}


def _text(block: Block) -> str:
    """Return a block as text: "2 x question and answer: 47, 60, 30, 5 bytes"; in parentheses if nothing crosses."""
    if block.cause in (Cause.SERIALISATION, Cause.QUEUE):
        return ""
    many = f"{block.round_trips:g} x " if block.round_trips not in (0, 1) else ""
    sizes = ", ".join(str(each.size) for each in block.steps if each.trip and each.size)
    detail = f" ({block.detail})" if block.detail and block.round_trips else ""
    text = f"{many}{block.cause}{detail}{f': {sizes} bytes' if sizes else ''}"
    return text if block.round_trips else f"({text})"
