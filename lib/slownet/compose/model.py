"""A compose project as a lab needs it: services in the order of their start, with absolute paths and no variables left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from slownet.links.faults import NONE, Faults
from slownet.model.shapes import Json

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
    subpath: str = ""
    """A folder in a volume, which is mounted in its place."""
    copies: bool = True
    """True if an empty volume begins with what the image has at the target."""
    options: tuple[str, ...] = ()
    """Of a tmpfs: mount options such as ``size=64m``."""


@dataclass(frozen=True)
class Hook:
    """A command that runs in a service's container after its start or before its end; empty texts are the service's own."""

    command: tuple[str, ...]
    user: str = ""
    working_dir: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Content:
    """A config or secret: a file in the container, with the content of a host's file or a text."""

    target: str
    path: str = ""
    text: str | None = None
    mode: int = 0o444
    uid: int = 0
    gid: int = 0


@dataclass(frozen=True)
class Health:
    """A healthcheck; times in seconds. test: empty for that of the image, ("NONE",) for none; None: not given."""

    test: tuple[str, ...] = ()
    interval: float | None = None
    timeout: float | None = None
    retries: int | None = None
    start_period: float | None = None
    start_interval: float | None = None


@dataclass(frozen=True)
class Dependency:
    """A dependency of a service; `at` is its place in the file."""

    service: str
    condition: str = STARTED
    at: str = ""
    required: bool = True


@dataclass(frozen=True)
class Interface:
    """An interface of a service, in a network; mac: empty if the files do not give it."""

    network: str
    name: str
    mac: str = ""


@dataclass(frozen=True)
class Service:
    """One service: a container on a host of its name."""

    name: str
    image: str
    at: str = ""
    """Its place in the files."""
    container: Mapping[str, Json] = field(default_factory=dict)
    """Arguments of its container, as `slownet.compose.container_fields` reads them."""
    environment: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[int, ...] = ()
    """Its TCP ports in the files."""
    depends_on: tuple[Dependency, ...] = ()
    health: Health | None = None
    volumes: tuple[Volume, ...] = ()
    contents: tuple[Content, ...] = ()
    networks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Its networks, each with the further names that it has there."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Aliases under which this service knows others (compose ``links``)."""
    extra_hosts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    condition: Mapping[str, str] = field(default_factory=dict)
    """The condition of its host's link: fields as for `Condition.parse`, and "condition" for a named one to start from."""
    build: str = ""
    """The build of the image, if the file describes one: the command's arguments."""
    dockerfile: str = ""
    """The text that the command reads from its standard input, if the file has it inline."""
    replica_of: str = ""
    """The service's name in the files, if there are several: its own is then that with a number, ``web-1``."""
    addresses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Its addresses with prefix, such as ``172.28.0.10/16``, in each network that has a subnet; IPv4 first."""
    interfaces: tuple[Interface, ...] = ()
    """One for each network, in the order of `slownet.compose.services`: the first is its host's cable."""
    mtu: int | None = None
    post_start: tuple[Hook, ...] = ()
    pre_stop: tuple[Hook, ...] = ()
    shares: str = ""
    """The host whose network it has in place of one of its own: another service's, or the client."""

    @property
    def host(self) -> str:
        """The name of the host that it runs on."""
        return self.shares or self.name

    @property
    def origin(self) -> str:
        """Its name in the files."""
        return self.replica_of or self.name


@dataclass(frozen=True)
class Hosts:
    """Settings of networks for all hosts of a project."""

    own: str = "10.0.0.0/24"
    """The network of hosts without a subnet of their own; the client has its first address."""
    client: tuple[str, ...] = ()
    """Further addresses of the client, with prefix."""
    subnets: tuple[str, ...] = ()
    client_mtu: int | None = None


@dataclass(frozen=True)
class Step:
    """A fault, as text with its time, such as ``kill db at 5 s``; `at` is its place in the files."""

    words: str
    at: str = ""


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
    network: Hosts = field(default_factory=Hosts)
    steps: tuple[Step, ...] = ()
    """The faults, in the order of their times."""

    def __getitem__(self, name: str) -> Service:
        return next(each for each in self.services if each.name == name)

    def replicas(self, name: str) -> tuple[Service, ...]:
        """Return the services of a name in the files: one, or its replicas."""
        return tuple(each for each in self.services if each.origin == name)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names of its hosts, the client's first."""
        return (CLIENT, *(each.name for each in self.services if not each.shares))

    @property
    def faults(self) -> Faults:
        """The faults; without steps if the files have none."""
        return Faults.parse("; ".join(each.words for each in self.steps) or NONE)

    @property
    def conditions(self) -> dict[str, Mapping[str, str]]:
        """The conditions that links have from the start, by host; those without one are left out."""
        found = {CLIENT: self.client, **{each.name: each.condition for each in self.services}}
        return {name: each for name, each in found.items() if each}

    def to_json(self) -> dict[str, object]:
        """Return it for `of_json`."""
        return asdict(self)


Record = Mapping[str, Json]
"""A project, or a part of one, as `Project.to_json` returned it."""


def of_json(record: Record) -> Project:
    """Return the project of a record."""
    made: Project = _made(Project, record)
    return made


def _made(kind: Any, value: Json) -> Any:
    """Return what `asdict` and JSON made of a value, as the type that its field has."""
    if value is None or kind is Json:
        return value
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind, include_extras=True)
        return kind(**{name: _made(hints[name], each) for name, each in value.items()})
    arguments = get_args(kind)
    if get_origin(kind) is UnionType:  # with None
        return _made(arguments[0], value)
    if get_origin(kind) is tuple:
        return tuple(_made(arguments[0], each) for each in value)
    if get_origin(kind) is Mapping:
        return {name: _made(arguments[1], each) for name, each in value.items()}
    return value
