"""A cell's conditions as records hold them: numbers where there are any, the unit in the name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slownet.conditions import profiles as conditions
from slownet.conditions.link import WORDS

NONE = "none"
_COLUMNS = {name: row.column for name, row in WORDS.items() if row.column}


def condition(cell: Mapping[str, str]) -> dict[str, Any]:
    """A cell's conditions with the unit in the name: {"rtt": "10ms"} becomes {"rtt_ms": 10.0}.

    A named condition ("LTE") stays, and what it sets stands beside it. "none" stands for no number. A whole number
    stays one ("threads": "10"); a condition that is no link's, and a loss or a queue that one number cannot tell, stay text.
    Raises UnitError, ConditionError.
    """
    found: dict[str, Any] = {}
    for name, text in cell.items():
        if name == "condition":
            fields = conditions.row(text).fields
            found |= {"condition": text, **condition({key: str(value) for key, value in fields.items()})}
        elif name in _COLUMNS:
            found |= {} if text == NONE else _COLUMNS[name](name, text)
        else:
            found[name] = int(text) if text.isdecimal() else text
    return found
