"""Templates of pages, how pages are written, and the glossary's line for each word where it first stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import escape

from slownet.model import glossary, whole_file
from slownet.report.text import milliseconds, number, spelled, with_interval

WORDS = ("TDF", "T0", "law", "baseline", "cell", "boot", "verified RTT", "cure")
"""The terms that a stranger asks about first."""
_TAG = re.compile(r"(<[^>]*>)")
_OPEN = re.compile(r"<(/?)(script|style|svg|title|abbr|a|summary|button|h1)\b")


@cache
def _known() -> Mapping[str, str]:
    """Return the line of each word."""
    return {word: found[1] for word in WORDS if (found := glossary.meaning(word))}


@cache
def _word() -> re.Pattern[str]:
    longest_first = sorted(_known(), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, longest_first))})(?![\w-])")


def explained(page: str) -> str:
    """Return a page with the first of each term in its text marked, but for those in plots, headings and links."""
    left, inside, parts = set(_known()), 0, _TAG.split(page)
    for at, part in enumerate(parts):
        if at % 2:
            if found := _OPEN.match(part):
                inside += -1 if found[1] else 1
        elif not inside and part.strip():
            parts[at] = _word().sub(lambda match: _marked(match[0], left), part)
    return "".join(parts)


def _marked(word: str, left: set[str]) -> str:
    if word not in left:
        return word
    left.discard(word)
    return f'<abbr title="{escape(_known()[word])}">{word}</abbr>'


@cache  # reading and compiling a template takes longer than rendering it
def template(name: str) -> Template:
    """Load a template of this folder, with the filters that format numbers."""
    folder = resources.files("slownet.report")
    loader = FunctionLoader(lambda each: folder.joinpath(each).read_text("utf-8"))
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": number, "spelled": spelled, "rtt": milliseconds, "pm": with_interval, "kept": kept}
    return environment.get_template(name)


def kept(text: str) -> str:
    """Keep a number and its percent sign in one line."""
    return re.sub(r"(?<=\d) (?=%)", "\u00a0", text)


def write_html(path: Path, text: str) -> Path:
    """Write a page to a file. Raises SlownetError."""
    whole_file.write(path, text)
    return path
