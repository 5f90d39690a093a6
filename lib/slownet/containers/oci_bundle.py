"""A container's runtime configuration (OCI Runtime Specification, config.json), from its image and its caller; its mounts.

Pure: the same arguments give the same file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from slownet.containers import privileges
from slownet.containers.config import Config
from slownet.containers.privileges import User
from slownet.model.errors import ImageError, nearest
from slownet.model.shapes import Json

BIND, TMPFS, VOLUME = KINDS = ("bind", "tmpfs", "volume")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Mount:
    """A folder or file in a container.

    Parameters
    ----------
    source : str or Path
        Of a bind, a path of the lab, which `--share` brings there; of a volume, its name, or nothing for one that no other
        container has. A tmpfs has none.
    target : str
        The path in the container; made if the image lacks it.
    kind : str
        ``"bind"``; ``"volume"``: a folder in memory that begins with what the image has at that path, and lasts as long as
        the network if it has a name, else as long as the container; ``"tmpfs"``: an empty one.
    read_only : bool
        Whether the container may only read it.
    subpath : str
        Of a volume with a name: the folder in it that is mounted; a container has made it by then.
    copies : bool
        Whether an empty volume begins with what the image has at the target.
    options : sequence of str
        Of a tmpfs: mount options, such as ``size=64m`` or ``mode=1777``.

    Raises
    ------
    ImageError
        No such kind, or a path or name is not usable.
    """

    source: str | Path
    target: str
    kind: str = BIND
    read_only: bool = False
    subpath: str = ""
    copies: bool = True
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        where = f"the mount at {self.target}"
        if self.kind not in KINDS:
            raise ImageError(f"unknown kind '{self.kind}'", where, nearest(self.kind, KINDS))
        path = PurePosixPath(self.target)
        if not path.is_absolute() or ".." in path.parts or len(path.parts) < 2:
            raise ImageError(f"'{self.target}' is not a path in a container", where, "write a whole path such as /data")
        if self.kind == BIND and not str(self.source):
            raise ImageError("a bind has no source", where, "name a folder or file of the lab")
        if self.kind == TMPFS and str(self.source):
            raise ImageError(f"a tmpfs is empty, and has no source '{self.source}'", where, "leave the source out")
        if self.kind == VOLUME and str(self.source) and not _NAME.fullmatch(str(self.source)):
            raise ImageError(f"'{self.source}' is not a name of a volume", where, "use letters, digits, '.', '_' and '-'")
        if self.subpath and not (self.kind == VOLUME and str(self.source)):
            raise ImageError("only a volume with a name has a subpath", where, "leave it out")
        if self.options and self.kind != TMPFS:
            raise ImageError("only a tmpfs has options", where, "leave them out")

    @property
    def path(self) -> PurePosixPath:
        """The target without double slashes."""
        return PurePosixPath("/", *PurePosixPath(self.target).parts[1:])


def complete(mounts: Sequence[Mount], volumes: Sequence[str], where: str = "") -> list[Mount]:
    """Return mounts, outer ones first, and nameless volumes for those of an image's volumes that none of them is at.

    Raises ImageError for two at the same path.
    """
    taken: set[PurePosixPath] = set()
    for each in mounts:
        if each.path in taken:
            raise ImageError(f"two mounts are at {each.path}", where, "leave one of them out")
        taken.add(each.path)
    own = [Mount("", path, VOLUME) for path in volumes]
    found = [*mounts, *(each for each in own if each.path not in taken)]
    return sorted(found, key=lambda each: (len(each.path.parts), str(each.path)))


VERSION = "1.0.2"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Docker's, for an image without one."""
_LIMITLESS = 1 << 64
"""Limits are of 64 bits; all ones, -1, is RLIM_INFINITY."""
OF_NETWORK = "net."
_SHM = "size=65536k"
Description = Mapping[str, Json]
"""A process as OCI's runtime specification describes it."""
_MOUNTS: list[dict[str, object]] = [
    {"destination": "/proc", "type": "proc", "source": "proc", "options": ["nosuid", "noexec", "nodev"]},
    {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "strictatime", "mode=755", _SHM]},
    {
        "destination": "/dev/pts", "type": "devpts", "source": "devpts",
        "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"],
    },
    {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]},
    {"destination": "/dev/mqueue", "type": "mqueue", "source": "mqueue", "options": ["nosuid", "noexec", "nodev"]},
    {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": ["nosuid", "noexec", "nodev", "mode=1777", _SHM]},
]  # fmt: skip


@dataclass(frozen=True)
class Overrides:
    """Replacements for parts of an image's configuration; None keeps the part."""

    command: Sequence[str] | None = None
    """In place of the image's Cmd."""
    entrypoint: Sequence[str] | None = None
    """In place of the image's Entrypoint and, as in Docker, its Cmd."""
    env: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None
    cwd: str | None = None
    limits: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Soft and hard resource limits by their names, such as ``nofile``; -1 means no limit."""
    groups: Sequence[str] = ()
    """Further groups of its user, by name or number."""
    capabilities: Sequence[str] = tuple(privileges.CAPABILITIES)


def argv(config: Config, replaced: Overrides, where: str = "") -> list[str]:
    """Return the program and its arguments. Raises ImageError if none exists."""
    entrypoint = config.entrypoint if replaced.entrypoint is None else replaced.entrypoint
    usual = config.cmd if replaced.entrypoint is None else ()
    found = [*entrypoint, *(usual if replaced.command is None else replaced.command)]
    if not found:
        raise ImageError("the image has no entrypoint and no command", where, 'name one: command=["program", "argument"]')
    if not found[0]:
        raise ImageError("the program's name is empty", where, 'name one: command=["program", "argument"]')
    return found


def environment(config: Config, replaced: Overrides, hostname: str, user: User) -> dict[str, str]:
    """Return its environment variables in Docker's order; HOME is the user's unless it is given."""
    found = {"PATH": PATH, "HOSTNAME": hostname, **config.env, **replaced.env}
    return found if "HOME" in found else {**found, "HOME": user.home}


def working_directory(config: Config, replaced: Overrides) -> str:
    """Return the working directory, a whole path."""
    return "/" + (replaced.cwd or config.working_dir or "/").lstrip("/")


def process(
    words: Sequence[str], env: Mapping[str, str], cwd: str, user: User, limits: Mapping[str, tuple[int, int]] | None = None,
    capabilities: Sequence[str] = privileges.CAPABILITIES,
) -> dict[str, object]:  # fmt: skip
    """Return the description of a process in a container: its main one, or one that is run beside it."""
    kept = ("bounding", "effective", "permitted") if user.uid == 0 else ("bounding",)  # as execve gives another user
    rlimits = [
        {
            "type": f"RLIMIT_{name.upper()}",
            **{key: value % _LIMITLESS for key, value in zip(("soft", "hard"), pair, strict=True)},
        }
        for name, pair in (limits or {}).items()
    ]
    return {
        "terminal": False,
        "user": {"uid": user.uid, "gid": user.gid, "additionalGids": list(user.groups)},
        "args": list(words),
        "env": [f"{name}={value}" for name, value in env.items()],
        "cwd": cwd,
        "capabilities": {each: list(capabilities) for each in kept},
        "noNewPrivileges": True,
        **({"rlimits": rlimits} if rlimits else {}),
    }


def runtime_config(
    main: Description,
    root: str,
    hostname: str,
    mounts: Sequence[Mount],
    sources: Mapping[Mount, str],
    read_only: bool = False,
    sysctls: Mapping[str, str] | None = None,
) -> dict[str, object]:
    """Return the whole configuration.

    The container gets no network namespace: it has the one in which the runtime is started, the host's. It gets no cgroup.

    main: from `process`.
    root: the path of the root file system.
    hostname: its own name.
    mounts: outer ones first.
    sources: the path of each bind and volume.
    read_only: whether it may write to its mounts alone.
    sysctls: of those its IPC namespace gets its own.
    """
    own = {name: value for name, value in (sysctls or {}).items() if not name.startswith(OF_NETWORK)}
    return {
        "ociVersion": VERSION,
        "process": dict(main),
        "root": {"path": root, "readonly": read_only},
        "hostname": hostname,
        "mounts": [*map(dict, _MOUNTS), *(_mount(each, sources.get(each, "")) for each in mounts)],
        "linux": {
            "namespaces": [{"type": each} for each in ("pid", "ipc", "uts", "mount")],
            "maskedPaths": list(privileges.MASKED),
            "readonlyPaths": list(privileges.READONLY),
            "seccomp": privileges.seccomp(),
            **({"sysctl": own} if own else {}),
        },
    }


def of_network(sysctls: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a container's network, which is its host's."""
    return {name: value for name, value in sysctls.items() if name.startswith(OF_NETWORK)}


def _mount(mount: Mount, source: str) -> dict[str, object]:
    options = ["ro"] if mount.read_only else ["rw"]
    if mount.kind == TMPFS:
        return {
            "destination": str(mount.path), "type": TMPFS, "source": TMPFS,
            "options": ["nosuid", "nodev", "noexec", *options, *mount.options],
        }  # fmt: skip
    return {"destination": str(mount.path), "type": BIND, "source": source, "options": ["rbind", "rprivate", "nodev", *options]}
