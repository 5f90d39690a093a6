"""`slownet help`: what a word means, what a command does, and the page of the documentation about it."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from slownet.cli import documentation, unknown_command
from slownet.model import glossary
from slownet.model.errors import SlownetError, nearest

MANY = 8
"""Pages that are listed for a word."""


def help_(
    ctx: typer.Context,
    word: Annotated[
        list[str] | None, typer.Argument(metavar="WORD", help="A term such as T0, a command, or a page such as howto/compose.")
    ] = None,
    show: Annotated[
        bool, typer.Option("--open", help="Open the page about it in a browser; without a word, the first one.")
    ] = False,
    every: Annotated[bool, typer.Option("--pages", help="List the pages of the documentation instead.")] = False,
) -> None:
    """Explain a word, a command or a page; without one, all words.

    The pages are on this machine: nothing is fetched.
    """
    if every:
        print("\n".join(documentation.pages(documentation.root())))
        return
    text = " ".join(word or ())
    if show:
        _open(text or documentation.FIRST)
    elif text:
        print("\n\n".join(_found(ctx.parent, word or (), text)))
    else:
        print("\n".join(f"{term}: {meaning}" for term, meaning in glossary.terms().items()))


def _found(ctx: Any, words: Sequence[str], text: str) -> list[str]:
    """Return what is known of a word: its meaning, a command's help, the paths of pages. Raises SlownetError for nothing."""
    found = []
    if meaning := glossary.meaning(text):
        found.append("{}: {}".format(*meaning))
    if command := _command(ctx, words):
        found.append(command)
    if pages := _pages(text):
        found.append("\n".join(map(str, pages)))
    if not found:
        found = _about(text)
    if not found:
        raise SlownetError(f"no term, command or page '{text}'", fix=_instead(ctx, text))
    return found


def _about(text: str) -> list[str]:
    """Return the paths of pages with a word in their headings, unless it is a field of conditions; some of many."""
    from slownet.links.conditions.link import WORDS

    if text in WORDS or not documentation.is_built():
        return []
    known = documentation.pages(documentation.root())
    found = [str(known[each]) for each in documentation.about(text, known)]
    return ["\n".join(["pages with it in a heading:", *found[:MANY]])] if found else []


def _pages(text: str) -> list[Path]:
    if not documentation.is_built():
        return []
    known = documentation.pages(documentation.root())
    return [known[each] for each in documentation.called(text, known)]


def _open(text: str) -> None:
    """Open the page of a name in a browser. Raises SlownetError."""
    known = documentation.pages(documentation.root())
    ends = documentation.called(text, known)
    if len(ends) > 1:
        raise SlownetError(f"several pages are called '{text}'", fix=f"choose from {', '.join(ends)}")
    if not ends:
        raise SlownetError(f"no page '{text}'", fix=nearest(text, [*known, *(each.rpartition("/")[2] for each in known)]))
    if not webbrowser.open(known[ends[0]].as_uri()):
        raise SlownetError("no browser can be opened here", "--open", f"open {known[ends[0]].as_uri()}")


def _instead(ctx: Any, text: str) -> str:
    """Return where a field of conditions is explained, or the term, command or page that is nearest to any other word."""
    from slownet.links.conditions.link import WORDS

    if text in WORDS:
        return "it is a field of conditions: slownet help conditions"
    terms = [name for term in glossary.terms() for name in glossary.names(term)]
    pages = documentation.pages(documentation.root()) if documentation.is_built() else ()
    return nearest(text, [*terms, *WORDS, *unknown_command.paths(ctx.command), *pages])


def _command(ctx: Any, words: Sequence[str]) -> str | None:
    """Return the help of a command, such as ``lab build``; None if none exists of that name."""
    for word in words:
        command = getattr(ctx.command, "commands", {}).get(word)
        if command is None:
            return None
        ctx = command.context_class(command, info_name=word, parent=ctx)
    return str(ctx.get_help())
