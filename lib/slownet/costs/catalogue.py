"""The entries and servers that come with slownet, and those of a user's own files."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
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

    Raises ExperimentError if a word names none, or if two entries have one name: results are kept by names.
    """
    if not words:
        return list(entries().values())
    chosen: dict[Path, Entry] = {}
    for word in words:
        chosen |= {each.file.resolve(): each for each in _named(word)}
    names: dict[str, Entry] = {}
    for each in chosen.values():
        if (other := names.setdefault(each.name, each)) is not each:
            where = f"{other.file} and {each.file}"
            raise ExperimentError(f"two entries are called '{each.name}'", where, "rename one of the files")
    return list(chosen.values())


def exactly(name: str) -> Entry:
    """Return the entry of a file, or the one of slownet's own that has this whole name. Raises ExperimentError."""
    if name.endswith(SUFFIX):
        return entry(Path(name))
    if (found := entries().get(name)) is None:
        raise _unknown(name, entries())
    return found


def is_own(of: Entry) -> bool:
    """Return whether an entry is one of slownet's, whose results are kept, and not a user's file of the same name."""
    return (known := entries().get(of.name)) is not None and known.file.resolve() == of.file.resolve()


def _named(word: str) -> list[Entry]:
    if word.endswith(SUFFIX):
        return [entry(Path(word))]
    if (exact := entries().get(word)) is not None:
        return [exact]
    part = word.strip().lower()
    if not part:
        raise ExperimentError("an empty text names no entry", fix="write a name; `slownet costs` lists them")
    found = [
        each for each in entries().values()
        if part in each.name or part in each.program.lower() or part in (each.ecosystem, each.server)
    ]  # fmt: skip
    if not found:
        known = {part for each in entries().values() for part in (each.name, each.ecosystem, each.server)}
        raise _unknown(word, known)
    return found


def _unknown(word: str, known: Iterable[str]) -> ExperimentError:
    return ExperimentError(f"no entry is called '{word}'", fix=f"{nearest(word, sorted(known))}; `slownet costs` lists them")
