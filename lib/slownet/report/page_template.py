"""Templates of pages, and how pages are written."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from pathlib import Path

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template

from slownet.model import whole_file
from slownet.report.text import milliseconds, number, spelled, with_interval


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
