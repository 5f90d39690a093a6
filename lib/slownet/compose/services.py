"""Reads one service, whose fields have the long form, into the model."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from slownet.compose import dotenv, links
from slownet.compose.document import Map
from slownet.compose.fields import X_SLOWNET
from slownet.compose.files import Source
from slownet.compose.longform import text
from slownet.compose.model import STARTED, Content, Dependency, Health, Service
from slownet.compose.storage import Storage
from slownet.errors import ComposeError, nearest
from slownet.lab.folders import refused

SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(h|ms|us|µs|ns|m|s)")
_EXPOSED = re.compile(r"(\d+)(?:-(\d+))?(?:/(tcp|udp|sctp))?")
MOST_PORT = 65535
HARMLESS: Mapping[str, tuple[Any, ...]] = {
    "network_mode": ("bridge", "default"), "ipc": ("private", "none"), "pid": ("",), "uts": ("",), "userns_mode": ("",),
    "scale": (1, "1"), "runtime": ("",), "privileged": ("false",), "use_api_socket": ("false",),
}  # fmt: skip
"""Values of refused fields that a lab's containers have anyway."""
DEFAULT = "default"
"""The network of services that name none."""


def is_harmless(key: str, value: Any) -> bool:
    """Return whether a refused field has a value that changes nothing."""
    return value in HARMLESS.get(key, ())


class Reader:
    """Reads the services of a project. `warnings` are what the reader should know afterwards."""

    def __init__(self, source: Source, project: str) -> None:
        self._source, self._project = source, project
        self.warnings: list[str] = []
        self._storage = Storage(source, self.warnings)

    def service(self, name: str, tree: Map) -> Service:
        """Return a service. Raises ComposeError."""
        self._refuse(name, tree)
        entrypoint, command = (_words(tree, each) for each in ("entrypoint", "command"))
        return Service(
            name=name, image=self._image(name, tree), at=str(tree.place), command=command, entrypoint=entrypoint,
            environment=self._environment(tree), ports=tuple(dict.fromkeys(self._ports(tree))),
            depends_on=tuple(_dependencies(tree)), health=_health(tree), volumes=tuple(self._storage.volumes(tree)),
            contents=tuple(self._contents(tree)), networks=self._networks(tree), links=_links(tree),
            hostname=tree.get("hostname") or "", user=tree.get("user") or "", working_dir=tree.get("working_dir") or "",
            read_only=tree.get("read_only") in (True, "true"), init=tree.get("init") in (True, "true"),
            stop_signal=text(tree.get("stop_signal") or ""), stop_s=_seconds(tree, "stop_grace_period", 10.0),
            extra_hosts=_extra_hosts(tree), condition=links.condition(tree, X_SLOWNET), build=self._build(name, tree),
        )  # fmt: skip

    def _refuse(self, name: str, tree: Map) -> None:
        replicas = (tree.get("deploy") or {}).get("replicas")
        if replicas is not None and text(replicas) != "1":
            at = tree["deploy"].keys_at["replicas"]
            _fail(f"{replicas} replicas of {name} are not possible in a lab", at, "name a service for each: web1, web2")

    def _image(self, name: str, tree: Map) -> str:
        if tree.get("image"):
            return str(tree["image"])
        if "build" not in tree:
            _fail(f"the service '{name}' has no image", tree.place, "add image: with a name that slownet image list shows")
        return f"{self._project}-{name}"

    def _build(self, name: str, tree: Map) -> str:
        """Return the arguments with which buildah, podman or docker builds the image; empty if the file says nothing."""
        found = tree.get("build")
        if not found:
            return ""
        words = ["build", "-t", self._image(name, tree)]
        context = str(self._path(found.get("context") or "."))
        if found.get("dockerfile"):
            words += ["-f", str(Path(context, found["dockerfile"]))]
        if found.get("target"):
            words += ["--target", str(found["target"])]
        args = found.get("args") or {}
        pairs = args.items() if isinstance(args, dict) else (text(each).partition("=")[::2] for each in args)
        words += [word for key, value in pairs for word in ("--build-arg", f"{key}={text(value)}" if value else str(key))]
        return shlex.join([*words, context])

    def _path(self, given: str) -> Path:
        return self._storage.path(given)

    def _environment(self, tree: Map) -> dict[str, str]:
        found: dict[str, str] = {}
        for entry in tree.get("env_file") or ():
            path, at = self._path(entry["path"]), entry.values_at["path"]
            if path.is_file():
                outer = {**found, **self._source.variables}
                found |= dotenv.read(path, outer, raw=entry.get("format") == "raw")
            elif entry.get("required", True) is not False:
                _fail(f"no file {path}", at, "create it, or write required: false")
        given: Mapping[str, str | None] = tree.get("environment") or {}
        outside = self._source.variables
        found |= {name: value for name, value in given.items() if value is not None}
        return found | {name: outside[name] for name, value in given.items() if value is None and name in outside}

    def _ports(self, tree: Map) -> Iterator[int]:
        """Yield the TCP ports that a service states."""
        for number, each in enumerate(tree.get("ports") or ()):
            stated = text(each["target"]) if "target" in each else _fail("a port lacks a target", tree["ports"].at[number], "")
            if each.get("protocol", "tcp") == "tcp":
                yield from _range(stated, tree["ports"].at[number])
        for number, each in enumerate(tree.get("expose") or ()):
            yield from _range(text(each), tree["expose"].at[number])

    def _networks(self, tree: Map) -> dict[str, tuple[str, ...]]:
        known = {DEFAULT, *(self._source.tree.get("networks") or ())}
        own = [str(tree["container_name"])] if tree.get("container_name") else []
        stated = tree.get("networks") or {DEFAULT: None}
        for name in stated:
            if name not in known:
                at = tree["networks"].keys_at[name]
                _fail(
                    f"the network '{name}' is not declared", at, f"add it below networks: at the top, or {nearest(name, known)}"
                )
        return {name: (*((each or {}).get("aliases") or ()), *own) for name, each in stated.items()}

    def _contents(self, tree: Map) -> Iterator[Content]:
        """Yield the service's configs and secrets."""
        for kind, folder, what in (("configs", "/", "config"), ("secrets", "/run/secrets/", "secret")):
            for number, each in enumerate(tree.get(kind) or ()):
                at = tree[kind].at[number]
                source = each.get("source")
                declared = (self._source.tree.get(kind) or {}).get(source)
                if not declared:
                    _fail(f"the {what} '{source}' is not declared", at, f"add it below {kind}: at the top")
                target = each.get("target") or f"{folder}{source}"
                target = target if target.startswith("/") else f"{folder}{target}"
                mode = each.get("mode", 0o444)
                yield self._content(what, source, declared, target, int(mode, 8) if isinstance(mode, str) else int(mode))

    def _content(self, what: str, name: str, declared: Map, target: str, mode: int) -> Content:
        if "file" in declared:
            path, at = self._path(declared["file"]), declared.values_at["file"]
            if not path.is_file():
                _fail(f"no file {path} for the {what} '{name}'", at, "create it")
            if why := refused(Path(os.path.realpath(path)), at_own_path=False):
                _fail(f"{path} {why}", at, f"name a file with the {what}")
            return Content(target, path=str(path), mode=mode)
        if "content" in declared:
            return Content(target, text=str(declared["content"]), mode=mode)
        if "environment" in declared:
            variable, at = str(declared["environment"]), declared.values_at["environment"]
            if variable not in self._source.variables:
                _fail(f"the variable {variable} of the {what} '{name}' is not set", at, f"set it: export {variable}=...")
            return Content(target, text=self._source.variables[variable], mode=mode)
        return _fail(f"the {what} '{name}' is external", declared.place, "a lab has no store of them: name a file")


def _fail(what: str, at: object, fix: str) -> NoReturn:
    raise ComposeError(what, str(at), fix)


def _words(tree: Map, name: str) -> tuple[str, ...] | None:
    """Return a command; a text is split like a shell's line, None leaves it to the image."""
    value = tree.get(name)
    if value is None:
        return None
    if isinstance(value, list):
        return tuple(map(text, value))
    try:
        return tuple(shlex.split(value))
    except ValueError as error:
        _fail(f"unclear {name}: {error}", tree.keys_at[name], "quote as in a shell, or write a list")


Seconds = TypeVar("Seconds", float, None)


def duration(value: Any) -> float | None:
    """Return the seconds of compose's ``1m30s``; None if it is unclear."""
    found = _DURATION.findall(text(value))
    if "".join(number + unit for number, unit in found) != text(value):
        return 0.0 if text(value) == "0" else None
    return sum(float(number) * SECONDS[unit] for number, unit in found)


def _seconds(tree: Map, name: str, default: Seconds) -> float | Seconds:
    value = tree.get(name)
    if value is None:
        return default
    seconds = duration(value)
    if seconds is None:
        _fail(f"unclear duration '{value}'", tree.keys_at[name], "write it like 1m30s; units: h m s ms us")
    return seconds


def _range(stated: str, at: object) -> range:
    found = _EXPOSED.fullmatch(stated)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 0 < first <= last <= MOST_PORT:
        _fail(f"unclear port '{stated}'", at, f"write 1 to {MOST_PORT}, or a range such as 8000-8003")
    return range(first, last + 1) if found and found[3] in (None, "tcp") else range(0)


def _dependencies(tree: Map) -> Iterator[Dependency]:
    stated = tree.get("depends_on") or {}
    for name, each in stated.items():
        condition = (each or {}).get("condition", STARTED)
        required = (each or {}).get("required", True) is not False
        yield Dependency(name, condition, str(tree["depends_on"].keys_at[name]), required)
    for number, link in enumerate(tree.get("links") or ()):
        if link.partition(":")[0] not in stated:
            yield Dependency(link.partition(":")[0], at=str(tree["links"].at[number]))


def _links(tree: Map) -> dict[str, str]:
    """Return the aliases under which a service knows others."""
    parts = (each.partition(":") for each in tree.get("links") or ())
    return {alias: name for name, _, alias in parts if alias}


def _health(tree: Map) -> Health | None:
    found = tree.get("healthcheck")
    if not found:
        return None
    if found.get("disable") in (True, "true"):
        return Health(("NONE",))
    retries = text(found.get("retries", 0))
    if not retries.isdecimal():
        _fail(f"{retries} retries", found.keys_at["retries"], "write a whole number")
    times = {name: _seconds(found, name, None) for name in ("interval", "timeout", "start_period", "start_interval")}
    return Health(_test(found), retries=int(retries) or None, **times)


def _test(found: Map) -> tuple[str, ...]:
    test = found.get("test")
    if test is None:
        return ()
    if isinstance(test, str):
        return ("CMD-SHELL", test)
    words = tuple(map(text, test))
    enough = {"NONE": 1, "CMD": 2, "CMD-SHELL": 2}
    if not words or words[0] not in enough or len(words) < enough[words[0]]:
        _fail(
            f"unclear test {list(words)}",
            found.keys_at["test"],
            'write ["CMD", "program", "argument"], a text for a shell, or ["NONE"]',
        )
    return words


def _extra_hosts(tree: Map) -> dict[str, tuple[str, ...]]:
    stated = tree.get("extra_hosts") or {}
    for name, addresses in stated.items():
        if "host-gateway" in addresses:
            at = tree["extra_hosts"].keys_at[name]
            _fail(f"'{name}' is host-gateway", at, "a lab's hosts have no gateway to this machine")
    return {name: tuple(addresses) for name, addresses in stated.items()}
