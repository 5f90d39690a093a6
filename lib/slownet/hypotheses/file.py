"""Hypothesis files: a question, where to ask it, and what somebody predicts, in TOML for labs and coursework.

A file holds::

    question = "How much slower is a page when its reader is 10 ms away?"
    topology = "client_web_db"                # a name, see `slownet.topologies`; that one unless given
    service = "wordpress"                     # or "nginx" with page = "52kB"; none for tools that need no server
    tool = "ab"                               # or "ping", "wget", "iperf3"

    [options]                                 # of the tool
    requests = 50

    [conditions]
    link = ["client", "switch"]
    rtt = ["0ms", "10ms", "40ms"]             # what varies is a list, the baseline first; the rest holds in every cell

    [[prediction]]
    claim = "law"                             # a kind of claim (`slownet.claim`) and its fields
    metric = "time_per_request_ms"
    round_trips = "?"                         # left for the reader to predict: asked for by `slownet check --blind`

It is an `Experiment` like any other: it runs, is repeated, recorded and reported in the same way.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet import claim as claims
from slownet.conditions.link import Condition
from slownet.errors import ExperimentError, SlownetError, nearest
from slownet.experiment import Experiment, condition
from slownet.hypotheses.toolbox import SERVICES, TOOLS
from slownet.topologies import find as find_topology

OPEN = "?"
KINDS: Mapping[str, type[Any]] = {
    each.__name__: each
    for each in (
        *(claims.law, claims.constant_round_trips, claims.ratio, claims.bound, claims.equal),
        *(claims.no_worse_than, claims.grows, claims.monotone),
    )
}
TOP = ("question", "topology", "parameters", "service", "page", "tool", "options", "conditions", "prediction")
TABLES = ("parameters", "options", "conditions")
LINK = "link"
SAYS = "says"


@dataclass(frozen=True)
class Prediction:
    """One [[prediction]] as it is written; ``open`` are the fields that are left to be predicted."""

    kind: str
    fields: Mapping[str, Any]
    says: str = ""

    @property
    def open(self) -> tuple[str, ...]:
        return tuple(name for name, value in self.fields.items() if value == OPEN)

    @property
    def text(self) -> str:
        """For people: what it says, else its fields."""
        shown = ", ".join(f"{name} {_shown(value)}" for name, value in self.fields.items())
        return self.says or f"{self.kind}: {shown}"

    def filled(self, values: Mapping[str, float]) -> Prediction:
        """The same with numbers for its open fields."""
        return dataclasses.replace(self, fields={**self.fields, **values})

    def claim(self) -> claims.Claim:
        """What a run is judged by. Raises ExperimentError while a field is open."""
        if self.open:
            raise ExperimentError(
                f"{self.open[0]} is left to be predicted", self.text, "write a number, or run it with --blind"
            )
        made: claims.Claim = KINDS[self.kind](**{name: _value(value) for name, value in self.fields.items()})
        return made


@dataclass(frozen=True)
class Hypothesis:
    """A file that was read."""

    path: Path
    question: str
    topology: str
    parameters: Mapping[str, Any]
    service: str | None
    page: str
    tool: str
    options: Mapping[str, Any]
    link: tuple[str, str]
    fixed: Mapping[str, Any]
    vary: Mapping[str, tuple[str, ...]]
    predictions: tuple[Prediction, ...]

    @property
    def name(self) -> str:
        return re.sub(r"\W+", "_", self.path.stem)

    def experiment(self) -> Experiment:
        """To be run; its claims are the predictions, none while one of them is open."""
        make = SERVICES[self.service] if self.service else None
        service = (lambda net, directory: make(net, directory, self.page)) if make else None

        def measure(net: Any, *rest: Any, **cell: str) -> Any:
            with net.link(*self.link).set(**self.fixed, **cell):
                return TOOLS[self.tool].run(net, rest[0] if rest else None, self.options)

        topology = find_topology(self.topology)
        cls = (lambda: topology(**self.parameters)) if self.parameters else topology
        judged_by = [] if any(each.open for each in self.predictions) else [each.claim() for each in self.predictions]
        return Experiment(self.name, self.question, measure, cls, self.vary, service, judged_by=judged_by)


def read(path: Path) -> Hypothesis:
    """Reads a file. Raises ExperimentError, for an unknown key with its line and column and the nearest name."""
    try:
        text = path.read_text(encoding="utf-8")
        return _Reader(path, text, tomllib.loads(text)).read()
    except (OSError, UnicodeDecodeError) as error:
        raise ExperimentError(f"cannot read {path}", fix=str(getattr(error, "strerror", None) or error)) from error
    except tomllib.TOMLDecodeError as error:
        raise ExperimentError(f"no TOML: {error}", where=str(path)) from error


def place_of(text: str, keys: tuple[str | int, ...]) -> tuple[int, int]:
    """Line and column, from 1, of a key given with the tables around it, such as ("prediction", 1, "metric")."""
    *tables, key = keys
    wanted = tuple(tables)
    here: tuple[str | int, ...] = ()
    counts: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*(\[\[?)\s*([\w.\-\"' ]+?)\s*\]", line)
        if header:
            name = header[2].strip("\"'")
            counts[name] = counts.get(name, -1) + 1
            here = (name, counts[name]) if header[1] == "[[" else (name,)
            if (*wanted, key) == (name,):
                return number, header.start(2) + 1
            continue
        found = re.match(rf"\s*[\"']?({re.escape(str(key))})[\"']?\s*[=.]", line)
        if found and here == wanted:
            return number, found.start(1) + 1
        inline = (
            re.match(rf"\s*{re.escape(str(wanted[-1]))}\s*=.*?[{{,]\s*({re.escape(str(key))})\s*=", line) if wanted else None
        )
        if inline and here == wanted[:-1]:
            return number, inline.start(1) + 1
    return 1, 1


class _Reader:
    """Checks each part where it stands."""

    def __init__(self, path: Path, text: str, data: dict[str, Any]) -> None:
        self._path, self._text, self._data = path, text, data

    def read(self) -> Hypothesis:
        data = self._data
        self._known(data, TOP, ())
        for name in TABLES:
            if not isinstance(data.get(name, {}), dict):
                self._fail(f"{name} is no table", (name,), f"write it as [{name}]")
        tool = self._one_of("tool", TOOLS)
        service = self._one_of("service", SERVICES) if "service" in data else None
        if service is None and TOOLS[tool].needs_service:
            self._fail(f"{tool} needs a service to ask", ("tool",), nearest("", SERVICES))
        if "page" in data and service != "nginx":
            self._fail("page is the size of nginx's page", ("page",), 'set service = "nginx", or leave it out')
        options = data.get("options", {})
        self._known(options, TOOLS[tool].options, ("options",))
        link, fixed, vary = self._conditions()
        topology = self._string("topology", "client_web_db")
        self._tried(lambda: find_topology(topology), ("topology",))
        return Hypothesis(
            self._path, self._string("question"), topology, data.get("parameters", {}), service, self._string("page", "52kB"),
            tool, options, link, fixed, vary, tuple(self._predictions()),
        )  # fmt: skip

    def _conditions(self) -> tuple[tuple[str, str], dict[str, Any], dict[str, tuple[str, ...]]]:
        table = self._data.get("conditions", {})
        link = table.get(LINK)
        if not (isinstance(link, list) and len(link) == 2 and all(isinstance(each, str) for each in link)):
            self._fail("conditions need a link", ("conditions", LINK), 'name its two ends, such as link = ["client", "switch"]')
        for name in table:
            if name != LINK:
                self._tried(lambda: Condition().but(**{name: None}), ("conditions", name))  # noqa: B023  # called at once
        fixed = {name: value for name, value in table.items() if name != LINK and not isinstance(value, list)}
        vary = {name: tuple(value) for name, value in table.items() if name != LINK and isinstance(value, list)}
        if not vary:
            self._fail("no condition varies", ("conditions", LINK), 'write a list, such as rtt = ["0ms", "10ms"]')
        for name, values in [*((name, (value,)) for name, value in fixed.items()), *vary.items()]:
            for value in values or (None,):
                if value is None or not (isinstance(value, str) or name not in vary):
                    self._fail(f"{name} holds {value!r}", ("conditions", name), 'write each value in quotes, such as "10ms"')
                self._tried(lambda: condition({name: str(value)}), ("conditions", name))  # noqa: B023  # called at once
        for cell in ({**fixed, **dict(zip(vary, values, strict=True))} for values in itertools.product(*vary.values())):
            self._tried(lambda: Condition.parse(**cell), ("conditions", _named(table, cell)))  # noqa: B023
        return (link[0], link[1]), fixed, vary

    def _predictions(self) -> Iterable[Prediction]:
        found = self._data.get("prediction", [])
        if not isinstance(found, list) or not found:
            self._fail("nothing is predicted", ("prediction",), "write a [[prediction]]")
        for number, table in enumerate(found):
            where: tuple[str | int, ...] = ("prediction", number)
            kind = table.get("claim", "")
            if kind not in KINDS:
                self._fail(f"no kind of claim '{kind}'" if kind else "a prediction needs a claim", (*where, "claim"),
                           nearest(str(kind), KINDS))  # fmt: skip
            fields = {each.name: each for each in dataclasses.fields(KINDS[kind])}
            self._known(table, ("claim", SAYS, *fields), where)
            for name, each in fields.items():
                needed = each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
                if needed and name not in table:
                    self._fail(f"{kind} needs {name}", (*where, "claim"), f"write {name} = ...")
            yield Prediction(kind, {name: table[name] for name in fields if name in table}, table.get(SAYS, ""))

    def _known(self, table: Mapping[str, Any], known: Iterable[str], where: tuple[str | int, ...]) -> None:
        names = tuple(known)
        for key in table:
            if key not in names:
                self._fail(f"unknown key '{key}'", (*where, key), nearest(key, names))

    def _one_of(self, key: str, known: Mapping[str, Any]) -> str:
        value = self._data.get(key)
        if value not in known:
            what = f"no {key} '{value}'" if value is not None else f"there is no {key}"
            self._fail(what, (key,), nearest(str(value or ""), known))
        return str(value)

    def _string(self, key: str, default: str | None = None) -> str:
        value = self._data.get(key, default)
        if not isinstance(value, str) or not value.strip():
            self._fail(f"{key} is no text", (key,), f'write {key} = "..."')
        return str(value)

    def _tried(self, attempt: Callable[[], object], where: tuple[str | int, ...]) -> None:
        try:
            attempt()
        except SlownetError as error:
            self._fail(error.what, where, error.fix)

    def _fail(self, what: str, keys: tuple[str | int, ...], fix: str) -> None:
        line, column = place_of(self._text, keys)
        raise ExperimentError(what, where=f"{self._path}:{line}:{column}", fix=fix)


def _named(table: Mapping[str, Any], cell: Mapping[str, Any]) -> str:
    return next((name for name in table if name in cell), LINK)


def _value(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name} {each}" for name, each in value.items())
    return " and ".join(map(str, value)) if isinstance(value, list) else str(value)
