"""Reads a compose project: its files, with variables and profiles, as a `slownet.compose.model.Project`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from pathlib import Path
from typing import Any

from slownet.compose import borrowed, consistency, extension, project_files
from slownet.compose.document import Map, Place
from slownet.compose.fields import ANY, DONE, LEVELS, REFUSED, X_SLOWNET, Field
from slownet.compose.model import Dependency, Project, Service, Step
from slownet.compose.services import DEFAULT, Reader
from slownet.compose.subnets import Subnets
from slownet.model.errors import ComposeError, nearest
from slownet.model.shapes import Json

PROFILES, ALL = "COMPOSE_PROFILES", "*"
NAME = "COMPOSE_PROJECT_NAME"
MOST_SERVICES = 1000
"""Each is a host; the network that slownet gives them, a /24, ends earlier."""


@dataclass(frozen=True)
class Checked:
    """A project as far as it can be read, and all its mistakes."""

    services: tuple[Service, ...]
    warnings: tuple[str, ...]
    refused: tuple[ComposeError, ...]
    ignored: tuple[Finding, ...]
    """The fields that the last warning names."""
    steps: tuple[Step, ...] = ()
    """The faults."""


def read(
    paths: Sequence[Path], profiles: Sequence[str] = (), machine: Mapping[str, str] | None = None,
) -> Project:  # fmt: skip
    """Return the project of one or more files, where later ones are merged over earlier ones.

    profiles: the active ones. machine: environment variables; this process's, unless given. Raises ComposeError with line and
    column.
    """
    return _project(paths, profiles, machine).read()


def check(paths: Sequence[Path], profiles: Sequence[str] = (), machine: Mapping[str, str] | None = None) -> Checked:
    """Return all that `read` would ignore or refuse of a project; it stops at another kind of file. Raises ComposeError."""
    refused: list[ComposeError] = []
    project = _project(paths, profiles, machine)
    services: list[Service] = []
    warnings: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    try:
        whole = project.read(refused.append)
        services, warnings, steps = project.readable(), whole.warnings, whole.steps
    except ComposeError as error:
        refused.append(error)
        services, warnings = project.readable(), project.warnings()
    return Checked(tuple(services), warnings, tuple(refused), tuple(project.ignored), steps)


def _project(paths: Sequence[Path], profiles: Sequence[str], machine: Mapping[str, str] | None) -> _Project:
    environment = os.environ if machine is None else machine
    source = project_files.read([Path(each) for each in paths], environment)
    active = {*profiles, *filter(None, source.variables.get(PROFILES, "").split(","))}
    return _Project(source, active)


def _raise(error: ComposeError) -> None:
    raise error


class _Project:
    def __init__(self, source: project_files.Source, active: set[str]) -> None:
        self._source, self._tree, self._active = source, source.tree, active
        self.ignored: list[Finding] = []
        self._own_warnings: list[str] = []
        self._sorted_out: set[tuple[str, str]] = set()
        self._reader = Reader(source, self._name())
        self._refuse: Callable[[ComposeError], None] = _raise
        self.found: dict[str, Service] = {}
        self._refused: set[str] = set()

    def read(self, refuse: Callable[[ComposeError], None] = _raise) -> Project:
        """Return it. refuse: gets what is wrong with one field or service, after which the others are read."""
        self._refuse = refuse
        self._sort_out(self._tree, "", "")
        for error in consistency.resources(self._tree):
            self._refuse(error)
        counts: dict[str, int] = {}
        for each, tree in self._chosen().items():
            self._sort_out(tree, "services.*", each)
            self._sort_out_resources(tree)
            try:
                self.found[each] = self._reader.service(each, tree)
                counts[each] = self._reader.replicas(each, tree)
            except ComposeError as error:
                self._refuse(error)
                # in its place, so that what names it is not refused for that
                self.found[each], counts[each] = Service(each, "", at=str(tree.place)), 1
                self._refused.add(each)
        if sum(counts.values()) > MOST_SERVICES:
            most = max(counts, key=lambda each: counts[each])
            what = f"{sum(counts.values())} services, of which {counts[most]} are {most}"
            raise ComposeError(what, str(self._tree["services"].keys_at[most]), f"a lab has at most {MOST_SERVICES}")
        found = self._with_dependencies({name: each for name, each in self.found.items() if counts.get(name)}, counts)
        extension.check_names(found)
        every = self._tree["services"]
        found = borrowed.given(in_starting_order(found), every, counts)
        found = borrowed.resolved(found, every, counts)
        self._own_warnings += borrowed.warnings(found, every)
        ordered = [one for each in in_starting_order(found) for one in _replicas(each, counts[each.name], found)]
        self.found = {each.name: each for each in ordered}
        trees = {name: every[name] for name in found}
        networks = list(dict.fromkeys(name for each in ordered for name in each.networks))
        joined = {name for each in ordered if len(each.networks) > 1 for name in each.networks}
        subnets = Subnets(self._tree.get("networks") or {}, networks, joined)
        placed, hosts = subnets.hosts(ordered, trees)
        self.found = {each.name: each for each in placed if each.origin not in self._refused}
        self._own_warnings += [
            *subnets.warnings(placed),
            *extension.apart([each for each in placed if each.origin not in self._refused]),
        ]
        client = extension.condition(self._tree, X_SLOWNET, [extension.FAULTS])
        shown = tuple(map(str, self._source.files))
        whole = Project(self._name(), shown, tuple(placed), client, self.warnings(), hosts)
        return replace(whole, steps=self._steps(whole))

    def readable(self) -> list[Service]:
        """Return the services that are not refused."""
        return [each for each in self.found.values() if each.origin not in self._refused]

    def _steps(self, project: Project) -> tuple[Step, ...]:
        """Return what is to break in a project, if that is possible."""
        try:
            steps = tuple(extension.stated(self._tree, X_SLOWNET))
            extension.check(replace(project, steps=steps))
        except ComposeError as error:
            self._refuse(error)
            return ()
        return steps

    def warnings(self) -> tuple[str, ...]:
        """Return what the reader should know, a line each."""
        ignored = [f"{self._shown}: ignored: {on_one_line(self.ignored)}"] if self.ignored else []
        return (*self._source.warnings, *self._own_warnings, *dict.fromkeys(self._reader.warnings), *ignored)

    def _name(self) -> str:
        text = self._tree.get("name") or self._source.variables.get(NAME) or self._source.folder.resolve().name
        return re.sub(r"[^a-z0-9_-]", "", str(text).lower()).lstrip("_-") or "project"

    def _chosen(self) -> dict[str, Map]:
        """Return the services of the active profiles."""
        every = self._tree.get("services") or {}
        known = {profile for tree in every.values() if tree for profile in tree.get("profiles") or ()}
        for profile in sorted(self._active - known - {ALL}):  # as in compose it is not an error
            self._own_warnings.append(f"{self._shown}: no service has the profile '{profile}': {nearest(profile, known)}")
        found = {name: tree for name, tree in every.items() if isinstance(tree, Map) and self._is_active(tree)}
        if not found:
            what = "every service has a profile" if every else "there is no service"
            fix = f"choose one: {PROFILES}={sorted(known)[0]}" if known else "add one below services:"
            raise ComposeError(what, self._shown, fix)
        return found

    def _is_active(self, tree: Map) -> bool:
        own = tree.get("profiles") or ()
        return not own or ALL in self._active or bool(self._active & set(own))

    @property
    def _shown(self) -> str:
        return str(self._tree.place.file)

    def _sort_out(self, tree: Map, level: str, owner: str, prefix: str = "") -> None:
        """Refuse what the table refuses, and note what it ignores."""
        for each in findings_of(tree, level, owner, prefix):
            if each.field.status == REFUSED:
                of = f" of {each.owner}" if each.owner else ""
                self._refuse(ComposeError(f"{each.label}{of} is not possible in a lab", str(each.place), each.field.note))
            else:
                self.ignored.append(each)

    def _sort_out_resources(self, tree: Map) -> None:
        """Sort out what a service uses of the top level; compose makes nothing else either."""
        used = {"networks": list(tree.get("networks") or {DEFAULT: None})}
        used |= {kind: [each.get("source") for each in tree.get(kind) or ()] for kind in ("volumes", "secrets", "configs")}
        for kind, names in used.items():
            declared = self._tree.get(kind) or {}
            for name in dict.fromkeys(names):
                if isinstance(declared.get(name), Map) and (kind, name) not in self._sorted_out:
                    self._sorted_out.add((kind, name))
                    self._sort_out(declared[name], f"{kind}.*", str(name), f"{kind}.")

    def _with_dependencies(self, found: Mapping[str, Service], counts: Mapping[str, int]) -> dict[str, Service]:
        """Return the services without dependencies that may be missing. Raises ComposeError for one that must not."""
        made = {}
        for name, service in found.items():
            missing = [each for each in service.depends_on if each.service not in found]
            every = self._tree.get("services") or {}
            needed = [
                each for each in missing if (each.required or each.service not in every) and counts.get(each.service) != 0
            ]
            if needed:
                self._fail_for(name, needed[0], found)
            made[name] = replace(service, depends_on=tuple(each for each in service.depends_on if each not in missing))
        return made

    def _fail_for(self, name: str, dependency: Dependency, found: Mapping[str, Service]) -> None:
        every: Mapping[str, Json] = self._tree.get("services") or {}
        own = (every.get(dependency.service) or {}).get("profiles") or ()
        fix = f"{PROFILES}={own[0]}" if own else nearest(dependency.service, found)
        what = f"of the profile {own[0]}, which is not active" if own else "which does not exist"
        raise ComposeError(f"{name} depends on {dependency.service}, {what}", dependency.at, fix)


def _replicas(service: Service, count: int, others: Mapping[str, Service]) -> list[Service]:
    """Return a service as often as there is to be one of it. Raises ComposeError if a name is taken."""
    if count == 1:
        return [service]
    names = [f"{service.name}-{number}" for number in range(1, count + 1)]
    for name in names:
        if name in others:
            raise ComposeError(
                f"a replica of {service.name} has the name of a service, '{name}'", others[name].at, "rename the service"
            )
    return [replace(service, name=name, replica_of=service.name) for name in names]


@dataclass(frozen=True)
class Finding:
    """A field of a file that is ignored or refused."""

    label: str
    """The name of the field: ``deploy.resources``, ``networks.attachable``."""
    owner: str
    """Whose: a service's or network's name; empty at the top."""
    field: Field
    place: Place

    def __str__(self) -> str:
        of = f" of {self.owner}" if self.owner else ""
        return f"{self.label}{of}, {self.place}: {self.field.note}"


def on_one_line(found: Iterable[Finding]) -> str:
    """Return findings on one line: ``restart (web, db): why; labels (web): why``."""
    owners: dict[str, dict[str, dict[str, None]]] = {}
    for each in found:
        owners.setdefault(each.field.note, {}).setdefault(each.label, {})[each.owner] = None
    return "; ".join(f"{', '.join(starmap(_owned, labels.items()))}: {note}" for note, labels in owners.items())


def _owned(label: str, owners: Iterable[str]) -> str:
    names = ", ".join(filter(None, owners))
    return f"{label} ({names})" if names else label


def findings_of(tree: Any, level: str, owner: str = "", prefix: str = "") -> Iterator[Finding]:
    """Yield what is ignored or refused of a mapping, and of what is in it, by the tables. level: its path in `LEVELS`."""
    table = LEVELS[level].fields
    for key, value in tree.items():
        field = table.get(key) or (None if key.startswith("x-") else table.get(ANY))
        if field is None or field.says_nothing(value, tree):
            continue
        label, path = f"{prefix}{key}", f"{level}.{key}"  # at the top no path of a level: those are asked for by their names
        if field.status != DONE:
            yield Finding(label, owner, field, tree.keys_at[key])
            continue
        for inner in _mappings(value) if f"{path}.{ANY}" in LEVELS else ():
            yield from findings_of(inner, f"{path}.{ANY}", owner, f"{label}.")
        if path in LEVELS and isinstance(value, Map):
            yield from findings_of(value, path, owner, f"{label}.")


def _mappings(value: Any) -> list[Map]:
    found = value.values() if isinstance(value, Map) else value if isinstance(value, list) else ()
    return [each for each in found if isinstance(each, Map)]


def in_starting_order(services: Mapping[str, Service]) -> list[Service]:
    """Return the services so that each comes after what it depends on, and those that wait for nothing come first.

    Services that can start together stay in the order of the file. Raises ComposeError for a cycle.
    """
    depths: dict[str, int] = {}
    for name in services:
        _visit(name, services, depths)
    return sorted(services.values(), key=lambda each: depths[each.name])


def _visit(name: str, services: Mapping[str, Service], depths: dict[str, int]) -> None:
    """Note how many services must start before this one, and before those that it waits for, one after the other."""
    way: dict[str, Iterator[Dependency]] = {name: iter(services[name].depends_on)}
    while way:
        last = next(reversed(way))
        following = next((each for each in way[last] if each.service not in depths), None)
        if following is None:
            depths[last] = max((1 + depths[each.service] for each in services[last].depends_on), default=0)
            del way[last]
        elif following.service in way:
            start = list(way).index(following.service)
            _cycle([*list(way)[start:], following.service], following.at)
        else:
            way[following.service] = iter(services[following.service].depends_on)


def _cycle(names: Sequence[str], at: str) -> None:
    fix = "take out one of these depends_on"
    raise ComposeError(f"the services wait for each other: {' -> '.join(names)}", at, fix)
