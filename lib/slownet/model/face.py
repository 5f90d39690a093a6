"""The package's public names: ``slownet/__init__.pyi`` has a line for each, for type checkers and for the package itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

FILE = Path(__file__).parents[1] / "__init__.pyi"


@cache
def homes() -> Mapping[str, str]:
    """Return the module of each public name, and that of ``__version__``."""
    lines = [line.split() for line in FILE.read_text("utf-8").splitlines()]
    return {words[-1]: words[1] for words in lines}


def public() -> list[str]:
    """Return the public names, sorted: ``slownet.__all__``."""
    return sorted(homes().keys() - {"__version__"})
