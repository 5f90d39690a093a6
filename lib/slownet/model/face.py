"""The package's public names: ``slownet/__init__.pyi`` has a line for each, for type checkers and for the package itself.

``from slownet.judge.claim.kinds import *`` there stands for the lines of that file, which has the same form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

FILE = Path(__file__).parents[1] / "__init__.pyi"


@cache
def homes() -> Mapping[str, str]:
    """Return the module of each public name, and that of ``__version__``."""
    return dict(_homes(FILE))


def _homes(file: Path) -> Iterator[tuple[str, str]]:
    for words in map(str.split, file.read_text("utf-8").splitlines()):
        if words[-1:] == ["*"]:
            yield from _homes(FILE.parents[1].joinpath(*words[1].split(".")).with_suffix(".py"))
        elif words[:1] == ["from"]:
            yield words[-1], words[1]


def public() -> list[str]:
    """Return the public names, sorted: ``slownet.__all__``."""
    return sorted(homes().keys() - {"__version__"})
