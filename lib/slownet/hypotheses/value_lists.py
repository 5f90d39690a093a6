"""Lists of values as one text, of which some may have a comma: ``way=new,"new, TLS",pool``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from slownet.model.errors import ExperimentError
from slownet.model.options import VARY

_PART = re.compile(r'\s*(?:"(?P<quoted>[^"]*)"\s*|(?P<plain>[^,]*))(?:,|$)')


def split(text: str) -> list[str]:
    """Return the values between commas, but for commas within double quotes; an empty one stays."""
    found, at = [], 0
    while at <= len(text):
        part = _PART.match(text, at)
        if part is None or (part["quoted"] is None and '"' in (part["plain"] or "")):
            return [each.strip() for each in text.split(",")]  # a quote that is not closed, or within a value: a character
        found.append(part["quoted"] if part["quoted"] is not None else (part["plain"] or "").strip())
        if part.end() == len(text) and not text[part.start() : part.end()].endswith(","):
            break
        at = part.end()
    return found


def shown(values: Iterable[str]) -> str:
    """Return values as one text that `split` takes apart again: one with a comma is in quotes."""
    return ", ".join(f'"{each}"' if "," in each else each for each in values)


def whole(name: str, parts: Sequence[str], known: Sequence[str], of: str) -> list[str]:
    """Return values of which the known ones with commas are put together again, the longest first.

    Parameters
    ----------
    name : str
        The condition.
    parts : sequence of str
        The values, or what is between the commas of a text.
    known : sequence of str
        The values that an experiment has by itself.
    of : str
        The experiment, for the error.

    Raises
    ------
    ExperimentError
        A value is not among them, although some have a comma: those are names that the experiment alone knows.
    """
    if not any("," in each for each in known):
        return list(parts)
    by_words = {_words(each): each for each in known}
    found, at = [], 0
    while at < len(parts):
        ends = (end for end in range(len(parts), at, -1) if _words(",".join(parts[at:end])) in by_words)
        end = next(ends, None)
        if end is None:
            fix = f"choose from {shown(known)}; in a shell, quote the whole: {VARY.typed} '{name}=...'"
            raise ExperimentError(f"{of} has no {name} '{parts[at]}'", VARY.set(name), fix)
        found.append(by_words[_words(",".join(parts[at:end]))])
        at = end
    return found


def _words(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split(","))
