"""The folder that a lab of pytest's writes to, while its session runs and after it was killed.

The lab reads the session's folders and writes to one folder of its own (`slownet.lab.run.pytest_inside`). It may be
hostile: `exports` decides what goes where before the lab starts, and `carrier` takes it there.

The folder is beside what was measured, and has a lock: if this process is killed, the next session finds it, and carries what
had been measured to its place.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from slownet.lab.run import pytest_inside as inside
from slownet.lab.run.lab import Share
from slownet.lab.run.outbox import discard
from slownet.model.errors import SlownetError
from slownet.model.whole_file import place
from slownet.pytest_plugin.carrier import NAMED, Carried, carry, carry_coverage, carry_late
from slownet.pytest_plugin.exports import Plan
from slownet.pytest_plugin.forwarding import TESTS
from slownet.pytest_plugin.messages import say

PREFIX = ".slownet-session-"
SEED_BYTES = 2**26
"""The most bytes of a file that is copied for the lab."""


@contextlib.contextmanager
def staged(config: pytest.Config, plan: Plan, trees: Sequence[Path], tests: Sequence[str]) -> Iterator[Staging]:
    """Provide the folder of a session while its lab runs these tests, then carry what is in it. Raises SlownetError."""
    staging = Staging(plan, trees)
    staging.name_tests(tests)
    try:
        yield staging
    finally:
        try:
            with _added_to_logs(config):
                say(config, staging.carry().lines(config.rootpath))
        finally:
            staging.close()


@contextlib.contextmanager
def _added_to_logs(config: pytest.Config) -> Iterator[None]:
    """Let others append to the file that pytest logs to."""
    handler: Any = getattr(config.pluginmanager.get_plugin("logging-plugin"), "log_file_handler", None)
    if handler is not None:
        handler.flush()
    yield
    with contextlib.suppress(OSError, AttributeError, ValueError):  # it has no file, or one that has no end
        handler.stream.seek(0, os.SEEK_END)


class Staging:
    """The folder of one session: `out` below it is the lab's."""

    def __init__(self, plan: Plan, trees: Sequence[Path]) -> None:
        self.plan = plan
        self._trees = trees
        self._early: set[PurePosixPath] = set()
        parent = plan.records or Path(tempfile.gettempdir())
        try:
            parent.mkdir(parents=True, exist_ok=True)
            self.folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
            self.out.mkdir(mode=0o700)
            self._lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            self._sow()
            place(self.folder / "session.json", json.dumps(plan.to_json()).encode())
        except OSError as error:
            raise SlownetError(f"no folder for the lab's output ({error.strerror})", f"in {parent}") from error

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def share(self) -> Share:
        """The lab's share of it."""
        return Share(self.out, writable=True, at=inside.OUT)

    def handed(self) -> dict[str, object]:
        """Return what the lab is to know: see `slownet.lab.run.pytest_inside.Walls`."""
        return {
            "trees": [str(each) for each in self._trees],
            "keep": [[str(each.base), each.pattern, each.always] for each in self.plan.keep],
            "logs": [[str(path), str(number)] for number, path in enumerate(self.plan.logs)],
            "records": str(self.plan.records) if self.plan.records else None,
        }

    def _sow(self) -> None:
        """Copy existing files that the lab cannot see into the folder."""
        for number, keep in enumerate(self.plan.keep):
            if len(keep.pattern) == 1 and not any(keep.base.is_relative_to(each) for each in self._trees):
                for path in keep.base.glob(keep.pattern[0]):
                    if path.is_file() and path.stat().st_size <= SEED_BYTES:
                        target = self.out / inside.SEED / str(number) / path.name
                        target.parent.mkdir(parents=True, exist_ok=True)
                        shutil.copyfile(path, target)
        if self.plan.logs:
            (self.out / inside.LOGS).mkdir(exist_ok=True)

    def name_tests(self, tests: Sequence[str]) -> None:
        """Say which tests the lab is to run. Raises SlownetError."""
        try:
            (self.out / inside.SEED).mkdir(exist_ok=True)
            place(self.out / inside.SEED / TESTS.name, json.dumps(tests).encode())
        except OSError as error:
            raise SlownetError(f"the names of the tests cannot be written ({error.strerror})", f"in {self.out}") from error

    def carry_coverage(self) -> Carried:
        """Carry the coverage data that exists now, once."""
        return carry_coverage(self.plan, self.out, self._early)

    def carry(self) -> Carried:
        """Carry all of it; the lab has ended."""
        return carry(self.plan, self.out, self._early)

    def close(self) -> None:
        """Remove the folder."""
        os.close(self._lock)
        discard(self.folder)


def recover(config: pytest.Config, plan: Plan) -> list[str]:
    """Carry what killed sessions of this rootdir had staged: run directories, and files that are newer than what is there.

    Returns a line for each of these sessions.
    """
    lines = []
    for parent in filter(None, (plan.records, Path(tempfile.gettempdir()))):
        for folder in sorted(parent.glob(f"{PREFIX}*")):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError), _abandoned(folder, plan) as found:
                carried = carry_late(found, folder / "out")
                names = ", ".join(str(each) for each in carried.runs[:NAMED]) or "no measurements"
                lines.append(f"a session was killed, and left {names}")
                lines += carried.lines(config.invocation_params.dir)[:1] if carried.refused else []
                discard(folder)
    return lines


@contextlib.contextmanager
def _abandoned(folder: Path, plan: Plan) -> Iterator[Plan]:
    """Hold the folder of a session that was killed, and return its plan. Raises OSError or ValueError if it is not one."""
    about = folder.lstat()
    if about.st_uid != os.geteuid() or not folder.is_dir() or folder.is_symlink():
        raise ValueError("another user's")
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield plan.of_killed(json.loads((folder / "session.json").read_text(encoding="utf-8")))
    finally:
        os.close(lock)
