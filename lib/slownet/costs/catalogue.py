"""The entries and servers that come with slownet, and those of a user's own files."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path

from slownet.costs.entry import Entry, Server, entry, server
from slownet.model.errors import ExperimentError, nearest

HERE = Path(__file__).parent
ENTRIES, SERVERS = HERE / "entries", HERE / "servers"
SUFFIX = ".toml"


@functools.cache
def entries() -> Mapping[str, Entry]:
    """Return slownet's own entries by name. Raises ExperimentError."""
    found = [entry(file) for file in sorted(ENTRIES.rglob(f"*{SUFFIX}"))]
    return {each.name: each for each in found}


def find_server(of: Entry) -> Server:
    """Return an entry's server: of a file beside the entry, below `servers`, or slownet's own. Raises ExperimentError."""
    for folder in (of.file.parent / "servers", SERVERS):
        if (file := folder / f"{of.server}{SUFFIX}").is_file():
            return server(file)
    known = sorted(each.stem for each in SERVERS.glob(f"*{SUFFIX}"))
    fix = f"{nearest(of.server, known)}, or write servers/{of.server}{SUFFIX} beside it"
    raise ExperimentError(f"unknown server '{of.server}'", str(of.file), fix)


def choose(words: Sequence[str]) -> list[Entry]:
    """Return the entries that words name: a file, or parts of the names, programs, ecosystems and servers; without any, all.

    Raises ExperimentError if a word names none.
    """
    if not words:
        return list(entries().values())
    chosen: dict[Path, Entry] = {}
    for word in words:
        chosen |= {each.file: each for each in _named(word)}
    return list(chosen.values())


def _named(word: str) -> list[Entry]:
    if word.endswith(SUFFIX):
        return [entry(Path(word))]
    if (exact := entries().get(word)) is not None:
        return [exact]
    part = word.lower()
    found = [
        each for each in entries().values()
        if part in each.name or part in each.program.lower() or part in (each.ecosystem, each.server)
    ]  # fmt: skip
    if not found:
        known = {part for each in entries().values() for part in (each.name, each.ecosystem, each.server)}
        raise ExperimentError(f"no entry is called '{word}'", fix=f"{nearest(word, sorted(known))}; `slownet costs` lists them")
    return found
