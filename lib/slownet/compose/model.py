"""A compose project as a lab needs it: services in the order of their start, with absolute paths and no variables left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

CLIENT, SWITCH = "client", "switch"
"""The host that measures, and what connects all hosts."""
STARTED, HEALTHY, COMPLETED = "service_started", "service_healthy", "service_completed_successfully"


@dataclass(frozen=True)
class Volume:
    """Something mounted in a container.

    kind: "bind" (source: a path of the host), "volume" (source: its name, empty for one of the service's own) or "tmpfs".
    """

    kind: str
    target: str
    source: str = ""
    read_only: bool = False


@dataclass(frozen=True)
class Content:
    """A config or secret: a file in the container, with the content of a host's file or a text."""

    target: str
    path: str = ""
    text: str | None = None
    mode: int = 0o444


@dataclass(frozen=True)
class Health:
    """A healthcheck; times in seconds. test: empty for that of the image, ("NONE",) for none; None: the file does not say."""

    test: tuple[str, ...] = ()
    interval: float | None = None
    timeout: float | None = None
    retries: int | None = None
    start_period: float | None = None
    start_interval: float | None = None


@dataclass(frozen=True)
class Dependency:
    """What a service waits for; `at` is where the file says so."""

    service: str
    condition: str = STARTED
    at: str = ""
    required: bool = True


@dataclass(frozen=True)
class Service:
    """One service: a container on a host of its name."""

    name: str
    image: str
    at: str = ""
    """Where in the files it is."""
    command: tuple[str, ...] | None = None
    entrypoint: tuple[str, ...] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[int, ...] = ()
    """The TCP ports that it states."""
    depends_on: tuple[Dependency, ...] = ()
    health: Health | None = None
    volumes: tuple[Volume, ...] = ()
    contents: tuple[Content, ...] = ()
    networks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Its networks, each with the further names that it has there."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Names of its own for other services."""
    hostname: str = ""
    user: str = ""
    working_dir: str = ""
    read_only: bool = False
    """Whether it may write to its volumes alone."""
    init: bool = False
    """Whether an init is its first process."""
    stop_signal: str = ""
    stop_s: float = 10.0
    extra_hosts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    condition: Mapping[str, str] = field(default_factory=dict)
    """The condition of its host's link: fields as for `Condition.parse`, and "condition" for a named one to start from."""
    build: str = ""
    """How to build the image, if the file says how: the command's arguments."""


@dataclass(frozen=True)
class Project:
    """A compose project."""

    name: str
    files: tuple[str, ...]
    services: tuple[Service, ...]
    """In the order of their start."""
    client: Mapping[str, str] = field(default_factory=dict)
    """The condition of the client's link."""
    warnings: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Service:
        return next(each for each in self.services if each.name == name)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names of its hosts, the client's first."""
        return (CLIENT, *(each.name for each in self.services))

    @property
    def conditions(self) -> dict[str, Mapping[str, str]]:
        """The conditions that links have from the start, by host; those without one are left out."""
        found = {CLIENT: self.client, **{each.name: each.condition for each in self.services}}
        return {name: each for name, each in found.items() if each}

    def to_json(self) -> dict[str, Any]:
        """Return it for `of_json`."""
        return asdict(self)


def of_json(record: Mapping[str, Any]) -> Project:
    """Return the project of a record."""
    services = tuple(_service(each) for each in record["services"])
    return Project(record["name"], tuple(record["files"]), services, record["client"], tuple(record["warnings"]))


def _service(record: Mapping[str, Any]) -> Service:
    lists = ("command", "entrypoint")
    parts: dict[str, Any] = {
        "depends_on": tuple(Dependency(**each) for each in record["depends_on"]),
        "volumes": tuple(Volume(**each) for each in record["volumes"]),
        "contents": tuple(Content(**each) for each in record["contents"]),
        "ports": tuple(record["ports"]),
        "health": Health(**record["health"] | {"test": tuple(record["health"]["test"])}) if record["health"] else None,
        **{name: tuple(record[name]) if record[name] is not None else None for name in lists},
        **{name: {key: tuple(each) for key, each in record[name].items()} for name in ("networks", "extra_hosts")},
    }
    return Service(**{**record, **parts})
