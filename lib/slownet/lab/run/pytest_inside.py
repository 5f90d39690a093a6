"""Runs pytest in the place of a session: `python -P slownet/lab/run/pytest_inside.py -- ARGUMENTS...`.

The environment variable SLOWNET_SESSION (JSON) holds data from the outer process: the facts of the place, the folders of its
sys.path outside the standard library, which tests belong to this place if there are several, and, in a lab, what may leave it
(`Walls`). It runs as a file, and imports slownet's plugin when the folders are there.

A lab can only read the session's folders. Each of them is the lower layer of an overlay, whose upper layer is in the lab's
memory: tests write where they always do, and the host's folder stays as it is. What is to be kept, by its name, is copied to
one folder that the lab shares with the host, OUT. The host takes it from there and believes nothing of it.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import io
import json
import os
import re
import select
import shutil
import socket
import stat
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from importlib import metadata
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the package is imported when `extend_path` has found it
    from slownet.model.shapes import Json

SESSION = "SLOWNET_SESSION"
INTERRUPTED = 2  # as pytest has it
PLUGIN = "slownet.pytest_plugin"
OWN = (PLUGIN.partition(".")[0], PLUGIN)
"""The packages that pytest marks for rewriting, with all their modules, because they hold a plugin."""
NOT_REWRITTEN = "PYTEST_DONT_REWRITE"
LEFT_OUT = "SLOWNET_LEFT_OUT"
"""The variable with the plugins of pytest that cannot be imported here, {name: why not} as JSON."""
NAME = re.compile(r"[\w.-]+")
"""The name of a distribution, at the beginning of a requirement."""
GROUP = "pytest11"
"""The entry points that are plugins of pytest."""
TEST = "PYTEST_CURRENT_TEST"
ADDED = "PYTEST_ADDOPTS"
OUT = "/run/slownet-out"
"""The folder of the lab that the host reads."""
RECORDS, KEPT, LEFT, GONE, LOGS, SEED = "records", "kept", "left", "gone", "logs", "seed"
"""Folders in OUT: run directories; copies of what is kept, by the number of its entry; names of what is not kept, and of what
was deleted, a file for each lab; files that pytest writes as it goes; what was there before where the lab does not see it."""
LINK, OTHER = "a symbolic link", "not a regular file"
DEEPEST = 60
"""Levels of folders that are looked into."""
MEMORY = "/run/slownet-walls"
NAMES = 10_000
"""So many names of files that are not kept, or were deleted, are passed on."""
UPPER_SHARE = "50%"
EVENTS = "SLOWNET_EVENTS"
"""The variable with the file descriptor to which this process sends what happens, see `send`."""
WORKER = "SLOWNET_WORKER"
"""The variable with the number of the process that is a worker in a lab of its own; those that its tests start are not."""
MARK = b"\x1eslownet-pytest"
MORE, LAST = b"+", b"."
PIECE = 1400
"""Bytes of an event in one line: a line is written at once, and no other process writes between its bytes."""
_BIND = 4096  # MS_BIND, linux/mount.h
_test = os.environ.get(TEST)
"""The test that started this process, if one did."""


def handed_over() -> dict[str, Json]:
    """Return the data from the outer process; empty if none exists.

    A pytest that one of the session's tests started is a session of its own: it runs all of its tests, and on this machine,
    where no facts of a place are handed over, those with a network get a place of their own.
    """
    found: dict[str, Json] = json.loads(os.environ.get(SESSION, "{}"))
    if _test in (None, found.get("test")):
        return found
    return {name: value for name, value in found.items() if name != "only"} if found.get("facts") else {}


def is_forwarded() -> bool:
    """Return whether another pytest reports what happens in this one."""
    return bool((handed_over().get("only") or {}).get("forward"))


def send(event: Mapping[str, object]) -> None:
    """Send an event to the session that reports: lines with a mark, since what tests print may share the descriptor."""
    data = json.dumps(event, default=str).encode()
    pieces = [data[at : at + PIECE] for at in range(0, len(data), PIECE)]
    for number, piece in enumerate(pieces, 1):
        os.write(int(os.environ[EVENTS]), MARK + (LAST if number == len(pieces) else MORE) + piece + b"\n")


class Asking(io.TextIOBase):
    """Standard input whose lines the host reads, while it stops the lab: the clock waits for the person who types."""

    def __init__(self, plain: Any, is_virtual: bool) -> None:
        self._plain, self._is_virtual = plain, is_virtual
        self._kept = b""

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self._plain.fileno())

    def isatty(self) -> bool:
        return True

    def readline(self, size: int | None = -1) -> str:  # type: ignore[override, unused-ignore]
        """Return a line, empty at the end of the input."""
        if not self._kept:
            sys.stdout.flush()
            send({"event": "ask"})
        while b"\n" not in self._kept:
            # An idle lab skips to its next timer, so this one stays busy until the host stops it.
            if self._is_virtual and not select.select([0], [], [], 0)[0]:
                continue
            data = os.read(0, 4096)
            if not data:
                break
            self._kept += data
        line, end, self._kept = self._kept.partition(b"\n")
        return (line + end).decode(errors="replace")


def begin_forwarding(asks: bool) -> None:
    """Prepare this process to send events, and to ask the host for input if it has a terminal."""
    os.environ[EVENTS] = str(os.dup(1))
    if asks:
        settings = termios.tcgetattr(0)
        settings[3] &= ~termios.ECHO  # the host has shown what was typed
        termios.tcsetattr(0, termios.TCSANOW, settings)
        sys.stdin = Asking(sys.stdin, os.environ.get("SLOWNET_LAB") != "real")  # type: ignore[assignment, unused-ignore]


def extend_path() -> None:
    """Append the session's folders to sys.path, after this interpreter's own, which have the tested versions."""
    folders = handed_over().get("path", ())
    sys.path.extend(each for each in folders if each not in sys.path)
    from slownet.lab.run import import_path  # natively it may be in one of them

    import_path.extend(folders)


def begin(hostname: str) -> None:
    """Prepare a worker in a lab of its own.

    All labs are alike and draw the same random numbers at TDF inf, so files named after the host and a random number, such as
    coverage's, would clash without distinct host names.
    """
    socket.sethostname(hostname)
    with suppress(OSError), open("/etc/hosts", "a", encoding="utf-8") as hosts:
        hosts.write(f"127.0.1.1\t{hostname}\n")
    os.environ[EVENTS] = str(os.dup(2))  # its output is execnet's
    os.environ[WORKER] = str(os.getpid())
    Walls.of(handed_over()).build()
    extend_path()
    find_plugins_once()
    import_plugin()
    if without := without_plugins():
        os.environ[ADDED] = " ".join([*filter(None, [os.environ.get(ADDED)]), *without])


def main(argv: list[str]) -> int:
    """Run pytest with these arguments; return its exit status."""
    arguments = argv[argv.index("--") + 1 :]
    walls = Walls.of(handed_over())
    walls.build()
    extend_path()
    only = handed_over().get("only") or {}
    if only.get("forward"):
        if only.get("hostname"):
            socket.sethostname(only["hostname"])
        begin_forwarding(bool(only.get("asks")))
    sys.argv = ["pytest", *arguments]
    find_plugins_once()
    try:
        import_plugin()
        import pytest

        return int(pytest.main([*without_plugins(), "-p", PLUGIN, *arguments]))
    except KeyboardInterrupt:  # before pytest handles it
        return INTERRUPTED
    finally:
        walls.finish()


def find_plugins_once() -> None:
    """Let pytest ask for distributions with plugins, and get those that are found here.

    It reads what all distributions offer, once to know whose modules it rewrites, once to load their plugins and once for each
    `-p`: a lab has those of the image and the session's, hundreds, and reading them took a tenth of a short session. Modules of
    the image's own plugins are imported as Python keeps them: they have no assertions of a user's.
    """
    plain, found = metadata.distributions, with_plugins()
    answers = {"pluggy._manager": found, "_pytest.config": [each for each in found if is_of_the_session(each)]}

    def distributions(**context: Any) -> Any:
        answer = None if context else answers.get(sys._getframe(1).f_globals.get("__name__", ""))
        return plain(**context) if answer is None else iter(answer)

    metadata.distributions = distributions


@functools.cache
def with_plugins() -> list[metadata.Distribution]:
    """Return the distributions that have plugins of pytest, in the order of sys.path."""
    return [each for each in metadata.distributions() if GROUP in (each.read_text("entry_points.txt") or "")]


def is_of_the_session(distribution: metadata.Distribution) -> bool:
    """Return whether a distribution is in one of the session's folders; otherwise it is the image's own."""
    return str(distribution.locate_file("")) in (handed_over().get("path") or ())


def plugins() -> list[metadata.EntryPoint]:
    """Return all plugins, but this one, which is loaded anyway, and those that `-p no:NAME` or no test of the session wants."""
    blocked = {*(handed_over().get("blocked") or ()), *_idle()}
    every = (each for one in with_plugins() for each in one.entry_points if each.group == GROUP)
    return [each for each in every if each.name not in blocked and each.module != PLUGIN]


def import_plugin() -> None:
    """Import slownet's plugin before pytest does, by the bytecode that Python keeps.

    pytest would compile its hundred modules anew in each lab, which cannot keep what it makes of them, to rewrite assertions
    that they do not have. It warns of modules that were imported before, unless their docstrings have its word.
    """
    for name in OWN:
        module = importlib.import_module(name)
        module.__doc__ = f"{module.__doc__}\n{NOT_REWRITTEN}"


def leave_as_they_are(config: Any) -> None:
    """Let pytest import the rest of slownet's modules as Python does; it has no public way to do that."""
    hook = getattr(config.pluginmanager, "rewrite_hook", None)
    getattr(hook, "_must_rewrite", set()).difference_update(OWN)
    getattr(hook, "_marked_for_rewrite_cache", {}).clear()


def without_plugins() -> list[str]:
    """Return the options that leave out plugins of pytest which cannot be imported here, or which no one asked for."""
    return [*without_foreign(), *without_unwanted()]


def without_foreign() -> list[str]:
    """Return the options that leave out plugins which are compiled for another Python, as they or what they require may be.

    pytest loads all plugins that are installed, and ends the session with an error if one cannot be imported. They are tried in
    a process of their own: pytest could not rewrite the assertions of one that is imported here. `LEFT_OUT` gets their names.

    Only those in the session's folders: the image's own are compiled for its Python, as is what they require, which is found
    there first. To read what all of them consist of took a tenth of a short session.
    """
    theirs = [each for each in plugins() if each.dist and is_of_the_session(each.dist)]
    suspected = [each for each in theirs if each.dist and _is_foreign(each.dist.name, set())]
    foreign = _tried(suspected) if suspected else {}
    os.environ[LEFT_OUT] = json.dumps(foreign)
    return [word for name in foreign for word in ("-p", f"no:{name}")]


def without_unwanted() -> list[str]:
    """Return the options that leave out the image's own plugins, unless the session has them outside, too, and those that no
    test of the session uses."""
    wanted = handed_over().get("plugins") or ()
    own = [each.name for each in plugins() if each.dist and not is_of_the_session(each.dist)]
    return [word for name in (*(each for each in own if each not in wanted), *_idle()) for word in ("-p", f"no:{name}")]


def _idle() -> list[str]:
    return list(handed_over().get("idle") or ())


def _is_foreign(name: str, seen: set[str]) -> bool:
    """Return whether a distribution, or one that it requires, has modules that are compiled for other Pythons only."""
    seen.add(name)
    suffixes, required = _contents(name)
    if suffixes and not suffixes & {*EXTENSION_SUFFIXES}:
        return True
    return any(_is_foreign(each, seen) for each in required - seen)


@functools.cache
def _contents(name: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the suffixes of a distribution's compiled modules, and what it requires; several plugins may require it."""
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return frozenset(), frozenset()
    files = map(PurePosixPath, listed_files(found))
    suffixes = ("." + each.name.partition(".")[2] for each in files if each.suffix == ".so")
    required = (NAME.match(each)[0] for each in found.requires or () if "extra ==" not in each)  # type: ignore[index]
    return frozenset(suffixes), frozenset(required)


def listed_files(found: metadata.Distribution) -> list[str]:
    """Return the files that a distribution lists. `importlib.metadata` also looks for each of them, which takes a lab long."""
    record = found.read_text("RECORD")
    if record is None:
        return [str(each) for each in found.files or ()]
    return [line.partition(",")[0].strip('"') for line in record.splitlines()]


def _tried(plugins: Sequence[metadata.EntryPoint]) -> dict[str, str]:
    """Import plugins, and the packages beside them, in a process of its own; return which fail, and why."""
    reader, writer = os.pipe()
    if not (child := os.fork()):
        try:
            os.write(writer, json.dumps(_failures(plugins)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {}


def _failures(plugins: Sequence[metadata.EntryPoint]) -> dict[str, str]:
    why_not = importlib.import_module(f"{PLUGIN}.missing").why_not  # the plugin is above, and knows what brings a module here
    found = {}
    for plugin in plugins:
        files = [each.split("/") for each in listed_files(plugin.dist)] if plugin.dist else []
        beside = {each[0] for each in files if each[1:] == ["__init__.py"]}
        for module in (plugin.module, *sorted(beside)):  # a plugin may import its package late
            try:
                importlib.import_module(module)
            except Exception as error:
                found[plugin.name] = why_not(error)
                break
    return found


def with_the_plugin(names: str) -> str:
    """Add this plugin to a value of PYTEST_PLUGINS; in a lab no entry point loads it."""
    return ",".join([*filter(None, names.split(",")), PLUGIN])


class Entry:
    """Files that leave the lab: those below a folder that a pattern names, and all that is below a folder of that name."""

    def __init__(self, base: str, pattern: Sequence[str], always: bool = False) -> None:
        self.base, self.pattern = Path(base), tuple(pattern)
        self.always = always
        """True if it is copied after every test, so that little is lost if the lab dies."""

    def has(self, below: PurePosixPath) -> bool:
        """Return whether a path relative to the base is kept."""
        parts = below.parts
        return len(parts) >= len(self.pattern) and all(map(fnmatchcase, parts, self.pattern))

    def may_have(self, below: PurePosixPath) -> bool:
        """Return whether a folder, relative to the base, may contain what is kept."""
        return all(map(fnmatchcase, below.parts, self.pattern))

    def walk(self, top: Path) -> Iterator[PurePosixPath]:
        """Yield the paths that are kept, without folders below a folder that stands for the base."""
        return _walk(top, PurePosixPath(), self.may_have, self.has)


class Walls:
    """Writable folders of a session in a lab: all of them, in memory; only the entries leave it."""

    def __init__(
        self, trees: Sequence[str] = (), entries: Sequence[Entry] = (), logs: Sequence[tuple[str, str]] = (),
        elsewhere: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        """elsewhere: where the lab has the host's folder of a tree, if not at its own path."""
        self._trees = [Path(each) for each in trees]
        self._elsewhere = elsewhere or {}
        self._entries = entries
        self._logs = logs
        self._copied: dict[Path, tuple[int, int]] = {}

    @classmethod
    def of(cls, handed: dict[str, Json]) -> Walls:
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

    def _cover(self, tree: Path, own: Path) -> None:
        for name in ("lower", "upper", "work"):
            (own / name).mkdir(parents=True)
        source = self._elsewhere.get(str(tree), str(tree))
        about = os.stat(source)
        os.chown(own / "upper", about.st_uid, about.st_gid)
        os.chmod(own / "upper", stat.S_IMODE(about.st_mode))
        inner = [(each, os.open(each, os.O_PATH | os.O_CLOEXEC)) for each in mounts_below(tree)]
        mount(source, str(own / "lower"), "", "", _BIND)
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
        """Copy what is kept to OUT, unless it was copied as it is; return the rest, which cannot be kept.

        final: all of it, not only what is to be copied after every test.
        """
        odd: list[str] = []
        for number, entry in enumerate(self._entries):
            if not (final or entry.always):
                continue
            top = self._of(entry.base, "upper") or entry.base
            for below in entry.walk(top):
                try:
                    what = self.copy_file(top / below, Path(OUT, KEPT, str(number), below))
                except FileNotFoundError:  # a test's own process is still at work there
                    continue
                except OSError as error:
                    what = error.strerror
                if what:
                    odd.append(f"{entry.base / below} ({what})")
        return odd

    def copy_file(self, source: Path, target: Path) -> str | None:
        """Copy a file, if it is one and has changed; return what it is otherwise. Raises OSError."""
        about = source.lstat()
        now = (about.st_mtime_ns, about.st_size)
        if _is_deletion(about) or self._copied.get(target) == now:
            return None
        if stat.S_ISLNK(about.st_mode):
            return None if source.name.endswith("current") else LINK  # pytest has links of that name
        if not stat.S_ISREG(about.st_mode):
            return OTHER
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".slownet-{socket.gethostname()}")
        draft.unlink(missing_ok=True)
        shutil.copyfile(source, draft, follow_symlinks=False)
        os.chmod(draft, 0o700 if about.st_mode & 0o100 else 0o600)
        os.replace(draft, target)
        self._copied[target] = now
        return None

    def finish(self) -> None:
        """Copy what is kept, and describe what is not, and what was deleted."""
        if not self._trees and not self._entries:
            return
        left = [*self.copy(), *self._not_kept()]
        gone = [(number, str(below)) for number, entry in enumerate(self._entries) for below in self._deleted(entry)]
        for name, value in ((LEFT, left), (GONE, gone)):
            if value:
                try:
                    write_whole(Path(OUT, name, f"{socket.gethostname()}.json"), json.dumps(value[:NAMES]))
                except OSError as error:
                    print(f"slownet: cannot write {name} ({error.strerror})", file=sys.stderr)

    def _deleted(self, entry: Entry) -> Iterator[PurePosixPath]:
        top = self._of(entry.base, "lower")
        if top is not None:
            yield from (below for below in entry.walk(top) if not os.path.lexists(entry.base / below))

    def _not_kept(self) -> Iterator[str]:
        """Yield the paths of what was written or deleted in the session's folders and does not leave the lab."""
        logs = {Path(path) for path, _ in self._logs}
        for number, below, written in self.changes():
            path = self._trees[number] / below
            if path not in logs and not self._keeps(path):
                yield str(path) if written else f"{path} (deleted)"

    def changes(self) -> Iterator[tuple[int, PurePosixPath, Path | None]]:
        """Yield what was written or deleted in the trees: a tree's number, the path below it, and where it is now, if it is."""
        for number in range(len(self._trees)):
            upper = Path(MEMORY, str(number), "upper")
            for below in _walk(upper, PurePosixPath(), lambda folder: folder.name != "__pycache__", lambda path: True):
                yield number, below, None if _is_deletion((upper / below).lstat()) else upper / below

    def _keeps(self, path: Path) -> bool:
        return any(
            path.is_relative_to(each.base) and each.has(PurePosixPath(path.relative_to(each.base))) for each in self._entries
        )


def _walk(top: Path, below: PurePosixPath, enter: Any, wanted: Any) -> Iterator[PurePosixPath]:
    """Yield what is not a folder below top/below, without following links."""
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


def write_whole(path: Path, text: str) -> None:
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
