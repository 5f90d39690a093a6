"""The code blocks of the documentation's pages, and what each is for.

A block's language says what is done with it:

- ``console``: each line that begins with ``$ `` is a command; the lines below it are what it prints, where ``...`` stands for
  any text. It runs in the page's folder.
- ``{code-block} LANGUAGE`` with ``:caption: FILE``: the file is written to the page's folder, for what follows.
- ``python``: runs in a process of its own, after the page's earlier blocks of Python; with pytest if it defines tests.
- ``toml``, ``yaml``, ``json``, ``ini``: is read as what it is.
- ``text``: output, a drawing or a form of words; nothing is done with it.

A comment above a block changes that: ``% test: exit=1`` (the status of its last command), ``% test: skip=REASON``.
A page whose front matter has ``test: quick`` runs in `make test` as well.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
LANGUAGES = (
    "console",
    "python",
    "toml",
    "yaml",
    "json",
    "ini",
    "text",
    "html",
    "javascript",
    "php",
    "sql",
    "css",
    "java",
    "xml",
    "properties",
)
DATA = ("toml", "yaml", "json", "ini")
SKIPS = ("another machine", "a browser", "the internet", "root", "hours", "asks its reader")
"""Why a block may be skipped: what this machine does not have, or nobody waits for."""
_FENCE = re.compile(r"^(?P<indent>\s*)(?P<ticks>`{3,})(?P<info>.*)$")
_NOTE = re.compile(r"^\s*% test: (.*)$")


@dataclass(frozen=True)
class Step:
    """A command of a console block, and what it prints; None where the page does not say."""

    command: str
    printed: str | None


@dataclass(frozen=True)
class Block:
    """A code block: its page, line, language, text, the file that it is, and the notes above it."""

    page: Path
    line: int
    language: str
    text: str
    file: str | None
    notes: dict[str, str]

    def __str__(self) -> str:
        return f"{self.page.relative_to(DOCS)}:{self.line}"

    @property
    def steps(self) -> list[Step]:
        """The commands of a console block; a line that ends with a backslash goes on in the next."""
        found: list[tuple[list[str], list[str]]] = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                found.append(([line[2:]], []))
            elif found and not found[-1][1] and found[-1][0][-1].endswith("\\"):
                found[-1][0].append(line.removeprefix("> "))
            elif found:
                found[-1][1].append(line)
        return [Step("\n".join(words), "\n".join(printed) if printed else None) for words, printed in found]


def pages() -> list[Path]:
    """Return the pages that people write, in order; not the generated ones."""
    return sorted(path for path in DOCS.rglob("*.md") if not {"_build", "_generated", "_ext"} & {*path.relative_to(DOCS).parts})


def quick(page: Path) -> bool:
    """Return whether the page runs in `make test` as well."""
    front = re.match(r"---\n(.*?)\n---\n", page.read_text(), re.DOTALL)
    return bool(front and re.search(r"^test: quick$", front[1], re.MULTILINE))


def blocks(page: Path) -> list[Block]:
    """Return the page's code blocks, in order. A MyST directive other than code-block is none."""
    found, notes, lines = [], {}, iter(enumerate(page.read_text().splitlines(), 1))
    for number, line in lines:
        if note := _NOTE.match(line):
            name, _, value = note[1].partition("=")
            notes[name] = value
        elif fence := _FENCE.match(line):
            inner = []
            for _, each in lines:
                if each.strip() == fence["ticks"]:
                    break
                inner.append(each.removeprefix(fence["indent"]))
            found += _block(page, number, fence["info"].strip(), inner, notes)
            notes = {}
    return found


def _block(page: Path, line: int, info: str, inner: list[str], notes: dict[str, str]) -> list[Block]:
    directive = re.match(r"\{(.*?)\}\s*(.*)", info)
    if directive and directive[1] != "code-block":
        return []
    options = {}
    while directive and inner and (option := re.match(r":(\w[\w-]*):\s*(.*)", inner[0])):
        options[option[1]] = option[2]
        inner = inner[1:]
    text = textwrap.dedent("\n".join(inner).strip("\n") + "\n")
    return [Block(page, line, directive[2] if directive else info, text, options.get("caption"), notes)]
