"""A word that is not a command, or an option that a command does not have: the commands that they may belong to."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from slownet.model import glossary
from slownet.model.errors import SlownetError

OF_FILES = {".py": "run", ".toml": "check", ".yaml": "shell", ".yml": "shell"}
"""The command that takes a file, by its ending."""
SHORTEST = 3
"""Letters of a command that a misspelled word may mean: `rum` is `run`, not `lab image rm`."""
MANY = 3
"""So many commands that have an option are not listed."""


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
    near = _close(word.lower(), (each for each in lines if len(each) >= SHORTEST))
    return lines[near[0]] if near else ""


def _close(word: str, words: Iterable[str]) -> list[str]:
    return difflib.get_close_matches(word, list(words), n=1, cutoff=0.6)


def option_refused(option: str, command: str, root: Any, possible: Sequence[str]) -> SlownetError:
    """Return the error for an option that a command does not have.

    option: as it was typed.
    command: the words of the command, the program's name first.
    root: the group of all commands.
    possible: options of that command which are near.
    """
    known = {path: _options(each) for path, each in _commands(root)}
    having = [f"`slownet {path}`" for path, options in known.items() if option in options]
    if having:
        fix = f"it belongs to {' and '.join(having) if len(having) < MANY else f'{having[0]} and others'}; see {command} --help"
    elif near := _close(option, possible):
        fix = f"did you mean {near[0]}?"
    else:
        fix = f"see {command} --help"
    return SlownetError(f"{command} has no option {option}", fix=fix)


def _options(command: Any) -> set[str]:
    return {name for each in command.params for name in each.opts if name.startswith("-")}


def paths(group: Any) -> Iterator[str]:
    """Yield the words of all commands below a group, such as ``lab`` and ``lab build``: those of the program first."""
    return (path for path, _ in _commands(group))


def _commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what `paths` does, each with its command."""
    inner = getattr(group, "commands", {})
    yield from ((f"{before}{name}", each) for name, each in inner.items())
    for name, each in inner.items():
        yield from _commands(each, f"{before}{name} ")
