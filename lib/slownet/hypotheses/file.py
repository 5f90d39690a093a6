"""Hypothesis files: a question, an experiment and predictions in TOML, for labs and coursework.

A file holds::

    question = "How much slower is a page when its reader is 10 ms away?"
    topology = "client_web_db"                # a name, see `slownet.topologies`; this is the default
    service = "wordpress"                     # or "nginx" with page = "52kB", "mariadb" or "redis"; not for all tools
    tool = "ab"                               # or "fetch", "ping", "iperf3"..., "sysbench" for a database, "redis-benchmark"
    unit = "ms"                               # of a number or list that a tool of your own returns
    warm_up = 30                              # operations before the first cell; this is the default with programs of your own

    [options]                                 # of the tool
    requests = 50

    [conditions]
    link = ["client", "switch"]
    rtt = ["0ms", "10ms", "40ms"]             # a list varies, with the baseline first; a single value holds in all cells

    [faults]                                  # optional: what breaks while the tool runs, see `slownet.links.faults`
    "500ms" = "kill server"

    [[prediction]]
    claim = "law"                             # a kind of claim and its fields, see `slownet.hypotheses.predictions`
    metric = "time_per_request_ms"
    round_trips = "?"                         # left open: `slownet check --blind` asks the reader to predict it

Topology, service and tool may be your own, in a file beside this one: ``topology = "mine.py:Shop"`` is a class of Mininet's
``Topo``, ``topology = "compose.yaml"`` a compose project, whose services start with it; ``service = "mine.py:shop"`` is a
function (net, directory) that returns a context manager, whose value has the ``url`` that tools such as ``fetch`` ask for; and
``tool = "mine.py:checkout"`` is a function (net[, service], options) that returns a record or numbers, as in an `Experiment`.

It makes an `Experiment` that runs, is repeated, recorded and reported like any other.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from slownet.hypotheses import own, predictions
from slownet.hypotheses.experiment import Experiment, condition, grid, once
from slownet.hypotheses.predictions import Prediction
from slownet.hypotheses.source import Source, read_toml
from slownet.hypotheses.uses import is_project
from slownet.judge.claim import requirements
from slownet.judge.records.run_json import MALFORMED
from slownet.links.conditions.link import Condition
from slownet.links.faults import Faults, ServiceFault
from slownet.model.errors import ExperimentError, SlownetError, nearest
from slownet.model.importing import described
from slownet.model.shapes import Json
from slownet.model.units import size
from slownet.services.in_files import SERVICES, Page
from slownet.tools.register import TOOLS, Card
from slownet.tools.register import own as own_tools

TOP = (
    "question",
    "topology",
    "parameters",
    "service",
    "page",
    "tool",
    "unit",
    "warm_up",
    "options",
    "conditions",
    "faults",
    "prediction",
)
TABLES = ("parameters", "options", "conditions", "faults")
LINK = "link"
NAMED = "condition"
"""The parameter for a named condition in Python experiments, such as LTE."""
PAGE = "52kB"
URL = "url"
"""The option of tools that request pages, of a compose project's service."""
HOSTS = ("from", "to")
"""The options of tools that are names of hosts."""


@dataclass(frozen=True)
class Hypothesis:
    """The content of a hypothesis file."""

    path: Path
    question: str
    topology: str
    parameters: Mapping[str, Json]
    service: str | None
    page: str
    tool: str
    options: Mapping[str, Json]
    link: tuple[str, str]
    fixed: Mapping[str, Json]
    vary: Mapping[str, tuple[str, ...]]
    predictions: tuple[Prediction, ...]
    unit: str | None = None
    warm_up: int | None = None
    faults: Faults | None = None
    places: Mapping[str, str] = field(default_factory=dict)
    """File, line and column of what only the network can check: `LINK` and the options in `HOSTS`."""

    @property
    def name(self) -> str:
        return re.sub(r"\W+", "_", self.path.stem)

    def experiment(self) -> Experiment:
        """Return the experiment, with the predictions as claims; without claims while a prediction is open."""
        folder = self.path.parent
        make = own.service(self.service, folder) if self.service else None
        tool = own.tool(self.tool, folder, make is not None)
        service = (lambda net, directory: make(net, directory, self.page)) if make else None

        reached = Page(str(self.options[URL])) if isinstance(tool, Card) and URL in self.options else None

        def measure(net: Any, *rest: Any, **cell: str) -> Any:
            for option in filter(self.options.get, HOSTS):
                with self._standing_at(option):
                    net[str(self.options[option])]
            with self._standing_at(LINK):
                link = net.link(*self.link)
            with link.set(**self.fixed, **cell), ExitStack() as broken:
                if self.faults:
                    broken.enter_context(net.faults(self.faults, *filter(_can_break, rest)))
                return tool.run(net, rest[0] if rest else reached, self.options)

        topology = own.topology(self.topology, folder)
        if self.parameters and not is_project(topology):
            topology = functools.partial(topology, **self.parameters)
        judged_by = [] if any(each.open for each in self.predictions) else [each.claim() for each in self.predictions]
        return Experiment(
            self.name, self.question, measure, topology, self.vary, service, judged_by=judged_by, unit=self.unit,
            made_of=(tool.function, make), chance=tool.chance(self.options),
            warm_up=tool.warm_up if self.warm_up is None else self.warm_up,
        )  # fmt: skip

    @contextmanager
    def _standing_at(self, name: str) -> Iterator[None]:
        """Give errors of what the network does not have its place in the file."""
        try:
            yield
        except SlownetError as error:
            raise ExperimentError(error.what, self.places.get(name, error.where), error.fix) from error


def read(path: Path) -> Hypothesis:
    """Read a file. Raises ExperimentError with line and column; for an unknown key, with the nearest name.

    Raises ComposeError if its topology is a compose project that cannot be read.
    """
    if path.exists() and not path.is_file():
        raise ExperimentError(f"{path} is not a file", fix="save its contents to a file: the lab reads it, too")
    text, data = read_toml(path)
    try:
        return _Reader(Source(path, text), path, data).read()
    except (*MALFORMED, OSError) as error:  # a value of a type that nothing above has named
        raise ExperimentError(
            f"a value has a wrong type ({described(error)})", str(path), "compare it with an example"
        ) from error


class _Reader:
    """Checks each part of a file; errors have its line and column."""

    def __init__(self, source: Source, path: Path, data: dict[str, Json]) -> None:
        self._source, self._path, self._data = source, path, data

    def read(self) -> Hypothesis:
        data = self._data
        self._source.known(data, TOP, ())
        for name in TABLES:
            if not isinstance(data.get(name, {}), dict):
                self._source.fail(f"{name} is not a table", (name,), f"write it as [{name}]")
        tool = self._one_of("tool", TOOLS)
        service = self._one_of("service", SERVICES) if "service" in data else None
        named = self._source.tried(lambda: own.tool(tool, self._path.parent, service is not None), ("tool",))
        topology = self._string("topology", "client_web_db")
        reaches = service is None and own.is_project(topology) and isinstance(named, Card) and URL in named.bound
        if not reaches:
            self._check_service(tool, service, named.services)
        if "page" in data and service != "nginx":
            self._source.fail("page is for nginx only", ("page",), 'set service = "nginx", or leave page out')
        self._source.tried(lambda: size(self._string("page", PAGE)), ("page",))
        options = data.get("options", {})
        self._source.known(options, (*named.names, *([URL] if reaches else [])), ("options",))
        for name, value in options.items():
            option = named.options.get(name) if isinstance(named, Card) else None
            if option and not option.fits(value):
                self._source.fail(f"{name} is {value!r}", ("options", name), option.how)
        link, fixed, vary = self._conditions()
        if own.is_project(topology):
            made = own.topology(topology, self._path.parent)  # whose errors have the compose file's lines
            if reaches:
                self._check_url(tool, options.get(URL), made.project)
            if data.get("parameters"):
                self._source.fail("a compose project takes no parameters", ("parameters",), "leave the table out")
        else:
            made = self._source.tried(lambda: own.topology(topology, self._path.parent), ("topology",))
            self._check_parameters(made, named.names)
        return Hypothesis(
            self._path, self._string("question"), topology, data.get("parameters", {}), service, self._string("page", PAGE),
            tool, options, link, fixed, vary, self._predictions(vary),
            self._unit(tool), self._warm_up(), self._faults(),
            {LINK: self._source.place(("conditions", LINK)), **{each: self._source.place(("options", each)) for each in HOSTS}},
        )  # fmt: skip

    def _check_service(self, tool: str, service: str | None, usable: Sequence[str]) -> None:
        """Raise ExperimentError if a tool lacks its service, or cannot measure it. usable: those that it can."""
        if service is None and usable:
            fix = f'{nearest("", usable)}; or your own: service = "mine.py:shop"'
            self._source.fail(f"{tool} needs a service", ("tool",), fix)
        if service and usable and service not in usable and not own.is_own(service):
            self._source.fail(f"{tool} cannot measure {service}", ("service",), nearest("", usable))

    def _check_url(self, tool: str, url: Json, project: Any) -> None:
        """Raise ExperimentError unless a tool has the address of a service of the compose project."""
        service = project.services[-1]
        fix = f'write url = "http://{service.name}:{service.ports[0] if service.ports else 80}/" into [options]'
        if url is None:
            self._source.fail(f"{tool} needs the address of a service", ("tool",), fix)
        host = urlsplit(url).hostname if isinstance(url, str) and url.startswith(("http://", "https://")) else None
        if not host:
            self._source.fail(f"url is {url!r}", ("options", URL), fix)
        if host not in project.hosts and not host.replace(".", "").isdigit():
            self._source.fail(f"no host '{host}' in {project.name}", ("options", URL), nearest(host, project.hosts))

    def _check_parameters(self, topology: Any, options: Iterable[str]) -> None:
        given = self._data.get("parameters", {})
        names = own.parameters(topology)
        for name in given:
            if names is not None and name not in names:
                of_tool = "options of the tool stand in [options]"
                fix = of_tool if name in options else nearest(name, set(names) - set(own.OF_EVERY_TOPOLOGY))
                self._source.fail(f"the topology takes no parameter '{name}'", ("parameters", name), fix)

    def _predictions(self, vary: Mapping[str, Sequence[str]]) -> tuple[Prediction, ...]:
        """Read the predictions, and check that they can be judged on the cells."""
        found = tuple(predictions.read(self._source, self._data.get("prediction")))
        cells = [(cell, condition(cell)) for cell in grid({name: once(name, texts) for name, texts in vary.items()})]
        for number, each in enumerate(found):
            claim = each.blank.claim()
            self._source.tried(lambda: requirements.check("", [claim], cells), ("prediction", number))  # noqa: B023  # called at once
        return found

    def _conditions(self) -> tuple[tuple[str, str], dict[str, Json], dict[str, tuple[str, ...]]]:
        table = self._data.get("conditions", {})
        link = table.get(LINK)
        if not (isinstance(link, list) and len(link) == 2 and all(isinstance(each, str) for each in link)):
            self._source.fail(
                "conditions need a link", ("conditions", LINK), 'name its two ends, such as link = ["client", "switch"]'
            )
        if NAMED in table:
            fix = 'write its fields, such as rtt = ["0ms", "50ms"]; an experiment in Python can vary named conditions'
            self._source.fail("a hypothesis file takes no named conditions", ("conditions", NAMED), fix)
        for name in table:
            if name != LINK:
                self._source.tried(lambda: Condition().but(**{name: None}), ("conditions", name))  # noqa: B023  # called at once
        fixed = {name: value for name, value in table.items() if name != LINK and not isinstance(value, list)}
        vary = {name: tuple(value) for name, value in table.items() if name != LINK and isinstance(value, list)}
        if not vary:
            self._source.fail("no condition varies", ("conditions", LINK), 'give one as a list, such as rtt = ["0ms", "10ms"]')
        for name, values in [*((name, (value,)) for name, value in fixed.items()), *vary.items()]:
            for value in values or (None,):
                if value is None or not (isinstance(value, str) or name not in vary):
                    found = f"{name} has no values" if value is None else f"{name} contains {value!r}"
                    self._source.fail(found, ("conditions", name), 'write each value in quotes, such as "10ms"')
                self._source.tried(lambda: condition({name: str(value)}), ("conditions", name))  # noqa: B023  # called at once
        self._source.tried(lambda: grid(vary), ("conditions", LINK))
        for varied in grid(vary):
            cell = {**fixed, **varied}
            self._source.tried(lambda: Condition.parse(**cell), ("conditions", _named(table, cell)))  # noqa: B023
        return (link[0], link[1]), fixed, vary

    def _one_of(self, key: str, known: Mapping[str, Json]) -> str:
        value = self._data.get(key)
        if own.is_own(value):
            self._source.tried(lambda: own.load(str(value), self._path.parent), (key,))
        elif not isinstance(value, str) or value not in known:
            what = f"unknown {key} '{value}'" if value is not None else f"{key} is missing"
            self._source.fail(what, (key,), nearest(str(value or ""), known))
        return str(value)

    def _unit(self, tool: str) -> str | None:
        if "unit" in self._data and tool in own_tools():
            self._source.fail(
                f"{tool} states its own units", ("unit",), "leave unit out: it is for numbers of a tool of your own"
            )
        return self._string("unit") if "unit" in self._data else None

    def _warm_up(self) -> int | None:
        value = self._data.get("warm_up")
        if value is not None and (type(value) is not int or value < 0):
            self._source.fail(f"warm_up is {value!r}", ("warm_up",), "write a whole number of operations from 0")
        return value

    def _faults(self) -> Faults | None:
        table = self._data.get("faults")
        for at, steps in (table or {}).items():
            self._source.tried(lambda: self._can_happen(Faults.parse({at: steps})), ("faults", at))  # noqa: B023  # called at once
        return Faults.parse(table) if table else None

    def _can_happen(self, faults: Faults) -> None:
        """Raise ExperimentError for a fault of a service where none is started."""
        if "service" in self._data or own.is_project(self._data.get("topology")):
            return
        for step in faults.steps:
            if isinstance(step.action, ServiceFault):
                raise ExperimentError(
                    f"'{step.action}', but the file starts no service", fix='write service = "nginx", or another'
                )

    def _string(self, key: str, default: str | None = None) -> str:
        value = self._data.get(key, default)
        if not isinstance(value, str) or not value.strip():
            what = "is missing" if value is None else "is not a text" if not isinstance(value, str) else "is empty"
            self._source.fail(f"{key} {what}", (key,), f'write {key} = "..."')
        return str(value)


def _can_break(service: Any) -> bool:
    """Return whether a service can be killed, as one or as several servers."""
    return hasattr(service, "servers") or hasattr(service, "kill")


def _named(table: Mapping[str, Json], cell: Mapping[str, Json]) -> str:
    return next((name for name in table if name in cell), LINK)
