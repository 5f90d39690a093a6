"""Tools that measure a compose project: those of hypothesis files, more load generators, and a command of one's own."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from slownet.containers.compose.model import CLIENT, Project
from slownet.hypotheses.toolbox import TOOLS, WEB, Named, Options
from slownet.model.errors import ExperimentError, ToolError, nearest
from slownet.model.shapes import Json
from slownet.model.units import whole_number
from slownet.tools.constant_rate import constant_rate
from slownet.tools.curl import curl
from slownet.tools.matched import matched, named, words
from slownet.tools.oha import oha
from slownet.tools.sysbench import Account, oltp
from slownet.tools.wrk import wrk, wrk2

TOOL, URL, OPTION, COMMAND, VALUE, UNIT = "--tool", "--url", "--option", "--tool-command", "--value", "--unit"
SECONDS = 10.0
"""How long a load generator sends requests, unless an option says it."""
NUMBERS = frozenset((
    "requests", "concurrency", "count", "interval", "seconds", "omit", "threads", "transactions", "rows", "rate", "connections",
    "loads", "timeout",
))  # fmt: skip
"""Options that are numbers above 0."""
NEEDED = {"constant_rate": "rate", "oha": "rate", "wrk2": "rate"}
"""An option that a tool needs."""
_LOAD = ("seconds", "connections")
_ADDRESS = re.compile(r"https?://[^\s/]+\S*")
_ABSENT = "not found in $PATH"  # crun's words
_VERSIONS = {"1.1": "--http1.1", "2": "--http2", "3": "--http3-only"}


def _load(tool: Any) -> Any:
    """Return how a load generator is run with options that are arguments of the same names."""

    def run(net: Any, page: Any, options: Options) -> Any:
        given = {name: value for name, value in options.items() if name != "from"}
        return tool(net[options["from"]], page.url, **{"seconds": SECONDS} | given)

    return run


def _curl(net: Any, page: Any, options: Options) -> Any:
    version = _VERSIONS.get(str(options.get("http", "1.1")))
    if version is None:
        raise ExperimentError(f"no HTTP {options['http']}", OPTION, nearest("", _VERSIONS))
    return curl(net[options["from"]], [version, *[page.url] * int(options.get("requests", 1))])


def _sysbench(net: Any, page: Any, options: Options) -> Any:
    stated = {"user": "user", "password": "password", "database": "schema"}
    account = Account(net[options["to"]].IP(), **{stated[name]: str(options[name]) for name in stated if name in options})
    given = {name: options[name] for name in ("threads", "transactions", "rows") if name in options}
    return oltp(net[options["from"]], account, **given)


_MORE: Mapping[str, Named] = {
    "constant_rate": Named(_load(constant_rate), ("rate", *_LOAD), asks=WEB),
    "curl": Named(_curl, ("requests", "http"), asks=WEB),
    "oha": Named(_load(oha), ("rate", *_LOAD), asks=WEB),
    "sysbench": Named(_sysbench, ("to", "user", "password", "database", "threads", "transactions", "rows")),
    "wrk": Named(_load(wrk), (*_LOAD, "threads"), asks=WEB),
    "wrk2": Named(_load(wrk2), ("rate", *_LOAD, "threads"), asks=WEB),
}


def names() -> list[str]:
    """Return the tools' names."""
    return sorted({*TOOLS, *_MORE})


def chosen(record: Options, project: Project) -> tuple[Named, Options]:
    """Return the tool of a record, see `slownet.hypotheses.composed`, and its options. Raises ExperimentError."""
    if record.get("command") is not None:
        return _command(record, project)
    name = record["tool"]
    if name not in names():
        raise ExperimentError(f"no tool '{name}'", TOOL, nearest(name, names()))
    tool = _MORE.get(name) or TOOLS[name]
    if tool.asks and not set(tool.asks) & set(WEB):
        raise ExperimentError(f"{name} needs {tool.asks[0]} of slownet's own", TOOL, nearest("", names()))
    if tool.asks:
        _check_address(name, record["url"], project)
    options = _options(name, tool.options, record["options"], project)
    if "to" in tool.options and "to" not in options:
        raise ExperimentError(f"{name} needs a host to measure", OPTION, f"write {OPTION} to={project.services[0].name}")
    if NEEDED.get(name, "from") not in options:
        raise ExperimentError(f"{name} needs a {NEEDED[name]}", OPTION, f"write {OPTION} {NEEDED[name]}=100")
    return tool, options


def _check_address(name: str, url: str | None, project: Project) -> None:
    if not url or not _ADDRESS.fullmatch(url):
        what = f"unclear address '{url}'" if url else f"{name} needs an address"
        service = project.services[-1]
        port = service.ports[0] if service.ports else 80
        raise ExperimentError(what, URL, f"write one such as http://{service.name}:{port}/")


def _options(name: str, known: Sequence[str], stated: Mapping[str, str], project: Project) -> Options:
    options: dict[str, Json] = {"from": CLIENT}
    for key, text in stated.items():
        if key not in known:
            raise ExperimentError(f"{name} has no option '{key}'", OPTION, nearest(key, known))
        options[key] = _number(key, text) if key in NUMBERS else _value(text)
    hosts = [*project.hosts, *(each.name for each in project.services if each.shares and name == COMMAND)]
    for key in ("from", "to"):
        if key in options and options[key] not in hosts:
            raise ExperimentError(f"no host '{options[key]}'", OPTION, nearest(str(options[key]), hosts))
    return options


def _value(text: str) -> Any:
    number = whole_number(text)
    if number is not None:
        return number
    return text == "true" if text in ("true", "false") else text


def _number(key: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise ExperimentError(f"{key} is '{text}'", OPTION, f"write a number: {key}=50")
    whole = whole_number(text)
    return number if whole is None else whole


def _command(record: Options, project: Project) -> tuple[Named, Options]:
    """Return a command of one's own as a tool. On a service it is a program of the service's container."""
    patterns = read_patterns(record["values"], record["units"])
    command = record["command"]
    try:
        words(command)
    except ExperimentError as error:
        raise ExperimentError(error.what, COMMAND, error.fix) from error

    def run(net: Any, topology: Any, options: Options) -> Any:
        host = options["from"]
        if host == CLIENT:
            return matched(net[host], command, patterns)
        try:
            return matched(topology.running[host].inside(), command, patterns)
        except ToolError as error:
            if _ABSENT not in error.raw:
                raise
            what = f"{words(command)[0]} is not in the container of {host}"
            raise ToolError(what, COMMAND, f"without {OPTION} from={host} the client runs the lab's own", error.raw) from error

    return Named(run, ()), _options(COMMAND, ("from",), record["options"], project)


def read_patterns(texts: Sequence[str], units: Sequence[str]) -> list[re.Pattern[str]]:
    """Return the patterns of ``--value`` with the units of ``--unit``, one for all or one for each. Raises ExperimentError."""
    if len(units) > 1 and len(units) != len(texts):
        raise ExperimentError(f"{len(units)} units of {len(texts)} values", UNIT, "write one for all, or one for each")
    each_unit = [*units] * len(texts) if len(units) == 1 else units or [""] * len(texts)
    found: list[re.Pattern[str]] = []
    for text, unit in zip(texts, each_unit, strict=True):
        try:
            pattern = named(text, unit)
        except ExperimentError as error:
            raise ExperimentError(error.what, VALUE, error.fix) from error
        twice = {name for other in found for name in other.groupindex} & set(pattern.groupindex)
        if twice:
            name = twice.pop()
            raise ExperimentError(f"two values are called {name}", VALUE, f"name one: (?P<{name}_2>[0-9.]+)")
        found.append(pattern)
    return found
