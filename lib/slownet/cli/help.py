"""`slownet help`: what a word means, or what a command does."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from slownet.model import glossary
from slownet.model.errors import SlownetError, nearest


def help_(
    ctx: typer.Context,
    word: Annotated[list[str] | None, typer.Argument(metavar="WORD", help="A term, such as T0, or a command.")] = None,
) -> None:
    """Say what a word of slownet means, such as T0, cell or TDF, or show the help of a command."""
    if not word:
        print("\n".join(f"{term}: {meaning}" for term, meaning in glossary.terms().items()))
        return
    if found := glossary.meaning(" ".join(word)):
        print("{}: {}".format(*found))
        return
    assert ctx.parent is not None
    shown = _command(ctx.parent, word)
    if shown is None:
        raise SlownetError(f"no term or command '{' '.join(word)}'", fix=_instead(" ".join(word)))
    print(shown)


def _instead(word: str) -> str:
    """Return where a field of conditions is explained, or the term that is nearest to any other word."""
    from slownet.links.conditions.link import WORDS

    if word in WORDS:
        return "it is a field of conditions: slownet docs conditions"
    return nearest(word, [name for term in glossary.terms() for name in glossary.names(term)])


def _command(ctx: Any, words: list[str]) -> str | None:
    """Return the help of a command, such as ``lab build``; None if none exists of that name."""
    for word in words:
        command = getattr(ctx.command, "commands", {}).get(word)
        if command is None:
            return None
        ctx = command.context_class(command, info_name=word, parent=ctx)
    return str(ctx.get_help())
