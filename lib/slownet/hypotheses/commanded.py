"""One command on a host of a network, measured once: `slownet why ... -- COMMAND`.

The network is a topology's, a compose project's with its services, or an experiment's with its service.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Self

from mininet.topo import Topo

from slownet.compose.project_topology import Compose
from slownet.hypotheses import project_tools, specs
from slownet.hypotheses.experiment import Experiment
from slownet.hypotheses.recorded import Recorded
from slownet.judge.measured import Metrics
from slownet.lab.host import native, owner
from slownet.model.errors import ExperimentError, ToolError, nearest
from slownet.model.options import FROM, Option
from slownet.model.sample import Metric
from slownet.model.shapes import Json
from slownet.model.units import show_duration
from slownet.net import process, tool
from slownet.tools.numbers import single

COMMAND = "command"
"""A field that only its record has, of all records of experiments."""
CLIENT = "client"
"""The host that a command runs on unless another one is named."""
LIMIT_S = 600.0
"""Seconds of the network's clock that a command may take."""
KEYS = "keys"
"""The file with the secrets of TLS that a command has left; the variable that asks for it is the one that curl, browsers,
OpenSSL's and Python's programs know."""
FIRST = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
"""Scheduling of the process that waits for a command. While a program computes on a clock that stands still, the kernel would
not take the processor from that program, and an interrupt would wait for its end."""
Find = Callable[[str], Experiment]


@dataclass(frozen=True)
class Ran(Metrics):
    """A command that has ended.

    command: the command.
    raw: its output.
    seconds: how long it ran, on the clock of the network.
    status: its exit status.
    complaint: what it printed about it, one line; empty if the status is 0.
    host: the host's name.
    files: what is kept with the run: the secrets of TLS.
    """

    command: tuple[str, ...]
    raw: str
    seconds: float
    status: int
    complaint: str
    host: str
    files: Mapping[str, bytes] = field(default_factory=dict)

    def metrics(self) -> dict[str, Metric]:
        """Return the time that it ran."""
        return {"command_ms": single(1000 * self.seconds, 1)}

    def facts(self) -> dict[str, Json]:
        """Return where it ran, and how it ended."""
        return {"host": self.host, "status": self.status, "complaint": self.complaint}


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request as it is typed. Exactly one of topology, experiment and files gives the network.

    topology: as `specs.topology` takes it; arguments: those that its file reads. experiment: a name or a file. files, profiles:
    a compose project. links: conditions as `specs.link` takes them. host: where the command runs; None for the client.
    """

    command: Sequence[str]
    topology: str | None = None
    experiment: str | None = None
    files: Sequence[Path] = ()
    profiles: Sequence[str] = ()
    host: str | None = None
    links: Sequence[str] = ()
    limit_s: float = LIMIT_S


def make(asked: Request, find: Find) -> Recorded:
    """Return the experiment of a request. find: returns an experiment by its name or file.

    Raises SlownetError for a network, host or link that does not exist.
    """
    record: dict[str, Json] = {
        COMMAND: list(asked.command), "topology": _whole(asked.topology), "experiment": _whole(asked.experiment),
        "files": [str(each.absolute()) for each in asked.files], "profiles": list(asked.profiles), "host": asked.host,
        "links": list(asked.links), "limit_s": asked.limit_s,
    }  # fmt: skip
    return of(record, find)


def of(record: Mapping[str, Json], find: Find) -> Recorded:
    """Return the experiment of a record. Raises SlownetError."""
    base = find(record["experiment"]) if record["experiment"] else None
    made = base.topology if base else Compose(*record["files"], profiles=record["profiles"]) if record["files"] else None
    topology: Any = made if made is not None else specs.topology(record["topology"])
    network = topology if isinstance(topology, Topo) else topology()
    host = _host(record["host"], network)
    links = specs.links(record["links"], network)
    command = tuple(record[COMMAND])

    def measure(net: Any, *service: Any) -> Ran:
        at = net[host] if not isinstance(topology, Compose) or host == CLIENT else _container(topology, host)
        return run(at, command, record["limit_s"])

    def prepare(net: Any, *service: Any) -> None:
        if base and base.prepare:
            base.prepare(net, *service)
        for first, second, words in links:
            named, fields = specs.fields(words)
            net.link(first, second).set(named, **fields)

    name = re.sub(r"\W+", "_", PurePath(command[0]).name).strip("_") or COMMAND
    return Recorded(
        name, f"The time of {shlex.join(command)} on {host}: where does it go?",
        measure, topology, {}, service=base.service if base else None, listed=[{}], tdf="inf", prepare=prepare,
        made_of=(measure, *(base.parts if base else ())), warm_up=0, record=record, around=_around(record),
    )  # fmt: skip


def run(host: Any, command: Sequence[str], limit_s: float = LIMIT_S) -> Ran:
    """Run a command on a host, and return how it ended, whatever its exit status is.

    Raises ToolError if it is not installed, takes too long, or is interrupted; it is ended then.
    """
    began = time.monotonic()
    log = owner.directory() / KEYS
    log.unlink(missing_ok=True)
    with _Interruptible(host) as held:
        done = tool.run(held, command, limit_s, check=False, env={"SSLKEYLOGFILE": str(log)})
    if held.interrupted:
        after = show_duration(time.monotonic() - began)
        raise ToolError(f"{command[0]} was interrupted after {after}", f"host '{host.name}'", "its output until then is kept")
    if done.status and project_tools.is_absent(done.stderr):
        raise project_tools.not_in_container(command[0], host.name, str(FROM), FROM.set(host.name), done.raw)
    files = {KEYS: log.read_bytes()} if log.is_file() else {}
    complaint = tool.why(done) if done.status else ""
    return Ran(tuple(command), done.raw, done.seconds, done.status, complaint, host.name, files)


class _Interruptible:
    """A host whose program an interrupt ends, and nothing else.

    KeyboardInterrupt would not do: the code that gets it waits for the program, on a clock that may stand still until that
    has ended.
    """

    def __init__(self, host: Any) -> None:
        self.name = host.name
        self._host = host
        self._process: Any = None
        self.interrupted = False

    def IP(self) -> str:  # noqa: N802  # Mininet's name
        """Return the host's address."""
        return str(self._host.IP())

    def popen(self, words: Sequence[str], **options: Any) -> Any:
        """Start a program on the host."""
        self._process = self._host.popen(words, **options)
        if self.interrupted:  # while it was being started
            self._end_program()
        if native.inside_lab():
            os.sched_setscheduler(0, FIRST, os.sched_param(1))
        return self._process

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._end)
        return self

    def __exit__(self, *error: object) -> None:
        signal.signal(signal.SIGINT, self._before)
        if native.inside_lab():
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))

    def _end(self, number: int, frame: object) -> None:
        self.interrupted = True
        if self._process is not None:
            self._end_program()

    def _end_program(self) -> None:
        for each in (signal.SIGINT, signal.SIGTERM):
            process.send(self._process, each)


def _container(topology: Compose, host: str) -> Any:
    assert topology.running is not None
    return topology.running[host].inside()


def _host(named: str | None, network: Any) -> str:
    """Return the host that the command runs on. Raises ExperimentError."""
    hosts = list(network.hosts())
    if isinstance(network, Compose):
        hosts = list(dict.fromkeys([*hosts, *(each.name for each in network.project.services)]))
    if named is None and CLIENT not in hosts:
        raise ExperimentError("the command has no host", Option("from"), f"name one of {', '.join(sorted(hosts))}")
    if (host := named or CLIENT) not in hosts:
        raise ExperimentError(f"no host '{host}'", Option("from"), nearest(host, hosts))
    return host


def _whole(name: str | None) -> str | None:
    """Return a name, or a file with its whole path, as another working directory may be that of the lab."""
    if name is None or name.endswith(".toml"):
        return str(Path(name).absolute()) if name else None
    path, python, rest = name.partition(".py")
    return f"{Path(f'{path}.py').absolute()}{rest}" if python else name


def _around(record: Mapping[str, Json]) -> Path:
    """Return the file that states the network; for a network without one, a file of the working directory."""
    stated = record["topology"] or record["experiment"] or ""
    path, python, _ = str(stated).partition(".py")
    if python or path.endswith(".toml"):
        return Path(f"{path}{python}")
    return Path.cwd() / COMMAND
