"""Reads one service, whose fields have the long form, into the model."""

from __future__ import annotations

import functools
import itertools
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from slownet.compose import borrowed, consistency, container_fields, extension, variables
from slownet.compose.document import Map
from slownet.compose.fields import X_SLOWNET
from slownet.compose.longform import MOST_PORT, is_address
from slownet.compose.model import STARTED, Content, Dependency, Health, Hook, Interface, Service
from slownet.compose.project_files import Source
from slownet.compose.scalars import text
from slownet.compose.storage import Storage
from slownet.compose.variables import Budget
from slownet.lab.run.folders import refused
from slownet.model.errors import ComposeError, nearest
from slownet.model.shapes import Json
from slownet.model.units import whole_number

# The arguments with which buildah, podman or docker builds a service's image, from `build` in a compose file.

STDIN = "-"
"""The Dockerfile that the command reads from its standard input."""


def arguments(build: Map, image: str, path: Callable[[str], Path], secrets: Mapping[str, Json]) -> str:
    """Return them as a shell's words. path: makes one whole; secrets: those at the top of the files. Raises ComposeError."""
    given = str(build.get("context") or ".")
    context = given if "://" in given else str(path(given))
    words = ["build", "-t", image, *(word for each in build.get("tags") or () for word in ("-t", str(each)))]
    if build.get("dockerfile_inline"):
        words += ["-f", STDIN]
    elif build.get("dockerfile"):
        words += ["-f", str(Path(context, build["dockerfile"]))]
    if build.get("target"):
        words += ["--target", str(build["target"])]
    for key, value in (build.get("args") or {}).items():
        words += ["--build-arg", f"{key}={text(value)}" if value else str(key)]
    words += [word for option, value in _options(build, path, secrets) for word in (option, value) if word]
    return shlex.join([*words, context])


def _options(build: Map, path: Callable[[str], Path], secrets: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for field, option in _FLAGS.items():
        if build.get(field) is True:
            yield option, ""
    for field, option in _TEXTS.items():
        if build.get(field):
            yield option, text(build[field])
    for field, option in _LISTS.items():
        yield from ((option, str(each)) for each in build.get(field) or ())
    for field, (option, show) in _PAIRS.items():
        yield from ((option, show(name, value)) for name, value in (build.get(field) or {}).items())
    for name, value in (build.get("additional_contexts") or {}).items():
        yield "--build-context", f"{name}={_context(str(value), path)}"
    if build.get("platforms"):
        yield "--platform", ",".join(map(str, build["platforms"]))
    for number, each in enumerate(build.get("secrets") or ()):
        yield "--secret", _secret(each, secrets, path, build["secrets"].at[number])


def _limit(name: str, value: Any) -> str:
    return f"{name}={value['soft']}:{value['hard']}" if isinstance(value, Map) else f"{name}={value}"


_FLAGS: Mapping[str, str] = {"no_cache": "--no-cache", "pull": "--pull"}
_TEXTS: Mapping[str, str] = {"network": "--network", "shm_size": "--shm-size"}
_LISTS: Mapping[str, str] = {"cache_from": "--cache-from", "cache_to": "--cache-to"}
_PAIRS: Mapping[str, tuple[str, Callable[[str, Json], str]]] = {
    "labels": ("--label", lambda name, value: f"{name}={value or ''}"),
    "extra_hosts": ("--add-host", lambda name, value: f"{name}:{value[0]}"),
    "ulimits": ("--ulimit", _limit),
    "ssh": ("--ssh", lambda name, value: f"{name}={value}" if value else name),
}
"""Fields of a build and the options that do the same."""


def _context(value: str, path: Callable[[str], Path]) -> str:
    if value.startswith("service:"):
        return f"docker-image://{value.removeprefix('service:')}"
    return value if "://" in value else str(path(value))


def _secret(each: Map, declared: Mapping[str, Json], path: Callable[[str], Path], at: object) -> str:
    name = str(each.get("source"))
    found = declared.get(name)
    if not found:
        raise ComposeError(f"the secret '{name}' is not declared", str(at), "add it below secrets: at the top")
    known = str(each.get("target") or name)
    return (
        f"id={known},src={path(str(found['file']))}" if "file" in found else f"id={known},env={found.get('environment', name)}"
    )


# Interfaces of a service: one for each of its networks, ordered and named as a container engine does it.
#
# `eth0` is the interface in the network that Docker Engine 28 prefers for the default route: the one with the highest
# `gw_priority`, then one that is not `internal`, then one with IPv4 and IPv6, then by the network's name in the engine (moby,
# daemon/libnetwork/sandbox.go, Endpoint.Less, and sandbox_linux.go, finishEndpointConfig). Compose's `priority` does not
# count there; the network with the highest one gets the service's own `mac_address` (compose-spec, services).

NAME, MAC, GATEWAY, PRIORITY = "interface_name", "mac_address", "gw_priority", "priority"
LONGEST = 15
"""Letters of an interface's name (IFNAMSIZ less one)."""
_ETHERNET = re.compile(r"[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}")


def of(tree: Map, networks: Sequence[str], declared: Mapping[str, Json], project: str) -> tuple[Interface, ...]:
    """Return a service's interfaces, its first one first. Raises ComposeError.

    tree: the service in the files. networks: its networks. declared: the networks at the top of the files.
    """
    stated = tree.get("networks") or {}
    own = {name: each if isinstance(each := stated.get(name), Map) else Map(tree.place) for name in networks}
    order = sorted(networks, key=lambda each: _rank(each, own[each], declared.get(each) or {}, project))
    first = min(networks, key=lambda each: (-int(own[each].get(PRIORITY) or 0), each), default="")
    macs = {name: _mac(each) or (_mac(tree) if name == first else "") for name, each in own.items()}
    names = dict(_names(order, own))
    return tuple(Interface(each, names[each], macs[each]) for each in order)


def _rank(name: str, own: Map, network: Mapping[str, Json], project: str) -> tuple[int, bool, bool, str]:
    only_ipv4 = not _is_true(network.get("enable_ipv6"))
    in_the_engine = network.get("name") or (name if network.get("external") else f"{project}_{name}")
    return -int(own.get(GATEWAY) or 0), _is_true(network.get("internal")), only_ipv4, str(in_the_engine)


def _names(order: Sequence[str], own: Mapping[str, Map]) -> Iterator[tuple[str, str]]:
    stated = {each: text(own[each][NAME]) for each in order if own[each].get(NAME)}
    taken: dict[str, str] = {}
    for network, name in stated.items():
        at = str(own[network].keys_at[NAME])
        if not 0 < len(name.encode()) <= LONGEST or re.search(r"[\s/:]", name) or name in ("lo", ".", ".."):
            raise ComposeError(f"'{name}' is not an interface's name", at, f"write 1 to {LONGEST} letters, such as eth1")
        if name in taken:
            raise ComposeError(f"two interfaces are called '{name}'", at, f"give one of them another {NAME}")
        taken[name] = network
    free = (name for number in itertools.count() if (name := f"eth{number}") not in taken)
    for each in order:
        yield each, stated.get(each) or next(free)


def _is_true(value: Any) -> bool:
    return text(value) == "true"


def _mac(tree: Map) -> str:
    value = text(tree.get(MAC) or "")
    if value and not _ETHERNET.fullmatch(value):
        raise ComposeError(
            f"'{value}' is not an Ethernet address", str(tree.keys_at[MAC]), "write one such as 02:42:ac:11:00:0a"
        )
    return value.lower().replace("-", ":")


_EXPOSED = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?(?:/(tcp|udp|sctp))?")
MOST_PORTS = 1_000_000
"""In all ranges of a service: there are 65,535, which ranges may repeat."""
DEFAULT = "default"
"""The network of services that name none."""


class Reader:
    """Reads the services of a project. `warnings` are what the reader should know afterwards."""

    def __init__(self, source: Source, project: str) -> None:
        self._source, self._project = source, project
        self.warnings: list[str] = []
        self._storage = Storage(source, self.warnings)
        self._budget = Budget()

    def service(self, name: str, tree: Map) -> Service:
        """Return a service. Raises ComposeError."""
        consistency.service(name, tree)
        build = tree.get("build") or {}
        networks = self._networks(tree)
        declared = self._source.tree.get("networks") or {}
        return Service(
            name=name, image=self._image(name, tree), at=str(tree.place), container=container_fields.read(tree, self.warnings),
            environment=self._environment(tree), ports=tuple(self._ports(tree)),
            depends_on=self._dependencies(name, tree), health=_health(tree),
            volumes=tuple(self._storage.volumes(tree)),
            contents=tuple(self._contents(tree)), networks=networks, links=_links(tree),
            interfaces=of(tree, [*networks], declared, self._project),
            extra_hosts={name: tuple(each) for name, each in (tree.get("extra_hosts") or {}).items()},
            condition=extension.condition(tree, X_SLOWNET), build=self._build(name, tree),
            dockerfile=str(build.get("dockerfile_inline") or ""), shares=borrowed.host(name, tree),
            post_start=tuple(self._hooks(tree, "post_start")), pre_stop=tuple(self._hooks(tree, "pre_stop")),
        )  # fmt: skip

    def _image(self, name: str, tree: Map) -> str:
        if tree.get("image"):
            return str(tree["image"])
        if "build" not in tree:
            _fail(f"the service '{name}' has no image", tree.place, "add image: with a name that slownet lab image list shows")
        return f"{self._project}-{name}"

    def _build(self, name: str, tree: Map) -> str:
        """Return the arguments of the image's build; empty if the file has none."""
        found = tree.get("build")
        secrets = self._source.tree.get("secrets") or {}
        if not found:
            return ""
        path = functools.partial(self._storage.path, at=tree.keys_at["build"])
        return arguments(found, self._image(name, tree), path, secrets)

    def replicas(self, name: str, tree: Map) -> int:
        """Return how many of a service there are. Raises ComposeError."""
        deploy = tree.get("deploy") or {}
        around: Any
        around, key = (tree, "scale") if tree.get("scale") is not None else (deploy, "replicas")
        value = around.get(key)
        if value is None:
            return 1
        number = whole_number(text(value))
        if number is None:
            _fail(f"{value} replicas of {name}", around.keys_at[key], "write a whole number")
        other = deploy.get("replicas")
        if other is not None and whole_number(text(other)) != number:
            _fail(f"{name} has scale: {value} and {other} replicas", around.keys_at[key], "leave one of them out")
        if number > 1 and tree.get("container_name"):
            fix = "leave it out, or have one replica"
            _fail(f"{name} has {value} replicas, and one container_name", tree.keys_at["container_name"], fix)
        return number

    def _hooks(self, tree: Map, name: str) -> Iterator[Hook]:
        for number, each in enumerate(tree.get(name) or ()):
            words = container_fields.words(each, "command", self.warnings)
            if not words:
                _fail(f"{name} without a command", tree[name].at[number], "add command:")
            yield Hook(tuple(words), str(each.get("user") or ""), each.get("working_dir") or "", self._stated(each))

    def _dependencies(self, name: str, tree: Map) -> tuple[Dependency, ...]:
        every = [*_dependencies(tree), *borrowed.dependency(name, tree), *borrowed.dependencies(tree)]
        return tuple({each.service: each for each in reversed(every)}.values())[::-1]

    def _environment(self, tree: Map) -> dict[str, str]:
        found: dict[str, str] = {}
        for entry in tree.get("env_file") or ():
            at = entry.values_at["path"]
            path = self._storage.path(entry["path"], at)
            written = entry.get("format")
            if written not in variables.FORMATS:
                fix = "write format: raw, or leave it out"
                _fail(f"unknown format '{written}' of the file of variables", entry.values_at["format"], fix)
            if path.is_file():
                found |= variables.read(path, self._source.variables, found, written == variables.RAW, self._budget)
            elif entry.get("required", True) is not False:
                _fail(f"no file {path}", at, "create it, or write required: false")
        return found | self._stated(tree)

    def _stated(self, tree: Map) -> dict[str, str]:
        """Return the variables that a mapping states; one without a value is the caller's, if that has it."""
        given: Mapping[str, str | None] = tree.get("environment") or {}
        outside = self._source.variables
        found = {name: value for name, value in given.items() if value is not None}
        return found | {name: outside[name] for name, value in given.items() if value is None and name in outside}

    def _ports(self, tree: Map) -> Iterator[int]:
        """Yield the TCP ports that a service states, each once. Raises ComposeError."""
        ranges = list(dict.fromkeys(self._port_ranges(tree)))
        if sum(map(len, ranges)) > MOST_PORTS:
            _fail(
                f"ranges of more than {MOST_PORTS} ports", tree.keys_at["ports" if "ports" in tree else "expose"], "write fewer"
            )
        return iter(dict.fromkeys(port for each in ranges for port in each))

    def _port_ranges(self, tree: Map) -> Iterator[range]:
        for number, each in enumerate(tree.get("ports") or ()):
            address = text(each.get("host_ip") or "")
            if address and not is_address(address):
                _fail(f"'{address[:60]}' is not an address", each.keys_at["host_ip"], "write one such as 127.0.0.1")
            stated = text(each["target"]) if "target" in each else _fail("a port lacks a target", tree["ports"].at[number], "")
            if each.get("protocol", "tcp") == "tcp":
                yield _range(stated, tree["ports"].at[number])
        for number, each in enumerate(tree.get("expose") or ()):
            yield _range(text(each), tree["expose"].at[number])

    def _networks(self, tree: Map) -> dict[str, tuple[str, ...]]:
        known = {DEFAULT, *(self._source.tree.get("networks") or ())}
        own = [str(tree["container_name"])] if tree.get("container_name") else []
        stated = tree.get("networks") or ({} if borrowed.mode(tree) else {DEFAULT: None})
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
                made = self._content(what, source, declared, target)
                yield replace(made, mode=_mode(each), uid=_number(each, "uid"), gid=_number(each, "gid"))

    def _content(self, what: str, name: str, declared: Map, target: str) -> Content:
        if "file" in declared:
            at = declared.values_at["file"]
            path = self._storage.path(declared["file"], at)
            if not path.is_file():
                _fail(f"no file {path} for the {what} '{name}'", at, "create it")
            if why := refused(Path(os.path.realpath(path)), at_own_path=False):
                _fail(f"{path} {why}", at, f"name a file with the {what}")
            return Content(target, path=str(path))
        if "content" in declared:
            return Content(target, text=str(declared["content"]))
        if "environment" in declared:
            variable, at = str(declared["environment"]), declared.values_at["environment"]
            if variable not in self._source.variables:
                _fail(f"the variable {variable} of the {what} '{name}' is not set", at, f"set it: export {variable}=...")
            return Content(target, text=self._source.variables[variable])
        return _fail(f"the {what} '{name}' has no content", declared.place, "add file: with a path")


def _fail(what: str, at: object, fix: str) -> NoReturn:
    raise ComposeError(what, str(at), fix)


def _number(tree: Map, name: str) -> int:
    value = text(tree.get(name) or 0)
    number = whole_number(value)
    if number is None:
        _fail(f"{name} is '{value}'", tree.keys_at[name], "write a number: a name is the image's own")
    return number


def _mode(tree: Map, name: str = "mode", default: int = 0o444) -> int:
    """Return a file's mode; a text is octal, as a number with a leading zero is."""
    value = tree.get(name)
    if value is None:
        return default
    if not re.fullmatch(r"0?o?[0-7]{1,4}" if isinstance(value, str) else r"\d+", str(value)) or _octal(value) > 0o7777:
        _fail(f"{name} is {value}", tree.keys_at[name], "write it like 0440")
    return _octal(value)


def _octal(value: Any) -> int:
    return int(value.removeprefix("0o"), 8) if isinstance(value, str) else int(value)


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
    if found.get("disable") is True:
        return Health(("NONE",))
    retries = text(found.get("retries", 0))
    if not retries.isdecimal():
        _fail(f"{retries} retries", found.keys_at["retries"], "write a whole number")
    times = {name: container_fields.seconds(found, name) for name in ("interval", "timeout", "start_period", "start_interval")}
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
