"""Reads a compose project: its files, with variables and profiles, as a `slownet.compose.model.Project`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from slownet.compose import files, links, order, services
from slownet.compose.document import Map, Reset
from slownet.compose.fields import IGNORED, REFUSED, SERVICE, TOP, X_SLOWNET, Field
from slownet.compose.model import Dependency, Project, Service
from slownet.compose.services import Reader
from slownet.errors import ComposeError, nearest

PROFILES, ALL = "COMPOSE_PROFILES", "*"
NAME = "COMPOSE_PROJECT_NAME"


def read(
    paths: Sequence[Path], profiles: Sequence[str] = (), machine: Mapping[str, str] | None = None,
) -> Project:  # fmt: skip
    """Return the project of one or more files, of which later ones are merged over earlier ones.

    profiles: the active ones. machine: environment variables; this process's, unless given. Raises ComposeError with line and
    column.
    """
    environment = os.environ if machine is None else machine
    source = files.read([Path(each) for each in paths], environment)
    active = {*profiles, *filter(None, source.variables.get(PROFILES, "").split(","))}
    return _Project(source, active).read()


class _Project:
    def __init__(self, source: files.Source, active: set[str]) -> None:
        self._source, self._tree, self._active = source, source.tree, active
        self._ignored: dict[str, list[str]] = {}

    def read(self) -> Project:
        self._sort_out(self._tree, TOP, "", ())
        chosen = self._chosen()
        name = self._name()
        reader = Reader(self._source, name)
        found: dict[str, Service] = {}
        for each, tree in chosen.items():
            self._sort_out(tree, SERVICE, each, (each,))
            found[each] = reader.service(each, tree)
        found = self._with_dependencies(found)
        links.check_names(found)
        ordered = tuple(order.sort(found))
        client = links.condition(self._tree, X_SLOWNET)
        warnings = (*self._source.warnings, *reader.warnings, *self._warnings())
        return Project(name, tuple(map(str, self._source.files)), ordered, client, warnings)

    def _name(self) -> str:
        text = self._tree.get("name") or self._source.variables.get(NAME) or self._source.folder.resolve().name
        return re.sub(r"[^a-z0-9_-]", "", str(text).lower()).lstrip("_-") or "project"

    def _chosen(self) -> dict[str, Map]:
        """Return the services of the active profiles."""
        every = self._tree.get("services") or {}
        known = {profile for tree in every.values() if tree for profile in tree.get("profiles") or ()}
        for profile in self._active - known - {ALL}:
            raise ComposeError(f"no profile '{profile}'", self._shown, nearest(profile, known))
        found = {name: tree for name, tree in every.items() if isinstance(tree, Map) and self._is_active(tree)}
        if not found:
            what = "every service has a profile" if every else "there is no service"
            fix = f"choose one: --profile {sorted(known)[0]}" if known else "add one below services:"
            raise ComposeError(what, self._shown, fix)
        return found

    def _is_active(self, tree: Map) -> bool:
        own = tree.get("profiles") or ()
        return not own or ALL in self._active or bool(self._active & set(own))

    @property
    def _shown(self) -> str:
        return str(self._tree.place.file)

    def _sort_out(self, tree: Map, table: Mapping[str, Field], name: str, where: Sequence[str]) -> None:
        """Refuse what the table refuses, and note what it ignores."""
        for key, value in tree.items():
            field = table.get(key)
            if field is None or isinstance(value, Reset) or value in (None, False, [], {}):
                continue
            if field.status == REFUSED and not services.is_harmless(key, value):
                of = f" of {name}" if name else ""
                raise ComposeError(f"{key}{of} is not possible in a lab", str(tree.keys_at[key]), field.note)
            if field.status == IGNORED:
                self._ignored.setdefault(key, []).append(name)

    def _warnings(self) -> list[str]:
        named = [f"{key} ({', '.join(names)})" if any(names) else key for key, names in self._ignored.items()]
        return [f"{self._shown}: ignored: {', '.join(named)}"] if named else []

    def _with_dependencies(self, found: Mapping[str, Service]) -> dict[str, Service]:
        """Return the services without dependencies that may be missing. Raises ComposeError for one that must not."""
        made = {}
        for name, service in found.items():
            missing = [each for each in service.depends_on if each.service not in found]
            if needed := [each for each in missing if each.required]:
                self._fail_for(name, needed[0], found)
            made[name] = replace(service, depends_on=tuple(each for each in service.depends_on if each not in missing))
        return made

    def _fail_for(self, name: str, dependency: Dependency, found: Mapping[str, Service]) -> None:
        every: Mapping[str, Any] = self._tree.get("services") or {}
        own = (every.get(dependency.service) or {}).get("profiles") or ()
        fix = f"--profile {own[0]}" if own else nearest(dependency.service, found)
        what = f"of the profile {own[0]}, which is not active" if own else "which does not exist"
        raise ComposeError(f"{name} depends on {dependency.service}, {what}", dependency.at, fix)
