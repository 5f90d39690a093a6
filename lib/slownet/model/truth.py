"""Objects without a truth value: `bool` raises an error that explains it."""

from __future__ import annotations

from typing import ClassVar

from slownet.model.errors import ExperimentError

MOST = 80
"""Characters of an object that an error quotes."""


class NoTruth:
    """A base class of what has to be compared or judged first: ``assert about(40)`` would pass whatever was measured."""

    instead: ClassVar[str]
    """The expression to write instead."""

    def __bool__(self) -> bool:
        """Raise ExperimentError."""
        said = repr(self)
        shown = f"{said[:MOST]}..." if len(said) > MOST else said
        raise ExperimentError(f"'{shown}' alone is neither true nor false", fix=self.instead)
