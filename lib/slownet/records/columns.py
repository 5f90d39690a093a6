"""The conditions of a cell as they are recorded: as numbers where possible, with the unit in the name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slownet.conditions import profiles as conditions
from slownet.conditions.link import WORDS

NONE = "none"
_COLUMNS = {name: row.column for name, row in WORDS.items() if row.column}


def condition(cell: Mapping[str, str]) -> dict[str, Any]:
    """Convert a cell's conditions to numbers with the unit in the name: {"rtt": "10ms"} becomes {"rtt_ms": 10.0}.

    A named condition ("LTE") is kept, and the conditions that it sets are added. "none" is left out. A whole number becomes
    an int ("threads": "10"); other conditions that are not a link's, and a loss model or queue that is more than one number,
    stay texts. Raises UnitError, ConditionError.
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
