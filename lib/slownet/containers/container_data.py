"""What a container and its volumes have written, in a snapshot: saved after the container, there before the next one starts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from slownet.containers.assembly import FILES, Plan
from slownet.containers.mount import VOLUME
from slownet.containers.root import WRITTEN
from slownet.services import snapshot
from slownet.services.snapshot import Data


class Written:
    """The files of one container; made while it is launched, before its root is assembled.

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
