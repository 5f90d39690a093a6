"""Builds the lab's kernel: User-Mode Linux from Debian's linux-source with the project's virtual clock.

It is built once per machine. Debian's backports bring a new kernel every few weeks: the newest one that takes the patches,
compiles and boots is used, down to the kernel of the image's release.

There are two, of the same source and patches. The base kernel has what most labs use. The wide one has besides what Debian's
kernel can do with networks (tunnels, IPsec, VRF, MPLS, all queues and filters), takes twice as long to compile, and is built
only if someone asks for that. Neither has modules: all is built in.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from slownet.lab.build import cache, debian, digests, distribution, module_names
from slownet.lab.build.digests import TEXT, Part
from slownet.lab.build.shelf import Shelf
from slownet.model.beside import beside
from slownet.model.errors import LabError

# Progress of a long step of a build, which logs a line for each file: how much is done, and how long the rest takes.

Say = Callable[[str], None]
_COMPILED_FILE = re.compile(rb"^  (?:CC|AS)  +", re.M)
"""The lines of the kernel's makefiles that name a file which is compiled."""
FIRST_S, EVERY_S = 15.0, 60.0
ENOUGH = 0.05
"""The share of the files after which the time for the others is estimated: the first ones are small."""


def sentence(done: int, total: int, seconds: float) -> str:
    """Return how far a step is.

    Parameters
    ----------
    done, total : int
        Files; 0 for a total that is not known. More than the total may come: another release has other files.
    seconds : float
        Since the step began.
    """
    if not total:
        return f"{done} files compiled"
    said = f"{done} of some {max(total, done)} files compiled"
    if done < ENOUGH * total or done >= total:
        return said
    minutes = round(seconds * (total - done) / done / 60)
    return f"{said}, about {max(minutes, 1)} minute{'s' if minutes > 1 else ''} left"


@contextlib.contextmanager
def reported(log: Path, total: int, say: Say) -> Iterator[None]:
    """Report once a minute how far a step is while the block runs, from the lines that it adds to its log."""
    before = log.stat().st_size if log.exists() else 0

    def report(ended: threading.Event) -> None:
        began = time.monotonic()
        wait = FIRST_S
        while not ended.wait(wait):
            done = _compiled(log, before)
            say(sentence(done, total, time.monotonic() - began))
            wait = EVERY_S

    with beside(report):
        yield


def _compiled(log: Path, before: int) -> int:
    """Count the files in what was added to a log."""
    with open(log, "rb") as file:
        file.seek(before)
        return len(_COMPILED_FILE.findall(file.read()))


# The series of patches that make the lab's kernel: the newest is stored whole, an older one as what differs from it.
#
# A series is a folder, named after the first release that it applies to. Its file `series`, if it has one, lists the patches
# that it takes from the newest series, in their order, as quilt's does. `NAME.diff` beside it changes the text of that patch:
# there the two kernels differ, and the patch reports by itself what it does to each of them.

LIST = "series"
_CHANGED = re.compile(r"^(?:---|\+\+\+) [ab]/(\S+)", re.MULTILINE)
_PATCH = ["patch", "--forward", "--no-backup-if-mismatch", "--reject-file=-"]


@dataclass(frozen=True)
class Patch:
    """One patch of a series."""

    name: str
    text: str

    @property
    def files(self) -> set[str]:
        """The files of the kernel that it changes, creates or removes."""
        return set(_CHANGED.findall(self.text))

    def apply(self, tree: Path) -> bool:
        """Apply it to a kernel's source if it fits; return whether it did."""
        words = [*_PATCH, "-p1", "--fuzz=3", "--directory", str(tree)]
        return subprocess.run(words, input=self.text.encode(), capture_output=True, check=False).returncode == 0


def series_folders(root: Path) -> list[Path]:
    """Return the series in a folder, newest first."""
    return sorted((each for each in root.iterdir() if each.is_dir()), key=_release_of_series, reverse=True)


def read_series(series: Path, newest: Sequence[Patch] | None = None) -> Sequence[Patch]:
    """Return the patches of a series in their order, whole.

    `newest`: the series that it differs from, if not the newest one beside it. Raises LabError if a difference does not fit.
    """
    if not (series / LIST).exists():
        return _stored(series)
    whole = {each.name: each for each in newest or _stored(series_folders(series.parent)[0])}
    return [_as_in(series, whole[name]) for name in listed_patches(series)]


def listed_patches(series: Path) -> list[str]:
    """Return the names of the patches that a series takes from the newest one."""
    return (series / LIST).read_text(encoding="utf-8").split()


def _release_of_series(series: Path) -> list[int]:
    return [int(part) for part in series.name.split(".")]


def _stored(folder: Path) -> list[Patch]:
    return [Patch(each.name, each.read_text(encoding="utf-8")) for each in sorted(folder.glob("*.patch"))]


def _as_in(series: Path, patch: Patch) -> Patch:
    """Return a patch of the newest series as another one has it."""
    difference = series / f"{patch.name}.diff"
    if not difference.exists():
        return patch
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / patch.name
        file.write_text(patch.text, encoding="utf-8")
        done = subprocess.run([*_PATCH, "--fuzz=0", file, difference], capture_output=True, check=False)
        if done.returncode:
            fix = "restore that folder as it was installed, or carry what differs over with tests/kernels/carry.py"
            raise LabError(f"{series.name}/{difference.name} does not fit that patch", where=str(series), fix=fix)
        return Patch(patch.name, file.read_text(encoding="utf-8"))


FILES = Path(__file__).with_name("linux")
PROGRAMS = {
    "gcc": "gcc", "make": "make", "flex": "flex", "bison": "bison", "bc": "bc", "patch": "patch", "perl": "perl",
    "tar": "tar", "strip": "binutils",
}  # fmt: skip
BASE, WIDE = "base", "wide"
KINDS = (BASE, WIDE)
FRAGMENTS: Mapping[str, Sequence[str]] = {BASE: (), WIDE: ("wide.config",)}
COMPILED = {BASE: 1150}
"""Files that are compiled, a few more or fewer in the next release: for an estimate of the time that is left."""
"""The configuration of each kind of kernel beyond lab.config."""
NAMES = "wide.modules"
"""The modules that only the wide kernel has, by which they are named where it is not built."""
MEGABYTES = 3500
MOST_RELEASES = 4  # how many of Debian's kernels to try, newest first
# 400 of the 1.6 GB of source, which the build never reads: skipping them saves time and disk.
LEFT_OUT = ["*/drivers/gpu/*.[ch]", "*/drivers/net/ethernet/*.[ch]", "*/drivers/net/wireless/*.[ch]", "*/drivers/media/*.[ch]",
            "*/sound/*.[ch]", "*/Documentation/*/*", "*/tools/testing/*", "*/arch/*/boot/dts/*"]  # fmt: skip


@dataclass(frozen=True)
class Kernel:
    """A built kernel: one executable file."""

    path: Path
    release: str
    source: str
    kind: str = BASE

    @property
    def description(self) -> str:
        """The kernel's name in records: empty for the base kernel, which is the default."""
        return f"{self.release} (User-Mode Linux, {self.source}{', wide' if self.kind == WIDE else ''})"

    @cached_property
    def modules(self) -> Mapping[str, str]:
        """The modules that are built in, by their names and aliases."""
        return module_names.parsed(self.path.with_name(MODULES).read_text(encoding="utf-8"))

    @property
    def arguments(self) -> list[str]:
        """Kernel arguments for this release: the faster way to run user space, if it has one."""
        return ["seccomp=auto"] if tuple(map(int, self.release.split(".")[:2])) >= (6, 16) else []


Trial = Callable[[Kernel], None]
"""Is called with a kernel that was just built, and raises LabError if it is of no use."""


def key(kind: str = BASE) -> str:
    """Return what a kernel of this version is kept under."""
    others = {NAMES, *(name for each, names in FRAGMENTS.items() if each != kind for name in names)}
    return cache.key(*sorted(path for path in FILES.rglob("*") if path.is_file() and path.name not in others))


def find(kind: str = BASE) -> Kernel | None:
    """Return the kernel, or None if it was not built on this machine. Raises DamagedError."""
    return SHELF.find(key(kind))


def build(trial: Trial = lambda kernel: None, kind: str = BASE, say: Say = lambda text: None) -> Kernel:
    """Return the kernel; build it if necessary (a few minutes), and keep one that passes the trial. Raises LabError.

    The last argument gets a line of progress once a minute.
    """
    return SHELF.make(key(kind), partial(_build, trial=trial, kind=kind, say=say))


def kind_of(description: str) -> str:
    """Return the kind of a kernel from its record."""
    return WIDE if description.endswith(f", {WIDE})") else BASE


def _load(folder: Path) -> Kernel:
    facts = digests.facts(folder / FACTS, PART, {"release": TEXT, "source": TEXT}, {"kind": TEXT})
    if not RELEASE.match(facts["release"]):
        raise PART.damaged(folder / FACTS, "has a 'release' that is not a version")
    return Kernel(folder / PROGRAM, facts["release"], facts["source"], facts.get("kind", BASE))


PROGRAM, FACTS, MODULES = "linux", "kernel.json", "modules"
RELEASE = re.compile(r"\d{1,9}\.\d{1,9}(?![0-9])")
PART = Part("the lab's kernel", (PROGRAM, FACTS))
SHELF = Shelf("kernel", PART, _load)


def _build(
    folder: Path,
    sources: str = distribution.SOURCES,
    configs: Sequence[Path] = (),
    trial: Trial = lambda kernel: None,
    kind: str = BASE,
    say: Say = lambda text: None,
) -> None:
    cache.need_programs(PROGRAMS, "building the lab's kernel")
    cache.need_space(cache.root(), MEGABYTES, "building the lab's kernel")
    work = folder / "work"
    work.mkdir()
    log = work / "kernel.log"
    why: LabError | None = None
    for rank in range(1, MOST_RELEASES + 1):
        say("downloading its source")
        try:
            deb = debian.download(sources, rank, work, log)
        except LabError as error:
            raise why or error from error
        try:
            say("unpacking its source")
            tree = _unpack(deb, work, log)
            _patch(tree, log)
            with reported(log, COMPILED.get(kind, 0), say):
                _compile(tree, log, [*(FILES / name for name in FRAGMENTS[kind]), *configs])
            built = Kernel(tree / "linux", _release(tree / "linux"), deb.name.removesuffix("_all.deb"), kind)
            trial(built)
        except LabError as error:
            why = error
            continue
        _keep(built, folder, log)
        shutil.rmtree(work)
        return
    assert why
    raise why


def _keep(built: Kernel, folder: Path, log: Path) -> None:
    shutil.copy(built.path, folder / PROGRAM)
    cache.run(["strip", folder / PROGRAM], log, "stripping the kernel")
    facts = {"format": digests.FORMAT, "release": built.release, "source": built.source, "kind": built.kind}
    (folder / FACTS).write_text(json.dumps(facts, indent=1) + "\n")
    (folder / MODULES).write_text(module_names.text(module_names.built_in(built.path.parent)), encoding="utf-8")
    shutil.copy(built.path.with_name(".config"), folder / "config")


def _unpack(deb: Path, work: Path, log: Path) -> Path:
    tree = work / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir()
    excludes = " ".join(f"--exclude='{pattern}'" for pattern in LEFT_OUT)
    unpack = (
        f"set -o pipefail; dpkg-deb --fsys-tarfile '{deb}' | tar -xO --wildcards './usr/src/linux-source-*.tar.xz'"
        f" | tar -xJ --strip-components=1 {excludes} -C '{tree}'"
    )
    cache.run(["bash", "-c", unpack], log, f"unpacking {deb.name}", hints=debian.HINTS)
    return tree


def _patch(tree: Path, log: Path) -> None:
    """Apply the newest patch series that fits, completely or not at all. Raises LabError."""
    refused = []
    for series in series_folders(FILES):
        patches = read_series(series)
        with tempfile.TemporaryDirectory(dir=tree.parent) as name:
            trial = Path(name)
            _copy(tree, trial, patches)
            if unfit := next((each for each in patches if not each.apply(trial)), None):
                refused.append(f"{series.name}/{unfit.name}")
                continue
            shutil.copytree(trial, tree, dirs_exist_ok=True)
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"applied the patches for {series.name}\n")
        return
    raise LabError(f"no patch series fits this kernel ({', '.join(refused)})", where=str(tree))


def _copy(tree: Path, into: Path, patches: Sequence[Patch]) -> None:
    """Copy the files of a tree that the patches change."""
    for name in set().union(*(each.files for each in patches)):
        if (tree / name).is_file():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / name, into / name)


def _compile(tree: Path, log: Path, configs: Sequence[Path] = ()) -> None:
    """Compile a patched tree. `configs`: configuration files to merge in addition to lab.config."""
    make = ["make", "ARCH=um", f"-j{os.cpu_count() or 1}", *_stamp(tree)]
    merge = ["scripts/kconfig/merge_config.sh", "-m", ".config", str(FILES / "lab.config"), *map(str, configs)]
    for step in ([*make, "tinyconfig"], merge, [*make, "olddefconfig"], [*make, "linux"]):
        cache.run(step, log, "building the lab's kernel", cwd=tree, hints=[debian.NO_SPACE])


def _stamp(tree: Path) -> list[str]:
    """Return a kernel's own description of its build: nothing of this machine, and its source's date instead of today's."""
    date = time.strftime("%a %b %e %H:%M:%S UTC %Y", time.gmtime((tree / "Makefile").stat().st_mtime))
    build = {"TIMESTAMP": date, "VERSION": "1", "USER": "slownet", "HOST": "lab"}
    return [f"KBUILD_BUILD_{name}={value}" for name, value in build.items()]


def _release(linux: Path) -> str:
    return subprocess.run([linux, "--version"], capture_output=True, text=True, check=True).stdout.strip()
