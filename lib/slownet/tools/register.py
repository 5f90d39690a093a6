"""The tools that hypothesis files, ``--tool`` and completion know, each by a decorator in its own file.

>>> from slownet.tools.register import TOOLS, card
>>> card(TOOLS["redis-benchmark"]).options["requests"].how
'write a whole number from 1'

The first parameters of a tool's function are what it measures and from where; the others are its options, with their types
and defaults::

    @tool(warm_up=1)
    def my_tool(host: Host, url: str, *, loads: int = 1) -> MyRecord: ...

`BOUND` are the parameters that stand for something of the network. A package names its function in its metadata instead
(`slownet.model.extensions`), where it needs no decorator unless one of `tool`'s parameters has another value.
"""

from __future__ import annotations

import inspect
import math
import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from slownet.model.errors import ExperimentError
from slownet.model.extensions import Register
from slownet.model.shapes import Json

Options = Mapping[str, Json]
"""A tool's options as a hypothesis file or the command line states them."""
BOUND = ("host", "client", "server", "url", "address", "database")
"""Parameters that are hosts of the network, the page's URL, the address of a host, or the database's account."""
WEB, DATABASE = ("wordpress", "nginx"), ("mariadb",)
"""The services of slownet's own that have a URL, and an account."""
FROM, TO = "from", "to"
"""The options that name hosts: where the tool runs, and which host it measures."""
ACCOUNT = {"user": "user", "password": "password", "database": "schema"}
"""Options of a tool that measures a database which slownet did not start, and the account's fields."""

_FILES = Path(__file__).parent
_DECORATED = re.compile(r'^@tool\(\s*(?:"(?P<name>[\w-]+)")?(?:.|\n)*?\)\ndef (?P<function>\w+)\(', re.MULTILINE)
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Option:
    """One option of a tool."""

    name: str
    type: type
    """bool, int, float or str."""
    default: Any
    from_zero: bool = False
    """True if 0 is a value of a float."""
    is_version: bool = False
    """True if a number stands for a text: TOML's 2 for "2"."""

    @property
    def is_needed(self) -> bool:
        """True if it has no default."""
        return self.default is inspect.Parameter.empty

    @property
    def is_number(self) -> bool:
        """True if its values are numbers."""
        return self.type in (int, float)

    @property
    def how(self) -> str:
        """The syntax of a value."""
        if self.is_version:
            return 'write a version, such as "2"'
        least = "from 0" if self.from_zero else "above 0"
        return {
            bool: "write true or false", int: "write a whole number from 1", float: f"write a number of seconds {least}",
            str: "write a text in quotes",
        }[self.type]  # fmt: skip

    def fits(self, value: Json) -> bool:
        """Return whether a value of a hypothesis file is one of this option."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if self.is_version:
            return is_number or isinstance(value, str)
        if self.type is int:
            return type(value) is int and value >= 1
        if self.type is float:
            return is_number and (value > 0 or (self.from_zero and value == 0))
        return isinstance(value, self.type)


@dataclass(frozen=True)
class Card:
    """Facts about a tool that do not need a run."""

    name: str
    function: Callable[..., Any]
    lasts: bool = False
    """True if it works for a time that its caller states, or drives a browser, which both take long on the exact clock."""
    services: tuple[str, ...] = ()
    """The services of hypothesis files that it can measure; empty if it needs none."""
    warm_up: int | None = None
    """The number of operations that warm it up, if it differs from other programs."""
    chances: Mapping[tuple[str, str], str] | None = None
    """The random parts of the tool with a value of an option."""
    versions: tuple[str, ...] = ()
    from_zero: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    """Parameters that are not options."""

    @cached_property
    def bound(self) -> tuple[str, ...]:
        """Its parameters that stand for something of the network."""
        return tuple(each for each in inspect.signature(self.function).parameters if each in BOUND)

    @cached_property
    def options(self) -> Mapping[str, Option]:
        """Its options besides hosts, by their names."""
        hints, found = self._hints, {}
        for name, each in inspect.signature(self.function).parameters.items():
            kind = _plain(hints.get(name, Any if each.default is inspect.Parameter.empty else type(each.default)))
            if name not in (*BOUND, *self.without) and kind:
                is_zero = name in self.from_zero or each.default == 0
                found[name] = Option(name, kind, each.default, is_zero, name in self.versions)
        return found

    @cached_property
    def _hints(self) -> Mapping[str, Any]:
        return typing.get_type_hints(self.function)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all its options in a hypothesis file."""
        return (*self.hosts, *self.options)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Its options that name hosts."""
        two = {"client", "server"} <= {*self.bound}
        return (FROM, TO) if two or "address" in self.bound else (FROM,)

    def chance(self, options: Options) -> str:
        """Return what is random in the tool with these options; empty if nothing is."""
        return next((why for (name, value), why in (self.chances or {}).items() if options.get(name) == value), "")

    def run(self, net: Any, service: Any, options: Options) -> Any:
        """Run it on a network with a service, by the options."""
        stated = {name: each for name, each in self.options.items() if name in options}
        given = {name: str(options[name]) if each.is_version else options[name] for name, each in stated.items()}
        if "statements" in self._hints and hasattr(service, "questions"):
            given["statements"] = service.questions
        return self.function(*(self._value(each, net, service, options) for each in self.bound), **given)

    def _value(self, name: str, net: Any, service: Any, options: Options) -> Any:
        to = net[options[TO]] if TO in options else None
        if name == "url":
            return self._of(service, "url", "a Command with port=8000, or yield an object with a url")
        if name == "address":
            return (to or getattr(service, "host", None) or _server(net)).IP()
        if name == "database":
            if to is None:
                return self._of(service, "account", "an OltpDatabase, or yield an object with the account that its tables have")
            return getattr(service, "account", None) or self._account(to.IP(), options)
        if "server" not in self.bound:
            return net[options[FROM]] if FROM in options else _client(net, service)
        if name == "server":  # it sends: traffic goes from it to the client
            return net[options[FROM]] if FROM in options else _server(net)
        return to or _client(net, service)

    def _of(self, service: Any, name: str, instead: str) -> Any:
        """Return an attribute of a service, which may be an author's own. Raises ExperimentError."""
        found = getattr(service, name, None)
        if found is None:
            raise ExperimentError(f"{self.name} needs the {name} of the service, which has none", fix=f"return {instead}")
        return found

    def _account(self, address: str, options: Options) -> Any:
        given = {field: str(options[key]) for key, field in ACCOUNT.items() if key in options}
        return self._hints["database"](address, **given)


def tool(
    name: str = "", *, lasts: bool = False, services: Sequence[str] = (), warm_up: int | None = None,
    chances: Mapping[tuple[str, str], str] | None = None, versions: Sequence[str] = (), from_zero: Sequence[str] = (),
    without: Sequence[str] = (),
) -> Callable[[Function], Function]:  # fmt: skip
    """Decorate a function as a tool for all doors; the parameters are fields of `Card`."""
    if callable(name):
        raise TypeError(f"@tool lacks its parentheses: write @tool() above {getattr(name, '__name__', name)}")

    def decorate(function: Function) -> Function:
        asked = tuple(services) or _services(function)
        made = Card(
            name or function.__name__,
            function,
            lasts,
            asked,
            warm_up,
            chances,
            tuple(versions),
            tuple(from_zero),
            tuple(without),
        )
        function.card = made  # type: ignore[attr-defined]
        function.lasts = lasts  # type: ignore[attr-defined]
        return function

    return decorate


def lasting(thing: Function) -> Function:
    """Decorate a function or class as a program that runs for a given time, or drives a browser, by `Card.lasts`."""
    thing.lasts = True  # type: ignore[attr-defined]
    return thing


def card(function: Callable[..., Any]) -> Card:
    """Return the card of a tool; a package's function needs no decorator."""
    found = getattr(function, "card", None)
    return found if isinstance(found, Card) else Card(function.__name__, function, services=_services(function))


@cache
def own() -> Mapping[str, tuple[str, str]]:
    """Return module and function of the project's tools by their names. Reads their files, and imports none of them."""
    found = {}
    for path in sorted(_FILES.rglob("*.py")):
        if path != Path(__file__):
            for each in _DECORATED.finditer(path.read_text(encoding="utf-8")):
                module = ".".join(("slownet.tools", *path.relative_to(_FILES).with_suffix("").parts))
                found[each["name"] or each["function"]] = (module, each["function"])
    return dict(sorted(found.items()))


class _Own(Mapping[str, Callable[..., Any]]):
    """The project's tools, each imported when it is looked up."""

    def __getitem__(self, name: str) -> Callable[..., Any]:
        module, function = own()[name]
        found: Callable[..., Any] = getattr(import_module(module), function)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(own())

    def __len__(self) -> int:
        return len(own())


TOOLS: Register[Callable[..., Any]] = Register("tools", _Own())
"""The tools' functions by their names, also those of other packages."""


def _services(function: Callable[..., Any]) -> tuple[str, ...]:
    parameters = inspect.signature(function).parameters
    return WEB if "url" in parameters else DATABASE if "database" in parameters else ()


def _plain(hint: Any) -> type | None:
    """Return the plain type of a parameter, None for another one: a path, a function, a list."""
    kinds = [each for each in typing.get_args(hint) or (hint,) if each is not type(None)]
    return kinds[0] if len(kinds) == 1 and kinds[0] in (bool, int, float, str) else None


def _client(net: Any, service: Any) -> Any:
    others = (each for each in net.hosts if each is not getattr(service, "host", None))
    return _named(net, "client") or next(others)


def _server(net: Any) -> Any:
    return _named(net, "web") or net["server"]


def _named(net: Any, name: str) -> Any:
    return next((each for each in net.hosts if each.name == name), None)
