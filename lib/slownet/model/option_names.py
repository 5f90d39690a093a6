"""Names of options in messages: those of the program that one is in.

Errors and claims name the options of the command line. In pytest these have a prefix, and some are not there; the plugin says
which, for the tests and decisions that its own options are about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_here: ContextVar[tuple[Mapping[str, str], Mapping[str, str]]] = ContextVar("names of options", default=({}, {}))


@contextmanager
def of_another_program(names: Mapping[str, str], phrases: Mapping[str, str]) -> Iterator[None]:
    """Use other names in a ``with`` block.

    Parameters
    ----------
    names : mapping of str to str
        What an option of the command line is called there.
    phrases : mapping of str to str
        Regular expressions of advice with options that are not there, and what to say instead.
    """
    token = _here.set((names, phrases))
    try:
        yield
    finally:
        _here.reset(token)


def here(text: str) -> str:
    """Return a text with the options' names of where one is.

    >>> with of_another_program({"--tdf": "--slownet-tdf"}, {r"--repeat \\d+ or more": "measure more"}):
    ...     here("--repeat 3 or more, or --tdf inf, not --tdf-watchdog or --slownet-tdf")
    'measure more, or --slownet-tdf inf, not --tdf-watchdog or --slownet-tdf'
    >>> here("--tdf inf")
    '--tdf inf'
    """
    names, phrases = _here.get()
    for pattern, instead in phrases.items():
        text = re.sub(pattern, instead, text)
    return _OPTION.sub(lambda found: names.get(found[0], found[0]), text)
