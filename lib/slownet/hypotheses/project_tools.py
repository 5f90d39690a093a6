"""Tools that measure a compose project, and a command of the user's own."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slownet.compose.model import CLIENT, Project
from slownet.model.errors import ExperimentError, ToolError, nearest
from slownet.model.options import Option
from slownet.model.shapes import Json
from slownet.model.units import whole_number
from slownet.tools.matched import matched, named, words
from slownet.tools.register import ACCOUNT, FROM, TO, TOOLS, Card, Options, card

TOOL, OPTION, VALUE = Option("tool"), Option("option"), Option("value")
OWN = "a command"
_ADDRESS = re.compile(r"https?://[^\s/]+\S*")
_ABSENT = "not found in $PATH"  # crun's words


@dataclass(frozen=True)
class OwnCommand:
    """A command of the user's, in place of a `slownet.tools.register.Card`."""

    function: Callable[[Any, Any, Options], Any]
    warm_up = None

    def run(self, net: Any, topology: Any, options: Options) -> Any:
        """Run it."""
        return self.function(net, topology, options)


def chosen(record: Options, project: Project) -> tuple[Card | OwnCommand, Options]:
    """Return the tool of a record, see `slownet.hypotheses.composed`, and its options. Raises ExperimentError."""
    if record.get("command") is not None:
        return _command(record, project)
    name = record["tool"]
    if name not in TOOLS:
        raise ExperimentError(f"no tool '{name}'", TOOL, nearest(name, sorted(TOOLS)))
    tool = card(TOOLS[name])
    if tool.services and not {"url", "database", "address"} & {*tool.bound}:
        raise ExperimentError(f"{name} needs {tool.services[0]} of slownet's own", TOOL, nearest("", sorted(TOOLS)))
    hosts = (FROM, TO, *ACCOUNT) if "database" in tool.bound else tool.hosts
    options = _options(name, (*hosts, *tool.bound, *tool.options), record["options"], project, tool)
    if "url" in tool.bound:
        _check_address(name, record["url"], project)
    if TO in hosts and TO not in options:
        raise ExperimentError(f"{name} needs a host to measure", OPTION, f"write {OPTION} to={project.services[0].name}")
    for each in tool.options.values():
        if each.is_needed and each.name not in options:
            raise ExperimentError(f"{name} needs a {each.name}", OPTION, f"write {OPTION} {each.name}=100")
    return tool, options


def _check_address(name: str, url: str | None, project: Project) -> None:
    if not url or not _ADDRESS.fullmatch(url):
        what = f"unclear address '{url}'" if url else f"{name} needs an address"
        service = project.services[-1]
        port = service.ports[0] if service.ports else 80
        raise ExperimentError(what, f"{OPTION} url", f"write one such as http://{service.name}:{port}/")


def _options(name: str, known: Sequence[str], stated: Mapping[str, str], project: Project, tool: Card | None = None) -> Options:
    options: dict[str, Json] = {FROM: CLIENT}
    for key, text in stated.items():
        if key not in known:
            raise ExperimentError(f"{name} has no option '{key}'", OPTION, nearest(key, known))
        options[key] = _number(key, text) if tool and key in tool.options and tool.options[key].is_number else _value(text)
    hosts = [*project.hosts, *(each.name for each in project.services if each.shares and name == OWN)]
    for key in (FROM, TO):
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


def _command(record: Options, project: Project) -> tuple[OwnCommand, Options]:
    """Return a command of one's own as a tool. On a service it is a program of the service's container."""
    patterns = read_patterns(record["values"])
    command = record["command"]
    try:
        words(command)
    except ExperimentError as error:
        raise ExperimentError(error.what, TOOL, error.fix) from error

    def run(net: Any, topology: Any, options: Options) -> Any:
        host = options["from"]
        if host == CLIENT:
            return matched(net[host], command, patterns)
        try:
            return matched(topology.running[host].inside(), command, patterns)
        except ToolError as error:
            if not is_absent(error.raw):
                raise
            raise not_in_container(words(command)[0], host, str(TOOL), f"{OPTION} from={host}", error.raw) from error

    return OwnCommand(run), _options(OWN, ("from",), record["options"], project)


def is_absent(output: str) -> bool:
    """Return whether crun reports that a container lacks the program."""
    return _ABSENT in output


def not_in_container(program: str, service: str, where: str, option: str, raw: str) -> ToolError:
    """Return the error for a program that a service's image lacks. option: what names the service on the command line."""
    what = f"{program} is not in the container of {service}"
    return ToolError(what, where, f"without {option} the client runs the lab's own", raw)


def read_patterns(texts: Sequence[str]) -> list[re.Pattern[str]]:
    """Return the patterns of ``--value``. Raises ExperimentError."""
    found: list[re.Pattern[str]] = []
    for text in texts:
        try:
            pattern = named(text)
        except ExperimentError as error:
            raise ExperimentError(error.what, VALUE, error.fix) from error
        twice = {name for other in found for name in other.groupindex} & set(pattern.groupindex)
        if twice:
            name = twice.pop()
            raise ExperimentError(f"two values are called {name}", VALUE, f"name one: (?P<{name}_2>[0-9.]+)")
        found.append(pattern)
    return found
