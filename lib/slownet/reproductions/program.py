"""Commands of the small programs that single experiments run on hosts (`slownet.reproductions.programs`)."""

from __future__ import annotations

from slownet.tools import program


def python(module: str, *words: object) -> list[str]:
    """Return the command that runs a module of `slownet.reproductions.programs`.

    module: its name.
    *words: its arguments.
    """
    return program.python(module, *words, package="slownet.reproductions.programs")
