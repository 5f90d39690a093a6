"""Names of options in messages: those of the program that one is in.

In texts an option stands as it is typed on the command line, and is found again where a text is printed: in pytest it has a
prefix, and from Python it is an argument. So a text may come from a lab, a thread or a worker, which do not know who will print
it. Data names no option: a judgement has the same text wherever it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_OPTION = re.compile(r"(?P<command>\bslownet(?: [a-z]\w*)+ --[a-z][a-z0-9-]*)|(?<![\w-])--[a-z][a-z0-9-]*")
"""An option, or a command with one, which is typed as it is wherever one reads it."""
_here: ContextVar[tuple[Mapping[str, str], Mapping[str, str]]] = ContextVar("names of options", default=({}, {}))


@contextmanager
def of_another_program(names: Mapping[str, str], phrases: Mapping[str, str] = MappingProxyType({})) -> Iterator[None]:
    """Use other names in a ``with`` block.

    names: what an option of the command line is called there.
    phrases: regular expressions of options with their values, and what to write instead.
    """
    token = _here.set((names, phrases))
    try:
        yield
    finally:
        _here.reset(token)


def here(text: str) -> str:
    """Return a text with the options' names of where one is.

    >>> with of_another_program({"--tdf": "--slownet-tdf"}, {r"--repeat (\\d+)": r"repeat=\\1"}):
    ...     here("--repeat 3, or --tdf inf, not --tdf-watchdog or --slownet-tdf")
    'repeat=3, or --slownet-tdf inf, not --tdf-watchdog or --slownet-tdf'
    >>> with of_another_program({"--kernel": "--slownet-kernel"}):
    ...     here("slownet lab build --kernel wide, then --kernel wide")
    'slownet lab build --kernel wide, then --slownet-kernel wide'
    >>> here("--tdf inf")
    '--tdf inf'
    """
    names, phrases = _here.get()
    for pattern, instead in phrases.items():
        text = re.sub(pattern, instead, text)
    return _OPTION.sub(lambda found: found["command"] or names.get(found[0], found[0]), text)
