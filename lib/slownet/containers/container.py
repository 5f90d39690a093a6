"""A container as a server: an image that was added with `slownet lab image add`, started by crun in its host's network."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

from slownet.containers import oci_bundle, privileges, root, runtime, store
from slownet.containers.assembly import FILES, PROGRAM, Plan
from slownet.containers.config import Healthcheck
from slownet.containers.healthcheck import Healthy, Probe
from slownet.containers.oci_bundle import VOLUME, Description, Mount, Overrides
from slownet.containers.privileges import CAPABILITIES, SYSCTLS
from slownet.containers.root import WRITTEN, read
from slownet.lab.host import owner
from slownet.model.errors import ServiceError
from slownet.model.shapes import Json
from slownet.net import further_interfaces
from slownet.net.namespace import Namespace, inside, write_sysctls
from slownet.net.process import POLL_S, Host, end, environment, wait_until
from slownet.services import arguments, snapshot
from slownet.services.readiness import Awaited
from slownet.services.snapshot import Data

# Programs in a container: a further one's description for crun and its start, and what they write.

BATCH_S = 0.02
"""The time for which its output is collected before it is written: a wakeup for each line would disturb the measurement."""
CHUNK = 1 << 16


def arguments_of(text: Sequence[str] | str | None) -> tuple[str, ...] | None:
    """Return a command as words; a text is split like a shell's command line."""
    if text is None:
        return None
    return tuple(shlex.split(text)) if isinstance(text, str) else tuple(map(str, text))


def described(main: Description, words: Sequence[str], cwd: str, env: Mapping[str, str]) -> dict[str, Json]:
    """Return a program like a container's main one, with its own words, directory (if any) and further variables."""
    whole = {**_variables(main), **env}
    return {**main, "args": list(words), "cwd": cwd or main["cwd"], "env": _lines(whole)}


def as_user(program: Description, user: str, first: int | None, has_home: bool, where: str) -> dict[str, Json]:
    """Return a program as another user of a container, whose home is HOME. Raises ImageError.

    first: the container's first process. has_home: whether the image or the service states another HOME.
    """
    root = os.open(f"/proc/{first}/root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        found = privileges.resolve(user, read(root, privileges.PASSWD), read(root, privileges.GROUP), where)
    finally:
        os.close(root)
    own = oci_bundle.process((), {}, "/", found, capabilities=program["capabilities"]["bounding"])
    env = _variables(program) | ({} if has_home else {"HOME": found.home})
    return {**program, **{name: own[name] for name in ("user", "capabilities")}, "env": _lines(env)}


def start_program(host: Host, argv: Sequence[str], output: Path | None, attached: bool, reads: bool) -> subprocess.Popen[bytes]:
    """Start crun's command line. attached: with this program's output; reads: and its input. Else pipes, or a file."""
    # Not in the host's mount namespace: crun looks at the machine's cgroups, which are not in the host's own /sys.
    options: dict[str, Any] = {"stdin": subprocess.DEVNULL, "env": environment(), "mounts": lambda: None}
    if attached:
        own = {"stdout": None, "stderr": None, "start_new_session": False} | ({"stdin": None} if reads else {})
        return host.popen(list(argv), **options | own)
    if output is None:
        return host.popen(list(argv), **options)
    with output.open("wb") as file:
        return host.popen(list(argv), stdout=file, stderr=file, **options)


def _variables(program: Description) -> dict[str, str]:
    return dict(each.split("=", 1) for each in program["env"])


def _lines(env: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in env.items()]


def copy_output(source: int, target: int) -> None:
    """Copy what the container writes to the log: a pipe, as Docker's, which programs of any user can open as /dev/stdout."""
    with open(source, "rb", buffering=0) as reading, open(target, "ab", buffering=0) as log:
        while data := reading.read(CHUNK):
            log.write(data)
            if len(data) < CHUNK:
                time.sleep(BATCH_S)


HOSTS, HOSTNAME, RESOLVER = "/etc/hosts", "/etc/hostname", "/etc/resolv.conf"
KILLED_S = 10.0
SIGNALLED = 128  # crun's exit status for a program that a signal has ended, as a shell's

_logs: set[Path] = set()
"""The logs of this process's containers that run."""


class Container(Awaited):
    """A container that a host runs as a server.

    It starts with the image's entrypoint, command, environment, user, working directory, stop signal and volumes. It has its
    host's network and mount, PID, IPC and UTS namespaces of its own; its files are in memory and gone when it has stopped.

    Parameters
    ----------
    host : Host
        Where it runs.
    image : str
        A name or digest of ``slownet lab image list``.
    command : sequence of str or str, optional
        In place of the image's command, which follows the entrypoint; a string is split like a shell's command line.
    entrypoint : sequence of str or str, optional
        In place of the image's entrypoint and command.
    env : mapping of str to str, optional
        Environment variables in addition to the image's.
    user : str, optional
        ``user``, ``uid``, ``user:group`` or ``uid:gid``, by the image's own files.
    cwd : str, optional
        Its working directory, made if the image lacks it.
    hostname : str, optional
        Its own name: its host's, unless given.
    mounts : sequence of Mount
        What else it sees: folders and files of the lab, volumes, memory.
    read_only : bool
        Whether it may write to its mounts alone.
    init : bool
        Whether a small init (tini) is the first process, passes signals on to the program, and reaps what it leaves behind.
    directory : path, optional
        Where its log ``<name>-<host>.log`` is written; as in `Command`.
    port : int, optional
        The TCP port it listens on; it is ready when this port accepts a connection from its own host.
    ready : str, or function of this object returning bool, or Healthy, optional
        Another condition: a text in its log, ``http("/health")``, or a health check, ``healthy(["CMD", "pg_isready"])``.
    name : str, optional
        The first part of the log's name: the image's name, unless given.
    timeout : float
        Seconds until it must be ready.
    limits : mapping of str to (int, int) or int
        Soft and hard resource limits by name, such as ``{"nofile": (1024, 4096)}``; -1 means no limit, one number is both.
    groups, capabilities : sequence of str, optional
        Further groups of its user; what it may do in place of Docker's defaults: ``["CAP_NET_ADMIN"]``.
    sysctls : mapping of str to str, optional
        Settings of its host's network (``net.core.somaxconn``) and of its IPC namespace.
    stop_signal : str, optional
        The signal that ends it, such as ``"SIGQUIT"``, in place of the image's.
    stop_s : float
        Seconds after which it gets SIGKILL. A program that does not handle the signal gets it at once: as the first process of
        its PID namespace, it cannot be ended by another signal.

    Raises
    ------
    ServiceError, ImageError
        When it is started: it is not an image that is kept, the configuration names something that the image lacks, or it ends
        or does not answer within ``timeout``. Nothing is left running or mounted.

    Examples
    --------
    ::

        with Container(net["web"], "shop:1", env={"DB": "db"}, port=8000, ready=http("/health")) as shop:
            ab(net["client"], shop.url)
    """

    needs = "containers"
    """Labs on the exact clock have none."""

    def __init__(
        self, host: Host, image: str, *, command: Sequence[str] | str | None = None,
        entrypoint: Sequence[str] | str | None = None, env: Mapping[str, str] | None = None, user: str | int | None = None,
        cwd: str | Path | None = None, hostname: str | None = None, mounts: Sequence[Mount] = (),
        read_only: bool = False, init: bool = False, directory: str | Path | None = None, port: int | None = None,
        ready: str | Callable[[Container], bool] | Healthy | None = None, name: str = "", timeout: float = 60.0,
        stop_signal: str | None = None, stop_s: float = 10.0, limits: Mapping[str, tuple[int, int] | int] | None = None,
        groups: Sequence[str] = (), capabilities: Sequence[str] | None = None, sysctls: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(image, str):
            what = f"the image is {image!r}" if image is None else f"the image is of type {type(image).__name__}"
            raise ServiceError(what, "Container", "give a name that slownet lab image list shows")
        name = name or image.removeprefix("sha256:").rpartition("/")[2].partition("@")[0].partition(":")[0]
        condition = None if isinstance(ready, Healthy) else ready
        super().__init__(host, directory, name=name, port=port, ready=condition, timeout=timeout)
        self.image = image
        words = arguments_of
        self.replaced = Overrides(
            words(command), words(entrypoint), arguments.mapping(env, "Container", "env", 'env={"DB": "db"}'),
            str(user) if user is not None else None, str(cwd) if cwd is not None else None, _limits(limits),
            arguments.words(groups, "Container", "groups", 'groups=["audio"]'),
            arguments.words(
                CAPABILITIES if capabilities is None else capabilities, "Container", "capabilities",
                'capabilities=["CAP_NET_ADMIN"]',
            ),
        )  # fmt: skip
        self.hostname = hostname or host.name
        self.mounts = _mounts(mounts)
        self.read_only = read_only
        self.init = init
        self.sysctls = dict(sysctls or {})
        self.stop_signal = stop_signal
        self.stop_s = arguments.seconds(stop_s, "Container", "stop_s")
        self._health = ready if isinstance(ready, Healthy) else None
        self._check: Healthcheck | None = None
        self._probe: Probe | None = None
        self._crun = ""
        self._plan: Plan | None = None
        self._main: Description = {}
        self._signal_number = int(signal.SIGTERM)
        self._copying: threading.Thread | None = None
        self._taken: Path | None = None
        self._ours = self._runs = False
        self._written: Written | None = None

    # ---- start ----

    def prepare(self) -> None:
        """Find the image and what the container needs. Raises SlownetError."""
        self._crun = runtime.program(environment()["PATH"])
        plan = self._plan = self._planned()
        plan.check()
        config = plan.image.config
        self._signal_number = runtime.number(self.stop_signal or config.stop_signal, plan.where)
        check = self._health.of(config.healthcheck, plan.where) if self._health else None
        if self.log in _logs:
            raise ServiceError(
                f"another container is named {self.name} and writes {self.log}", f"host '{self.host.name}'",
                'give one of them another name: Container(..., name="...")',
            )  # fmt: skip
        super().prepare()
        self._written = Written(self._data, plan) if self._data else None
        _logs.add(self.log)
        self._ours, self._runs = True, False
        self._check = check
        self._probe = self._probed()

    def _probed(self) -> Probe | None:
        return Probe(self._check, self._begin, self.state, self._unhealthy) if self._check else None

    def _planned(self) -> Plan:
        shown, written, volumes = {}, {HOSTNAME: f"{self.hostname}\n"}, owner.directory() / "volumes"
        space = getattr(self.host, "namespace", None)
        if isinstance(space, Namespace):
            shown = dict(space.files)
            volumes = (space.folder or owner.directory()) / "volumes"
        hosts = shown.get(HOSTS, Path(HOSTS))
        if self.hostname != self.host.name or HOSTS not in shown:  # a file of its own, which nobody writes anew
            shown.pop(HOSTS, None)
            written[HOSTS] = (hosts.read_text() if hosts.exists() else "") + f"{self.host.IP()}\t{self.hostname}\n"
        if RESOLVER not in shown:
            written[RESOLVER] = "# no name server\n"
        return Plan(
            store.need(self.image), self.replaced, self.hostname, self.state, volumes, self.mounts, shown, written,
            {owner.VARIABLE: owner.this().mark}, self.read_only, self.sysctls,
            runtime.init(environment()["PATH"]) if self.init else "",
        )  # fmt: skip

    def command(self) -> Sequence[str]:
        """Return crun's command line."""
        return runtime.run(self.state / FILES / PROGRAM, self.state)

    def _popen(self, log: IO[bytes]) -> subprocess.Popen[bytes]:
        assert self._plan
        plan, (reading, writing) = self._plan, os.pipe()
        self._copying = threading.Thread(target=copy_output, args=(reading, os.dup(log.fileno())), daemon=True)
        self._copying.start()
        try:
            if getattr(self.host, "inNamespace", True):
                with inside(self.host):
                    write_sysctls(SYSCTLS | oci_bundle.of_network(self.sysctls))
                further_interfaces.name_as_a_container(self.host)
            device = root.take(plan.image.squashfs)
            self._taken = plan.image.squashfs
            return self.host.popen(
                list(self.command()), stdin=subprocess.DEVNULL, stdout=writing, stderr=writing,
                env=environment(), mounts=lambda: self._assemble(plan, device),
            )  # fmt: skip
        finally:
            os.close(writing)

    def _assemble(self, plan: Plan, device: str) -> None:
        self._main = plan.assemble(device, self._crun, self._data)

    # ---- while it runs ----

    def answers(self) -> bool:
        """Return whether it is ready, from one attempt."""
        return self._probe.passes() if self._probe else super().answers()

    def _pause_s(self, waited_s: float) -> float:
        # A health check begins when it is due: its interval says how often the server is asked.
        return POLL_S if self._probe else super()._pause_s(waited_s)

    def _answers(self) -> bool:
        """Not before its program has begun, whatever the condition: until then crun makes the container."""
        if not self._runs:
            first = self._first()
            self._runs = (first is not None and runtime.has_begun(first)) or not self.running
            self._begun = time.monotonic()
        return self._runs and super()._answers()

    def wait(self) -> None:
        """Wait until the launched container is ready. Raises as `start` does."""
        limit = self.deadline_s
        self.deadline_s = float("inf") if self._probe else limit  # a health check has limits of its own
        try:
            super().wait()
        finally:
            self.deadline_s = limit

    def execute(
        self, words: Sequence[str] | str, output: Path | None = None, *, user: str = "", cwd: str = "",
        env: Mapping[str, str] | None = None, attached: bool = False, reads: bool = False,
    ) -> subprocess.Popen[bytes]:  # fmt: skip
        """Start another program in the running container, as its user and with its environment.

        Parameters
        ----------
        words : sequence of str or str
            The program and its arguments.
        output : path, optional
            A file for its output; without it the process has a pipe for standard output and one for errors.
        user, cwd : str, optional
            Another user, by the container's own files, and another working directory.
        env : mapping of str to str, optional
            Environment variables in addition to the container's.
        attached : bool
            Whether it has this program's standard output and errors.
        reads : bool
            Whether it then has the standard input, too.

        Returns
        -------
        subprocess.Popen
            It ends with the program's exit status.

        Raises
        ------
        ServiceError, ImageError
            The container does not run, or has no such user.
        """
        self._started()
        assert self._plan
        own = {**self._plan.image.config.env, **self.replaced.env}
        main = described(self._main, arguments_of(words) or (), cwd, env or {})
        if user:
            main = as_user(main, user, self._first(), "HOME" in own, f"host '{self.host.name}'")
        return self._start(main, output, (attached, reads))

    def in_terminal(self, words: Sequence[str], env: Mapping[str, str]) -> list[str]:
        """Return the command line of a program in the running container, with the terminal of the process that runs it.

        Parameters
        ----------
        words : sequence of str
            The program and its arguments.
        env : mapping of str to str
            Environment variables in addition to the container's.

        Returns
        -------
        list of str
            To be run on the container's host.

        Raises
        ------
        ServiceError
            The container does not run.
        """
        self._started()
        description = self.state / "in-terminal.json"
        description.write_text(json.dumps({**described(self._main, words, "", env), "terminal": True}))
        return runtime.execute(self._crun, self.state, description)

    def complaint(self) -> str:
        """Return crun's last complaint about this container; empty if it had none."""
        return runtime.complaint(self.state)

    def _begin(self, words: Sequence[str], output: Path | None) -> subprocess.Popen[bytes]:
        return self._start({**self._main, "args": list(words)}, output)

    def _start(
        self, main: Description, output: Path | None, attached: tuple[bool, bool] = (False, False)
    ) -> subprocess.Popen[bytes]:
        description = self.state / "process.json"
        description.write_text(json.dumps(main))
        argv = runtime.execute(self._crun, self.state, description)
        return start_program(self.host, argv, output, *attached)

    def _unhealthy(self, what: str, output: str) -> ServiceError:
        return ServiceError(f"{self.name} is unhealthy: {what}", f"host '{self.host.name}'", f"its log is {self.log}", output)

    # ---- the end ----

    def _why_it_ended(self, status: int) -> ServiceError:
        self._finish_log()
        complaint = runtime.complaint(self.state)
        if complaint:
            return ServiceError(f"crun cannot start {self.name}: {complaint}", f"host '{self.host.name}'")
        how = f"status {status}"
        with suppress(ValueError):
            how += f" ({signal.Signals(status - SIGNALLED).name})"
        return self.error(f"{self.name} ended with {how} before it answered")

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """End it by the signal that it wants, then by SIGKILL to its first process, with which the kernel ends all others."""
        wait_until(lambda: self._first() is not None or process.poll() is not None, KILLED_S)
        first = self._first()
        if self._written and process.poll() is None:
            self._written.hold(process.pid)
        for number, seconds in ((self._signal_number, self.stop_s), (int(signal.SIGKILL), KILLED_S)):
            if first is None or process.poll() is not None:
                break
            if number == signal.SIGKILL or (runtime.has_begun(first) and (self.init or runtime.heeds(first, number))):
                with suppress(ProcessLookupError):
                    os.kill(first, number)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(seconds)
        end(process, ((signal.SIGKILL, KILLED_S),))
        if first is not None and process.returncode < 0 and runtime.is_first(first):  # somebody killed crun alone
            with suppress(ProcessLookupError):
                os.kill(first, signal.SIGKILL)
        if self._probe:
            self._probe.close()

    def _restore(self, data: snapshot.Data) -> bool:
        """Leave it to `Plan.assemble`: the container's files are in a file system of their own."""
        return False

    def _save(self, data: snapshot.Data) -> None:
        if self._written:
            self._written.save()

    def _first(self) -> int | None:
        return runtime.first_process(self.state / runtime.PID)

    def on_disk(self, size: str = "256MB") -> Self:
        """Refuse: what a container writes lies in its root and its volumes. Raises ServiceError."""
        fix = "let a service of slownet's own, such as PostgreSQL, run the program"
        raise ServiceError("a container cannot be placed on a disk of its own", f"host '{self.host.name}'", fix)

    def stop(self) -> None:
        """End the container; its files and mounts are gone, the log stays. Fine to call twice."""
        try:
            super().stop()
        finally:
            self._give_back()
            if self._ours:
                self._ours = False
                _logs.discard(self.log)

    def again(self) -> None:
        """Give back what its last program held: a container that starts again has a new root; volumes with a name stay."""
        super().again()
        shutil.rmtree(self.state / FILES)  # where its root was mounted, in a namespace that has ended
        self._give_back()
        self._runs, self._probe = False, self._probed()

    def _give_back(self) -> None:
        """Give back what an ended program held: its log's copier, and the image's device."""
        self._finish_log()
        taken, self._taken = self._taken, None
        if taken:
            root.give_back(taken)

    def _finish_log(self) -> None:
        """Wait until all that it wrote is in the log."""
        copying, self._copying = self._copying, None
        if copying:
            copying.join(KILLED_S)

    def _processes(self, process: subprocess.Popen[bytes]) -> list[int]:
        first = self._first()
        return list(runtime.processes(first)) if first else []


class Written:
    """The files of one container in a snapshot; made while it is launched, before its root is assembled.

    Volumes with names get their data from the snapshot here, unless another container has them already.
    """

    def __init__(self, data: Data, plan: Plan) -> None:
        self._data, self._folder = data, plan.folder / FILES
        self._volumes = dict(_named(plan))
        self._held: int | None = None
        for path, volume in self._volumes.items():
            if not path.exists() and volume.path.exists() and not volume.saves:
                path.mkdir(parents=True)
                volume.restore(path)

    def hold(self, pid: int) -> None:
        """Keep the files of a running container: once opened, they outlive its mount namespace. pid: the runtime's."""
        if self._data.saves and self._held is None:
            self._held = os.open(f"/proc/{pid}/root{self._folder}", os.O_RDONLY | os.O_DIRECTORY)

    def save(self) -> None:
        """Save them, after the container has ended. Raises ServiceError."""
        held, self._held = self._held, None
        if held is not None:
            try:
                self._data.save(f"/proc/self/fd/{held}", WRITTEN, keep_open=[held])
            finally:
                os.close(held)
        for path, volume in self._volumes.items():  # the last container that has it saves what all have written
            volume.save(path, ["."])


def _named(plan: Plan) -> Iterator[tuple[Path, Data]]:
    for each in plan.mounts:
        name = str(each.source)
        data = snapshot.of(f"volume-{name}", shared=True) if each.kind == VOLUME and name else None
        if data:
            yield plan.volumes / name, data


def _mounts(given: Any) -> tuple[Mount, ...]:
    """Return what a container sees. Raises ServiceError."""
    if isinstance(given, Iterable) and not isinstance(given, str):
        found = tuple(given)
        if all(isinstance(each, Mount) for each in found):
            return found
    raise ServiceError("mounts is not a list of mounts", "Container", 'write mounts=[Mount("data", "/data")]')


def _limits(given: Any) -> dict[str, tuple[int, int]]:
    """Return soft and hard limits; one number is both. Raises ServiceError."""
    fix = 'write limits={"nofile": (1024, 4096)}'
    if given is not None and not isinstance(given, Mapping):
        raise ServiceError(f"limits is a {type(given).__name__} instead of a mapping", "Container", fix)
    found = {}
    for name, limit in (given or {}).items():
        pair = (limit, limit) if isinstance(limit, int) else limit
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not all(type(each) is int for each in pair):
            raise ServiceError(f"the limit '{name}' is {limit!r}", "Container", fix)
        found[name] = (pair[0], pair[1])
    return found
