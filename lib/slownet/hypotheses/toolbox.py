"""Tools and services by their names in hypothesis files.

Another one is added by one line here, or by an entry point of another package (`slownet.model.extensions`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from slownet.lab import owner
from slownet.model.extensions import Register
from slownet.model.shapes import Json
from slownet.model.units import size
from slownet.services.nginx import Nginx
from slownet.services.oltp import OltpDatabase
from slownet.services.wordpress import WordPress
from slownet.tools.ab import ab
from slownet.tools.browser.browse import browse
from slownet.tools.fetch import fetch
from slownet.tools.iperf3 import iperf3
from slownet.tools.ping import ping
from slownet.tools.sysbench import oltp
from slownet.tools.wget import wget

Options = Mapping[str, Json]
"""A tool's options as a hypothesis file states them; the tool checks their values."""


@dataclass(frozen=True)
class Named:
    """A tool in hypothesis files.

    ``run`` calls it with the network, the service and the options. ``own`` are its options besides `from`, its host's name.
    ``asks`` are the services that it can measure; empty if it needs none.
    """

    run: Callable[[Any, Any, Options], Any]
    own: tuple[str, ...]
    asks: tuple[str, ...] = ()
    random_with: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """What the tool draws at random with a value of an option."""
    warm_up: int | None = None
    """How many operations warm it up, if not as many as other programs."""

    @property
    def options(self) -> tuple[str, ...]:
        return ("from", *self.own)

    def chance(self, options: Options) -> str:
        """Return what is random in the tool with these options; empty if nothing is."""
        return next((why for (name, value), why in self.random_with.items() if options.get(name) == value), "")


@dataclass(frozen=True)
class Starts:
    """What starts a service in hypothesis files, with the network, the run directory and the size of nginx's page."""

    make: Callable[[Any, Path, str], AbstractContextManager[Any]]
    chance: str = ""
    """What is random in it."""

    def __call__(self, net: Any, directory: Path, page: str) -> AbstractContextManager[Any]:
        return self.make(net, directory, page)


@dataclass(frozen=True)
class Page:
    """The page that ``nginx`` serves."""

    url: str
    servers: tuple[Nginx, ...] = ()
    """What a file's faults can break."""


@contextmanager
def _page(net: Any, directory: Path, page: str) -> Iterator[Page]:
    """Serve a page of this size from the host `web`, or `server` if there is no `web`."""
    host = net[_first(net, "web")]
    root = owner.directory() / "pages"
    root.mkdir(exist_ok=True)
    (root / "page.html").write_bytes(b"x" * size(page))
    with Nginx(host, directory, root=root) as server:
        yield Page(f"{server.url}page.html", (server,))


def _given(options: Options, names: Iterable[str]) -> dict[str, Any]:
    """Return those of some options that are stated; a version may be a number in TOML."""
    return {name: str(options[name]) if name in _TEXTS | _VERSIONS else options[name] for name in names if name in options}


def _measure_page(tool: Callable[..., Any], own: Sequence[str], net: Any, service: Any, options: Options) -> Any:
    return tool(net[options.get("from", "client")], service.url, **_given(options, own))


def _of_page(tool: Callable[..., Any], *own: str, **more: Any) -> Named:
    """Return a tool that a host calls with the URL of a page; no closure, of which nobody would know what it calls."""
    return Named(partial(_measure_page, tool, own), own, asks=WEB, **more)


def _ping(net: Any, service: Any, options: Options) -> Any:
    to = net[options.get("to") or _first(net, "web")].IP()
    return ping(net[options.get("from", "client")], to, **_given(options, ("count", "interval")))


def _iperf3(net: Any, service: Any, options: Options) -> Any:
    ends = net[options.get("from", "server")], net[options.get("to", "client")]
    return iperf3(*ends, **_given(options, ("seconds", "congestion", "omit")))


def _sysbench(net: Any, service: Any, options: Options) -> Any:
    given = _given(options, ("threads", "transactions", "rows"))
    return oltp(net[options.get("from", "client")], service.account, statements=service.questions, **given)


def _database(net: Any, directory: Path, page: str) -> OltpDatabase:
    """Return MariaDB with an empty schema on the host `db`, or `server` if there is no `db`."""
    return OltpDatabase(net, directory, on=_first(net, "db"))


def _first(net: Any, name: str) -> str:
    return name if any(each.name == name for each in net.hosts) else "server"


WEB = ("wordpress", "nginx")
_COUNTS = frozenset(("requests", "concurrency", "count", "loads", "threads", "transactions", "rows"))
_SECONDS = frozenset(("seconds", "timeout"))
_PAUSES = frozenset(("interval", "omit"))
_TEXTS = frozenset(("congestion", "device", "cache", "window"))
_VERSIONS = frozenset(("http", "tls"))
_TOOLS: Mapping[str, Named] = {
    "ab": _of_page(ab, "requests", "concurrency", "varying"),
    "browse": _of_page(browse, "loads", "cache", "device", "http", "window", "timeout", warm_up=1),
    "ping": Named(_ping, ("to", "count", "interval")),
    "wget": _of_page(wget),
    "fetch": _of_page(fetch, "requests", "http", "tls"),
    "iperf3": Named(
        _iperf3,
        ("to", "seconds", "congestion", "omit"),
        random_with={("congestion", "bbr"): "BBR starts its cycle of rates at random"},
    ),
    "sysbench": Named(_sysbench, ("threads", "transactions", "rows"), asks=("mariadb",)),
}


def is_slownets(tool: str) -> bool:
    """Return whether a tool is one of slownet's own, which states its units."""
    return tool in _TOOLS


def how_to_write(tool: str, option: str, value: Json) -> str:
    """Return how an option of one of slownet's own tools is written, if its value is of another kind; else empty."""
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    kinds: tuple[tuple[frozenset[str], bool, str], ...] = (
        (_COUNTS, type(value) is int and value >= 1, "write a whole number from 1"),
        (_SECONDS, number and value > 0, "write a number of seconds above 0"),
        (_PAUSES, number and value >= 0, "write a number of seconds from 0"),
        (frozenset(("varying",)), isinstance(value, bool), "write true or false"),
        (_TEXTS, isinstance(value, str), "write a text in quotes"),
        (_VERSIONS, number or isinstance(value, str), 'write a version, such as "2"'),
    )
    return next((how for names, fits, how in kinds if tool in _TOOLS and option in names and not fits), "")


_SERVICES: Mapping[str, Callable[[Any, Path, str], AbstractContextManager[Any]]] = {
    "wordpress": Starts(lambda net, directory, page: WordPress(net, directory), WordPress.chance),
    "nginx": Starts(_page),
    "mariadb": Starts(_database, OltpDatabase.chance),
}
TOOLS = Register("tools", _TOOLS)
SERVICES = Register("services", _SERVICES)
