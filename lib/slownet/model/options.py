"""Options: each is one field of a dataclass; the command line, pytest and the documentation take it from there.

An error carries an option as such a value, and prints its name as it is where one is: ``--tdf`` of a command, ``--slownet-tdf``
in pytest, ``tdf=`` from Python (`here`).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

# In texts an option stands as it is typed on the command line, and is found again where a text is printed: in pytest it has a
# prefix, and from Python it is an argument. So a text may come from a lab, a thread or a worker, which do not know who will
# print it. Data names no option: a judgement has the same text wherever it is read.

_OPTION = re.compile(
    r"(?P<command>\bslownet(?: [a-z]\w*)+ --[a-z][a-z0-9-]*)|(?<![\w-])--(?P<name>[a-z][a-z0-9-]*)(?: (?P<value>[\w.:]*\w))?"
)
"""An option, perhaps with its value; or a command with one, which is typed as it is wherever one reads it."""
Naming = Callable[[str, str], str | None]
"""Returns the name of an option elsewhere, or of the option with a value if that is not empty; None: as it is typed."""
_here: ContextVar[Naming] = ContextVar("names of options", default=lambda name, value: None)


@contextmanager
def of_another_program(naming: Naming) -> Iterator[None]:
    """Name options as another program does in a ``with`` block."""
    token = _here.set(naming)
    try:
        yield
    finally:
        _here.reset(token)


def here(text: str) -> str:
    """Return a text with the options' names of where one is.

    >>> with of_another_program({("tdf", ""): "--slownet-tdf", ("repeat", "3"): "repeat=3"}.get):
    ...     here("--repeat 3, or --tdf inf, not --tdf-watchdog or --slownet-tdf")
    'repeat=3, or --slownet-tdf inf, not --tdf-watchdog or --slownet-tdf'
    >>> with of_another_program({("kernel", ""): "--slownet-kernel"}.get):
    ...     here("slownet lab build --kernel wide, then --kernel wide")
    'slownet lab build --kernel wide, then --slownet-kernel wide'
    >>> here("--tdf inf")
    '--tdf inf'
    """
    return _OPTION.sub(_named, text)


def _named(found: re.Match[str]) -> str:
    if found["command"]:
        return found[0]
    naming, name, value = _here.get(), found["name"], found["value"] or ""
    both = naming(name, value) if value else None
    return both or f"{naming(name, '') or f'--{name}'} {value}".rstrip()


_KEY = "option"
"""Under this name the metadata of a field has its option."""


@dataclass(frozen=True)
class Option:
    """One option.

    name: of the field, such as ``fail_if_slower``; ``from_`` where Python has the word itself.
    metavar: the form of its value for help, such as ``N|inf|auto``; empty if it takes none.
    text: the text for help.
    words: values that a shell offers.
    least: the smallest number that it takes.
    kind: the type of the argument in Python, as a docstring has it: ``str, optional``.
    doc: the text of that docstring.
    tests: for pytest, which has the option if this is a text: what it adds to `text`.
    """

    name: str
    metavar: str = ""
    text: str = ""
    words: tuple[str, ...] = ()
    least: int | None = None
    kind: str = ""
    doc: str = ""
    tests: str | None = None

    @property
    def typed(self) -> str:
        """The option as it is typed on a command line."""
        return f"--{self.name.rstrip('_').replace('_', '-')}"

    def __str__(self) -> str:
        """Return its name where one is."""
        return here(self.typed)

    def set(self, value: object) -> str:
        """Return it with a value as one writes it where one is: ``--tdf inf``, ``tdf="inf"``."""
        return here(f"{self.typed} {value}")

    def in_command(self, command: str, value: object = "") -> str:
        """Return a command of slownet with it, which is typed alike wherever one reads it.

        >>> Option("kernel").in_command("lab build", "wide")
        'slownet lab build --kernel wide'
        """
        return f"slownet {command} {self.typed} {value}".rstrip()


BLIND, BUDGET, CAPTURE, CELL, CLOCK, COLD, CPU, CURES, ENV, FROM, HTTP, KERNEL = map(
    Option, ("blind", "budget", "capture", "cell", "clock", "cold", "cpu", "cures", "env", "from", "http", "kernel")
)
KEY, LAB, MEMORY, METRIC, NAME, ONLY, OUT, PLACE, REPEAT, RESUME, SHARE, SLOWNET = map(
    Option, ("key", "lab", "memory", "metric", "name", "only", "out", "place", "repeat", "resume", "share", "slownet")
)
STP, SYSTEM, TAG, TDF, TEST, TIMEOUT, VARY = map(Option, ("stp", "system", "tag", "tdf", "test", "timeout", "vary"))
"""Those that messages name; dataclasses such as `slownet.runner.run_options.RunOptions` and the command line declare them."""


def stated(metavar: str, text: str, words: Iterable[str] = (), least: int | None = None, **more: str) -> dict[str, Option]:
    """Return the metadata of a dataclass's field that is an option. more: ``kind``, ``doc`` and ``tests`` of `Option`."""
    return {_KEY: Option("", metavar, text, tuple(words), least, **more)}


def same(cls: type, name: str) -> Any:
    """Return a field like that of another dataclass."""
    found = _field(cls, name)
    return dataclasses.field(default=found.default, metadata=found.metadata)


def of(cls: type, name: str) -> Option:
    """Return the option that a field of a dataclass is."""
    found: Option = _field(cls, name).metadata[_KEY]
    return dataclasses.replace(found, name=name)


def _field(cls: type, name: str) -> dataclasses.Field[Any]:
    return next(each for each in dataclasses.fields(cls) if each.name == name)


def names(cls: type) -> list[str]:
    """Return the fields of a dataclass that are options."""
    return [each.name for each in dataclasses.fields(cls) if _KEY in each.metadata]


def changed(values: Any) -> dict[str, Any]:
    """Return the options of a dataclass's object that differ from their defaults."""
    fields = (each for each in dataclasses.fields(values) if _KEY in each.metadata)
    return {each.name: getattr(values, each.name) for each in fields if getattr(values, each.name) != each.default}
