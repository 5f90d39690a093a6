"""Runs a project's services in a network: one container on each host, started in the order of depends_on."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from slownet.compose import handover, project_images
from slownet.compose.model import COMPLETED, HEALTHY, Content, Health, Hook, Project, Service, Volume
from slownet.compose.project_images import Ready
from slownet.containers import runtime
from slownet.containers.container import Container
from slownet.containers.healthcheck import Healthy, healthy
from slownet.containers.oci_bundle import Mount
from slownet.lab.host import owner
from slownet.links.faults import Faults
from slownet.model.errors import ExperimentError, ServiceError, SlownetError, nearest
from slownet.net.process import Host, wait_until

if TYPE_CHECKING:
    from slownet.net.fault_injection import PlayingFaults
    from slownet.net.network import Network

SURVIVES_S = 0.1
"""The time that a service without ports or a health check must run: one that cannot start has ended by then."""
HOOK_S = 60.0
"""The seconds that a command after the start or before the end may take."""
COMPLETES_S = 600.0
"""The seconds that a service may take that others wait for."""


class Hosted(Container):
    """One service of a project: a container that is ready when the compose file's condition holds.

    It is ready when its health check passes; without one, when one of its ports accepts a connection; without ports, when it
    has run for a tenth of a second or has ended without an error.
    """

    _may_end = True

    def __init__(self, host: Host, service: Service, says: Ready, mounts: list[Mount], directory: Path) -> None:
        super().__init__(
            host, service.image, env=service.environment, mounts=mounts, directory=directory,
            ready=_condition(service.health, says), name=service.name, **service.container,
        )  # fmt: skip
        self.service = service
        self.ports = says.ports
        self._checked = says.checked
        self._before_end = service.pre_stop
        self._is_ready = False

    @property
    def label(self) -> str:
        """The service's name, the prefix of its files' names."""
        return self.name

    @property
    def url(self) -> str:
        """The address of its front page, with the host's number. Raises ServiceError without a port."""
        if self.port is None and self.ports:  # a health check says that it is ready, so no port was tried
            self.port = next(filter(self._accepts, self.ports), self.ports[0])
        if self.port is None:
            fix = f"write expose: with it in the compose file, or take the address: {self.host.IP()}"
            raise ServiceError(f"{self.name} exposes no port", f"host '{self.host.name}'", fix)
        return super().url

    def answers(self) -> bool:
        """Return whether it is ready, from one attempt."""
        if self._ended_well():
            return True
        if self._checked:
            return super().answers()
        if self.ports:
            self.port = next(filter(self._accepts, self.ports), None)
            return self.port is not None
        return time.monotonic() - self._begun > SURVIVES_S

    def _waits_for(self) -> tuple[str, str]:
        if self._checked or not self.ports:
            return "", ""
        one = f"port {self.ports[0]}" if len(self.ports) == 1 else f"any of the ports {', '.join(map(str, self.ports))}"
        of = "" if self.service.ports else ", of its image"
        return f" on {one}{of},", "state a healthcheck, or below expose: the port that it listens on; "

    def _accepts(self, port: int) -> bool:
        with suppress(OSError):
            self.connect(port).close()
            return True
        return False

    def _ended_well(self) -> bool:
        return self._process is not None and self._process.poll() == 0

    def wait(self) -> None:
        """Wait until it is ready; returns at once if it was before."""
        if not self._is_ready:
            super().wait()
            self._is_ready = True

    def again(self) -> None:
        """Do what is needed before its program starts again; it is ready anew then."""
        super().again()
        self._is_ready = False

    def inside(self) -> Inside:
        """Return its container as a host for tools."""
        return Inside(self)

    def started(self) -> None:
        """Wait until its program has run for a tenth of a second: an engine takes longer to start the next container."""
        wait_until(lambda: self._has_begun() or not self.running, self.deadline_s)
        wait_until(lambda: not self.running, SURVIVES_S)

    def begun(self) -> None:
        """Run the file's `post_start` commands. Raises ServiceError."""
        if self.service.post_start:
            wait_until(lambda: self._has_begun() or not self.running, self.deadline_s)
        for hook in self.service.post_start:
            self._hook("post_start", hook)

    def stop(self) -> None:
        """End it, after the file's `pre_stop` commands, whose errors are not the network's."""
        hooks, self._before_end = self._before_end, ()
        for hook in hooks if self.running else ():
            with suppress(SlownetError):
                self._hook("pre_stop", hook)
        super().stop()

    def _has_begun(self) -> bool:
        first = self._first()
        return first is not None and runtime.has_begun(first)

    def _hook(self, what: str, hook: Hook) -> None:
        where = f"host '{self.host.name}'"
        if not self.running:
            raise self.error(f"{self.name} ended before its {what}")
        process = self.execute(hook.command, user=hook.user, cwd=hook.working_dir, env=hook.environment)
        try:
            output, errors = process.communicate(timeout=HOOK_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise ServiceError(f"{what} of {self.name} has not ended after {HOOK_S:g} s", where, "see its command") from None
        if process.returncode:
            said = (output + errors).decode(errors="replace")
            raise ServiceError(f"{what} of {self.name} ended with status {process.returncode}", where, "see its command", said)

    def complete(self) -> None:
        """Wait until it has ended without an error. Raises ServiceError."""
        process = self._process
        assert process
        try:
            process.wait(COMPLETES_S)
        except subprocess.TimeoutExpired:
            raise self.error(f"{self.name} has not ended after {COMPLETES_S:g} s, and others wait for that") from None
        self._finish_log()
        if process.returncode:
            raise self.error(f"{self.name} ended with status {process.returncode}, and others wait for its success")


class Inside:
    """A service's container as a host that tools run on: the programs are the image's, as the service's user."""

    def __init__(self, service: Hosted) -> None:
        self._service = service
        self.name = service.name

    def IP(self) -> str:  # noqa: N802  # Mininet's name
        """Return the service's address."""
        return self._service.host.IP()

    def popen(self, words: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
        """Start a program in the container, with pipes for its output. Raises ServiceError if the container has ended."""
        return self._service.execute(words)


def _condition(health: Health | None, says: Ready) -> Healthy | None:
    if not says.checked:
        return None
    if health is None:
        return healthy()
    return healthy(
        health.test or None, interval=health.interval, timeout=health.timeout, retries=health.retries,
        start_period=health.start_period, start_interval=health.start_interval,
    )  # fmt: skip


class Running:
    """The services of a project on a network's hosts; a ``with`` statement starts and stops them.

    ``compose["web"]`` is a service: a `Container` with ``url``, ``log`` and ``execute``.
    """

    def __init__(self, project: Project, net: Network, directory: Path | None, files: Path) -> None:
        """directory: for the logs. files: where the project's files are in this place."""
        self.project = project
        self._net, self._files = net, files
        self._directory = directory or owner.directory() / "logs"
        self._says: Mapping[str, Ready] = {}
        self._started: dict[str, Hosted] = {}
        self._copies: dict[str, Path] = {}
        self._stack = ExitStack()

    def __getitem__(self, name: str) -> Hosted:
        """Return a service. Raises ExperimentError with the nearest name."""
        if not isinstance(name, str):
            what = f"compose[...] takes the name of a service, and got a {type(name).__name__}"
            raise ExperimentError(what, fix='write compose["web"]')
        replicas = [each.name for each in self.project.replicas(name) if each.name != name]
        if replicas:
            raise ExperimentError(f"{name} has {len(replicas)} replicas", fix=f"name one: {', '.join(replicas)}")
        if name not in self._started:
            raise ExperimentError(f"no service '{name}' in {self.project.name}", fix=nearest(name, self._started))
        return self._started[name]

    def __iter__(self) -> Iterator[Hosted]:
        return iter(self._started.values())

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """True if every service runs that has not ended by itself without an error."""
        return bool(self._started) and all(each.running or each._ended_well() for each in self)

    def start(self) -> Self:
        """Start all services and wait until each is ready. Raises SlownetError; nothing is left running then."""
        self._says = project_images.need(self.project)
        try:
            for service in self.project.services:
                self._reach(service)
                hosted = Hosted(
                    self._net[service.host], service, self._says[service.name], list(self._mounts(service)), self._directory
                )  # fmt: skip
                self._stack.callback(hosted.stop)
                hosted.launch()
                self._started[service.name] = hosted
                hosted.begun()
            for hosted in self:
                hosted.wait()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop the services, the last one first. Fine to call twice."""
        self._stack.close()
        self._started.clear()
        self._copies.clear()

    def faults(self, steps: Faults | Mapping[str, str | Sequence[str]] | str | None = None) -> PlayingFaults:
        """Break and repair things while a ``with`` block lasts: see `Network.faults`.

        steps: what breaks; what the files state in ``x-slownet``, unless given.
        returns: a context manager.
        Raises UnitError, ConditionError: the steps are wrong.
        """
        chosen = self.project.faults if steps is None else steps
        chosen = chosen if isinstance(chosen, Faults) else Faults.parse(chosen)
        return self._net.faults(chosen, *(each for each in self if each.running or each.name in chosen.services))

    def restore(self) -> None:
        """Start again what has been killed, and wait until it is ready. Raises ServiceError."""
        dead = [each for each in self if not each.running and not each._ended_well()]
        for each in dead:
            each.revive()
        for each in dead:
            each.wait()

    def facts(self) -> dict[str, object]:
        """Return what a run records of it: each service's image."""
        return {"project": self.project.name, "images": {name: each.digest for name, each in self._says.items()}}

    def _reach(self, service: Service) -> None:
        """Wait for what a service depends on."""
        for each in service.depends_on:
            for other in self.project.replicas(each.service):
                if each.condition == COMPLETED:
                    self._started[other.name].complete()
                elif each.condition == HEALTHY:
                    self._started[other.name].wait()
                else:
                    self._started[other.name].started()

    def _mounts(self, service: Service) -> Iterator[Mount]:
        for volume in service.volumes:
            source: Path | str = volume.source
            if volume.kind == "bind":
                source = handover.place_of(volume.source, self._files)
                source = source if self._only_read(volume.source) else self._copied(service, volume, source)
            elif volume.kind == "volume" and volume.source:
                source = f"{self.project.name}_{volume.source}"
            yield Mount(
                source, volume.target, volume.kind, volume.read_only, volume.subpath, volume.copies, tuple(volume.options)
            )  # fmt: skip
        for number, each in enumerate(service.contents):
            yield Mount(self._owned(service, number, each), each.target, "bind", read_only=True)

    def _owned(self, service: Service, number: int, content: Content) -> Path:
        """Return a copy of a config or secret with the owner and mode that the service states."""
        folder = owner.directory() / "contents"
        folder.mkdir(mode=0o700, exist_ok=True)
        target = folder / f"{service.name}-{number}"
        shutil.copyfile(handover.content(content, self._files), target)
        os.chown(target, content.uid, content.gid)
        target.chmod(content.mode)
        self._stack.callback(target.unlink)
        return target

    def _only_read(self, source: str) -> bool:
        """Return whether no service writes to a bind."""
        every = (each for service in self.project.services for each in service.volumes)
        return all(each.read_only for each in every if (each.kind, each.source) == ("bind", source))

    def _copied(self, service: Service, volume: Volume, source: Path) -> Path:
        """Return a copy in memory, which containers may write to and share: the host's files stay as they are."""
        if volume.source in self._copies:
            return self._copies[volume.source]
        parent = owner.directory() / "binds"
        target = parent / f"{service.name}{volume.target.replace('/', '-')}"
        parent.mkdir(exist_ok=True)
        self._copies[volume.source] = target
        try:
            if source.is_dir():
                shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
            else:
                shutil.copy2(source, target)
        except (OSError, shutil.Error) as error:
            raise ServiceError(
                f"{volume.source} cannot be copied: {error}", service.at, "mount it read-only, with :ro"
            ) from error
        self._stack.callback(shutil.rmtree if target.is_dir() else Path.unlink, target)
        return target
