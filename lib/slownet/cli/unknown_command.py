"""A first word that is not a command: which command it may belong to."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from slownet.model import glossary
from slownet.model.errors import SlownetError

OF_FILES = {".py": "run", ".toml": "check", ".yaml": "shell", ".yml": "shell"}
"""The command that takes a file, by its ending."""


def refused(word: str, root: Any) -> SlownetError:
    """Return the error for a word that is not a command. root: the group of all commands."""
    found = _belongs(word, root) or _near(word, root)
    return SlownetError(f"no command '{word}'", fix=f"did you mean `{found}`?" if found else "see slownet --help")


def _belongs(word: str, root: Any) -> str:
    """Return a command line that has the word in its place; nothing if none does."""
    from slownet import topologies
    from slownet.hypotheses import catalogue

    path = Path(word)
    if word in catalogue.names():
        return f"slownet run {word}"
    if path.suffix in OF_FILES and path.is_file():
        return f"slownet {OF_FILES[path.suffix]} {word}"
    if (path / "run.json").is_file():
        return f"slownet show {word}"
    if found := next((each for each in paths(root) if each.rpartition(" ")[2] == word), None):
        return f"slownet {found}"
    if word.partition(",")[0] in topologies.known():
        return f"slownet shell {word}"
    return f"slownet help {word}" if glossary.meaning(word) else ""


def _near(word: str, root: Any) -> str:
    """Return the command line of the nearest command, experiment, or command below another one."""
    from slownet.hypotheses import catalogue

    lines = {name: f"slownet run {name}" for name in catalogue.names()}
    lines |= {each.rpartition(" ")[2]: f"slownet {each}" for each in reversed(list(paths(root)))}
    return next((lines[each] for each in difflib.get_close_matches(word.lower(), lines, n=1, cutoff=0.6)), "")


def paths(command: Any, path: str = "") -> Iterator[str]:
    """Yield the words of all commands below a group, such as ``lab`` and ``lab build``: those of the program first."""
    inner = getattr(command, "commands", {})
    yield from (f"{path}{name}" for name in inner)
    for name, each in inner.items():
        yield from paths(each, f"{path}{name} ")
