"""The conditions of a cell as they are recorded: as numbers where possible, with the unit in the name."""

from __future__ import annotations

from collections.abc import Mapping

from slownet.links.conditions import profiles as conditions
from slownet.links.conditions.link import WORDS
from slownet.model.units import whole_number

NONE = "none"
OPERATION = "operation"
"""The condition that names the timed operation, in runs with several: each has a baseline of its own."""
HOST = ":"
"""Between a host and a condition of its link."""
_COLUMNS = {name: row.column for name, row in WORDS.items() if row.column}


def condition(cell: Mapping[str, str]) -> dict[str, float | str]:
    """Convert a cell's conditions to numbers with the unit in the name: {"rtt": "10ms"} becomes {"rtt_ms": 10.0}.

    A named condition ("LTE") is kept, and the conditions that it sets are added. "none" is left out. A whole number becomes
    an int ("threads": "10"); other conditions that are not a link's, and a loss model or queue that is more than one number,
    stay texts. A condition may belong to one host: {"db:rtt": "10ms"} becomes {"db:rtt_ms": 10.0}. Raises UnitError,
    ConditionError.
    """
    found: dict[str, float | str] = {}
    for name, text in cell.items():
        host, colon, field = name.rpartition(HOST)
        found |= {f"{host}{colon}{column}": value for column, value in _columns(field, text).items()}
    return found


def is_of_links(name: str) -> bool:
    """Return whether a cell's condition is one of links, whatever host's: ``rtt``, ``db:loss``, a named ``condition``."""
    field = name.rpartition(HOST)[2]
    return field in WORDS or field == "condition"


def _columns(name: str, text: str) -> dict[str, float | str]:
    if name == "condition":
        fields = conditions.row(text).fields
        return {"condition": text, **condition({key: str(value) for key, value in fields.items()})}
    if name in _COLUMNS:
        return {} if text == NONE else dict(_COLUMNS[name](name, text))
    number = whole_number(text)
    return {name: text if number is None else number}
