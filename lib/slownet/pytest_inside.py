"""Runs pytest in the place of a session: `python -P slownet/pytest_inside.py -- ARGUMENTS...`.

The environment variable SLOWNET_SESSION (JSON) holds data from the outer process: the facts of the place, the folders of its
sys.path outside the standard library, which tests belong to this place if there are several, and, in a lab, what may leave it
(`Walls`). It runs as a file and imports nothing of slownet, because pytest rewrites a plugin's assertions only if its package
was not imported before.

A lab can only read the session's folders. Each of them is the lower layer of an overlay, whose upper layer is in the lab's
memory: tests write where they always do, and the host's folder stays as it is. What is to be kept, by its name, is copied to
one folder that the lab shares with the host, OUT. The host takes it from there and believes nothing of it.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import socket
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

SESSION = "SLOWNET_SESSION"
INTERRUPTED = 2  # as pytest has it
PLUGIN = "slownet.pytest_plugin"
COMPILED = {"hypothesis": "hypothesispytest"}
"""Packages with compiled modules whose plugin of pytest needs them, by the name of the plugin."""
TEST = "PYTEST_CURRENT_TEST"
OUT = "/run/slownet-out"
"""The folder of the lab that the host reads."""
RECORDS, KEPT, LEFT, GONE, LOGS, SEED = "records", "kept", "left", "gone", "logs", "seed"
"""Folders in OUT: run directories; copies of what is kept, by the number of its entry; names of what is not kept, and of what
was deleted, a file for each lab; files that pytest writes as it goes; what was there before where the lab does not see it."""
DEEPEST = 60
"""Levels of folders that are looked into."""
MEMORY = "/run/slownet-walls"
NAMES = 10_000
"""So many names of files that are not kept, or were deleted, are passed on."""
UPPER_SHARE = "50%"
_BIND = 4096  # MS_BIND, linux/mount.h
_test = os.environ.get(TEST)
"""The test that started this process, if one did."""


def handed_over() -> dict[str, Any]:
    """Return the data from the outer process; empty if there is none.

    A pytest that one of the session's tests started is a session of its own: it runs all of its tests, and on this machine,
    where no facts of a place are handed over, those with a network get a place of their own.
    """
    found: dict[str, Any] = json.loads(os.environ.get(SESSION, "{}"))
    if _test in (None, found.get("test")):
        return found
    return {name: value for name, value in found.items() if name != "only"} if found.get("facts") else {}


def extend_path() -> None:
    """Append the session's folders to sys.path, after this interpreter's own, which have the tested versions."""
    sys.path.extend(each for each in handed_over().get("path", ()) if each not in sys.path)


def begin(hostname: str) -> None:
    """Prepare a worker in a lab of its own.

    All labs are alike and draw the same random numbers at TDF inf, so files named after the host and a random number, such as
    coverage's, would clash without distinct host names.
    """
    socket.sethostname(hostname)
    Walls.of(handed_over()).build()
    extend_path()


def main(argv: list[str]) -> int:
    """Run pytest with these arguments; return its exit status."""
    arguments = argv[argv.index("--") + 1 :]
    walls = Walls.of(handed_over())
    walls.build()
    extend_path()
    sys.argv = ["pytest", *arguments]
    try:
        import pytest

        return int(pytest.main([*without_useless(), "-p", PLUGIN, *arguments]))
    except KeyboardInterrupt:  # before pytest handles it
        return INTERRUPTED
    finally:
        walls.finish()


def without_useless() -> list[str]:
    """Return the options that leave out plugins whose package has compiled modules, none of them for this Python.

    Such a plugin is loaded, because it imports its package late, and ends the session with an error when it does.
    """
    import importlib.machinery
    import importlib.util

    options = []
    for package, plugin in COMPILED.items():
        found = importlib.util.find_spec(package)
        folders = (found.submodule_search_locations if found else None) or []
        suffixes = {"." + each.name.partition(".")[2] for folder in folders for each in Path(folder).glob("*.so")}
        if suffixes and not suffixes & {*importlib.machinery.EXTENSION_SUFFIXES}:
            options += ["-p", f"no:{plugin}"]
    return options


def with_the_plugin(names: str) -> str:
    """Add this plugin to a value of PYTEST_PLUGINS; in a lab no entry point loads it."""
    return ",".join([*filter(None, names.split(",")), PLUGIN])


class Entry:
    """What leaves the lab: the files below a folder that a pattern names, and all that is below a folder of that name."""

    def __init__(self, base: str, pattern: Sequence[str], always: bool = False) -> None:
        self.base, self.pattern = Path(base), tuple(pattern)
        self.always = always
        """Whether it is copied after every test, so that little is lost if the lab dies."""

    def has(self, below: PurePosixPath) -> bool:
        """Return whether a path relative to the base is kept."""
        parts = below.parts
        return len(parts) >= len(self.pattern) and all(map(fnmatchcase, parts, self.pattern))

    def may_have(self, below: PurePosixPath) -> bool:
        """Return whether a folder, relative to the base, may contain what is kept."""
        return all(map(fnmatchcase, below.parts, self.pattern))

    def walk(self, top: Path) -> Iterator[PurePosixPath]:
        """Yield the paths that are kept and are no folders below a folder that stands for the base."""
        return _walk(top, PurePosixPath(), self.may_have, self.has)


class Walls:
    """What a session in a lab may write: anything, in memory; the entries leave it."""

    def __init__(self, trees: Sequence[str] = (), entries: Sequence[Entry] = (), logs: Sequence[tuple[str, str]] = ()) -> None:
        self._trees = [Path(each) for each in trees]
        self._entries = entries
        self._logs = logs
        self._copied: dict[Path, tuple[int, int]] = {}

    @classmethod
    def of(cls, handed: dict[str, Any]) -> Walls:
        """Return them from what was handed over; none natively."""
        given = handed.get("walls") or {}
        return cls(given.get("trees", ()), [Entry(*each) for each in given.get("keep", ())], given.get("logs", ()))

    def build(self) -> None:
        """Put an overlay on each of the session's folders."""
        if not self._trees and not self._entries:
            return
        here = os.getcwd()
        os.makedirs(MEMORY, exist_ok=True)
        mount("walls", MEMORY, "tmpfs", f"size={UPPER_SHARE},mode=0755")
        for number, tree in enumerate(self._trees):
            self._cover(tree, Path(MEMORY, str(number)))
        os.chdir(here)  # it was below the overlay
        for number, entry in enumerate(self._entries):
            self._sow(entry, Path(OUT, SEED, str(number)))
        for path, name in self._logs:
            link(Path(path), Path(OUT, LOGS, name))

    def _sow(self, entry: Entry, seed: Path) -> None:
        """Provide the folder of an entry, with what was there, if the lab does not see the host's."""
        if self._of(entry.base, "upper") is None:
            with suppress(OSError):  # in a folder that is there to be read: the test that writes there sees it
                entry.base.mkdir(parents=True, exist_ok=True)
                for each in seed.glob("*"):
                    shutil.copyfile(each, entry.base / each.name)

    @staticmethod
    def _cover(tree: Path, own: Path) -> None:
        for name in ("lower", "upper", "work"):
            (own / name).mkdir(parents=True)
        about = tree.stat()
        os.chown(own / "upper", about.st_uid, about.st_gid)
        os.chmod(own / "upper", stat.S_IMODE(about.st_mode))
        inner = [(each, os.open(each, os.O_PATH | os.O_CLOEXEC)) for each in mounts_below(tree)]
        mount(str(tree), str(own / "lower"), "", "", _BIND)
        mount("walls", str(tree), "overlay", f"lowerdir={own}/lower,upperdir={own}/upper,workdir={own}/work")
        for path, fd in inner:
            path.mkdir(parents=True, exist_ok=True)
            mount(f"/proc/self/fd/{fd}", str(path), "", "", _BIND)
            os.close(fd)

    def _of(self, path: Path, layer: str) -> Path | None:
        """Return the place of a path in a layer ("upper", "lower") of its overlay; None if it has no overlay."""
        for number, tree in enumerate(self._trees):
            if path.is_relative_to(tree):
                return Path(MEMORY, str(number), layer) / path.relative_to(tree)
        return None

    def copy(self, final: bool = True) -> list[str]:
        """Copy what is kept to OUT, unless it was copied as it is; return what is none of the files that can be kept.

        final: all of it, not only what is to be copied after every test.
        """
        odd: list[str] = []
        for number, entry in enumerate(self._entries):
            if not (final or entry.always):
                continue
            top = self._of(entry.base, "upper") or entry.base
            for below in entry.walk(top):
                try:
                    what = self._copy(top / below, Path(OUT, KEPT, str(number), below))
                except FileNotFoundError:  # a test's own process is still at work there
                    continue
                except OSError as error:
                    what = error.strerror
                if what:
                    odd.append(f"{entry.base / below} ({what})")
        return odd

    def _copy(self, source: Path, target: Path) -> str | None:
        """Copy a file, if it is one and has changed; return what it is otherwise. Raises OSError."""
        about = source.lstat()
        now = (about.st_mtime_ns, about.st_size)
        if _is_deletion(about) or self._copied.get(target) == now:
            return None
        if stat.S_ISLNK(about.st_mode):
            return None if source.name.endswith("current") else "a symbolic link"  # pytest has links of that name
        if not stat.S_ISREG(about.st_mode):
            return "not a regular file"
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".slownet-{socket.gethostname()}")
        draft.unlink(missing_ok=True)
        shutil.copyfile(source, draft, follow_symlinks=False)
        os.chmod(draft, 0o700 if about.st_mode & 0o100 else 0o600)
        os.replace(draft, target)
        self._copied[target] = now
        return None

    def finish(self) -> None:
        """Copy what is kept, and say what is not, and what was deleted."""
        if not self._trees and not self._entries:
            return
        left = [*self.copy(), *self._not_kept()]
        gone = [(number, str(below)) for number, entry in enumerate(self._entries) for below in self._deleted(entry)]
        for name, value in ((LEFT, left), (GONE, gone)):
            if value:
                try:
                    _write_whole(Path(OUT, name, f"{socket.gethostname()}.json"), json.dumps(value[:NAMES]))
                except OSError as error:
                    print(f"slownet: cannot write {name} ({error.strerror})", file=sys.stderr)

    def _deleted(self, entry: Entry) -> Iterator[PurePosixPath]:
        top = self._of(entry.base, "lower")
        if top is not None:
            yield from (below for below in entry.walk(top) if not os.path.lexists(entry.base / below))

    def _not_kept(self) -> Iterator[str]:
        """Yield the paths of what was written or deleted in the session's folders and does not leave the lab."""
        logs = {Path(path) for path, _ in self._logs}
        for number, tree in enumerate(self._trees):
            upper = Path(MEMORY, str(number), "upper")
            for below in _walk(upper, PurePosixPath(), lambda folder: folder.name != "__pycache__", lambda path: True):
                path = tree / below
                if path not in logs and not self._keeps(path):
                    gone = _is_deletion((upper / below).lstat())
                    yield f"{path} (deleted)" if gone else str(path)

    def _keeps(self, path: Path) -> bool:
        return any(
            path.is_relative_to(each.base) and each.has(PurePosixPath(path.relative_to(each.base))) for each in self._entries
        )


def _walk(top: Path, below: PurePosixPath, enter: Any, wanted: Any) -> Iterator[PurePosixPath]:
    """Yield what is no folder below top/below, without following links."""
    try:
        names = sorted(os.listdir(top / below))
    except OSError:
        return
    for name in names:
        path = below / name
        with suppress(OSError):
            if stat.S_ISDIR((top / path).lstat().st_mode):
                if enter(path) and len(path.parts) < DEEPEST:
                    yield from _walk(top, path, enter, wanted)
            elif wanted(path):
                yield path


def _write_whole(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    draft = path.with_suffix(".part")
    draft.unlink(missing_ok=True)
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)


def _is_deletion(about: os.stat_result) -> bool:
    """Return whether a file of an overlay's upper layer stands for one that was deleted."""
    return stat.S_ISCHR(about.st_mode) and about.st_rdev == 0


def mounts_below(folder: Path, text: str | None = None) -> list[Path]:
    """Return what is mounted below a folder, outer ones first; text: the content of /proc/self/mountinfo."""
    lines = (text or Path("/proc/self/mountinfo").read_text(encoding="utf-8")).splitlines()
    points = [Path(re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), line.split()[4])) for line in lines]
    return sorted({each for each in points if each != folder and each.is_relative_to(folder)})


def mount(source: str, target: str, kind: str, options: str, flags: int = 0) -> None:
    """Mount as mount(2) does. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(os.fsencode(source), os.fsencode(target), os.fsencode(kind), ctypes.c_ulong(flags), os.fsencode(options)):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target)


def link(path: Path, target: Path) -> None:
    """Make a path a link to the target, which is outside; keep an existing link."""
    if not path.is_symlink():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(target)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
