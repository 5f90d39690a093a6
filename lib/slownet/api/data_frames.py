"""Tables as pandas data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from slownet.model.errors import SlownetError

if TYPE_CHECKING:
    import pandas


def frame(rows: Sequence[Mapping[str, object]]) -> pandas.DataFrame:
    """Return rows as a data frame; columns are in the order of first appearance. Raises SlownetError without pandas."""
    try:
        import pandas
    except ImportError as error:
        fix = "python -m pip install 'pandas>=2.1'"
        raise SlownetError(f"a data frame needs pandas ({error})", "in frame()", fix) from error
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return pandas.DataFrame.from_records([dict(row) for row in rows], columns=columns)
