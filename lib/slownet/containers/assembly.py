"""Makes a container ready to start: its root, what the network and the caller put there, and the runtime's configuration."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from slownet.containers import oci_bundle, privileges, root
from slownet.containers.oci_bundle import BIND, TMPFS, VOLUME, Mount, Overrides, complete
from slownet.containers.root import Data, Root
from slownet.containers.store import StoredImage
from slownet.lab.host import native
from slownet.model.errors import ImageError
from slownet.model.options import SHARE

INIT = "/dev/init"
"""The path at which a container sees the init that starts its program."""
CONFIG, FILES = "config.json", "files"
PROGRAM = "crun"
"""The runtime in `FILES`. From a file that can be written to, crun starts itself again from a copy that cannot."""


@dataclass(frozen=True)
class Plan:
    """A container that is to start."""

    image: StoredImage
    replaced: Overrides
    hostname: str
    folder: Path
    """Its private one: the bundle is made there."""
    volumes: Path
    """The folder of the volumes with names, which others share."""
    mounts: Sequence[Mount] = ()
    shown: Mapping[str, Path] = field(default_factory=dict)
    """Files of the network that it sees, as they change, by path."""
    written: Mapping[str, str] = field(default_factory=dict)
    """Texts of files that it gets of its own, by path."""
    marks: Mapping[str, str] = field(default_factory=dict)
    """Environment variables by which slownet finds its processes."""
    read_only: bool = False
    """True if it may write to its mounts alone."""
    sysctls: Mapping[str, str] = field(default_factory=dict)
    """Of its IPC namespace."""
    init: str = ""
    """The path of an init that starts its program, passes signals on to it and reaps what it leaves; empty for none."""

    @property
    def where(self) -> str:
        """The subject of error messages."""
        return f"image {self.image.name}"

    def check(self) -> None:
        """Raise ImageError for what can be found wrong before anything is made."""
        oci_bundle.argv(self.image.config, self.replaced, self.where)
        complete(self.mounts, self.image.config.volumes, self.where)
        for each in self.mounts:
            if each.kind == BIND and not Path(each.source).exists():
                raise _unseen(each)

    def assemble(self, device: str, crun: str, written: Data | None = None) -> dict[str, object]:
        """Make all of it, in the mount namespace that this thread gets; return the description of the main process.

        device: the image's block device. crun: the runtime's path, which is then at `PROGRAM`, read-only. written: what a
        snapshot has of the container. Raises SlownetError and OSError.
        """
        files = self.folder / FILES
        files.mkdir()
        binds = {each: Path(each.source).absolute() for each in self.mounts if each.kind == BIND}  # the root has another here
        root = Root(device, files, written)
        try:
            user = self._user(root)
            env = oci_bundle.environment(self.image.config, self.replaced, self.hostname, user)
            cwd = oci_bundle.working_directory(self.image.config, self.replaced)
            words = oci_bundle.argv(self.image.config, self.replaced)
            first = [INIT, "--"] if self.init else []
            main = oci_bundle.process(
                [*first, *words], {**env, **self.marks}, cwd, user, self.replaced.limits, self.replaced.capabilities
            )
            root.make(cwd)
            root.show(crun, files / PROGRAM)
            for path in (*self.shown, *self.written):  # in place of a symbolic link, which a mount would follow
                root.write(path, self.written.get(path, ""))
            mounts = complete(self.mounts, self.image.config.volumes)
            self._check_program(root, words[0], env.get("PATH", oci_bundle.PATH), cwd, mounts)
            sources = {each: str(path) for each, path in (binds | self._volumes_of(root, mounts)).items()}
        finally:
            root.close()
        seen = [Mount(path, at, read_only=True) for at, path in self.shown.items()]
        seen += [Mount(self.init, INIT, read_only=True)] if self.init else []
        sources |= {each: str(each.source) for each in seen}
        config = oci_bundle.runtime_config(
            main, str(root.path), self.hostname, [*seen, *mounts], sources, self.read_only, self.sysctls
        )  # fmt: skip
        (self.folder / CONFIG).write_text(json.dumps(config))
        return main

    def _user(self, root: Root) -> privileges.User:
        text = self.image.config.user if self.replaced.user is None else self.replaced.user
        return privileges.resolve(
            text, root.read(privileges.PASSWD), root.read(privileges.GROUP), self.where, self.replaced.groups
        )

    def _check_program(self, root: Root, word: str, search: str, cwd: str, mounts: Sequence[Mount]) -> None:
        if root.has_program(word, search, cwd) or any(each.kind != TMPFS for each in mounts):  # a mount may bring it
            return
        raise ImageError(f"there is no program '{word}'", self.where, "check the image's entrypoint and command, and PATH")

    def _volumes_of(self, root: Root, mounts: Sequence[Mount]) -> dict[Mount, Path]:
        found = {}
        for number, each in enumerate(mounts):
            if each.kind == VOLUME:
                found[each] = path = self.volumes / str(each.source) if str(each.source) else root.volume(number)
                path.mkdir(mode=0o755, parents=True, exist_ok=True)
                if each.subpath:
                    found[each] = path = _inner(path, each)
                if each.copies:
                    root.seed(str(each.path), path)
        return found


def _inner(volume: Path, mount: Mount) -> Path:
    """Return the folder of a volume that a mount is of; a symbolic link in a volume leads nowhere else. Raises ImageError."""
    descriptor = os.open(volume, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        inner = root.open_in(descriptor, mount.subpath, os.O_PATH | os.O_DIRECTORY)
        try:
            return Path(os.readlink(f"/proc/self/fd/{inner}"))
        finally:
            os.close(inner)
    except OSError as error:
        what = f"no folder {mount.subpath} in the volume {mount.source}: {error.strerror}"
        raise ImageError(what, f"the mount at {mount.target}", "a container that starts before has to make it") from error
    finally:
        os.close(descriptor)


def _unseen(mount: Mount) -> ImageError:
    where = f"the mount at {mount.target}"
    path = Path(mount.source).absolute()
    if native.inside_lab():
        fix = f"share it: {SHARE.set(path)}, or its folder if it is a file; make it if none exists"
        return ImageError(f"the lab does not see {path}", where, fix)
    return ImageError(f"there is no {path}", where)
