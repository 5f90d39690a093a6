"""The words of this project, each with a line that describes what it means: for pages, the terminal and the documentation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources

_ROW = re.compile(r"\| (?P<term>[^|]+) \| (?P<meaning>[^|]+) \|")
HEADING = "term"


@lru_cache(maxsize=1)
def terms() -> Mapping[str, str]:
    """Return the meaning of each term, in plain text, in the glossary's order."""
    text = resources.files("slownet").joinpath("data").joinpath("glossary.md").read_text("utf-8")
    rows = [found for line in text.splitlines() if (found := _ROW.fullmatch(line))]
    return {row["term"]: row["meaning"].replace("`", "") for row in rows if row["term"] != HEADING}


def names(term: str) -> tuple[str, ...]:
    """Return what a term is called: "round trip (RTT)" is "round trip" and "RTT", "service, tool" is both."""
    whole = [each.strip() for each in re.split(r"[(),]", term) if each.strip()]
    return tuple(dict.fromkeys([term, *whole]))


def meaning(word: str) -> tuple[str, str] | None:
    """Return the term that a word is, and its meaning; None if the glossary lacks it. Capitals do not matter, nor a plural."""
    for term, said in terms().items():
        known = {name.casefold() for name in names(term)}
        if {word.casefold(), word.casefold().removesuffix("s")} & known:
            return term, said
    return None
