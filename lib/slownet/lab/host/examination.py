"""Examines this machine: what slownet can do on it, and the command that fixes each problem."""

from __future__ import annotations

import getpass
import os
import platform
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet.lab.build import cache, debian, image, init, kernel, kernel_package, parts
from slownet.lab.build.shelf import Shelf
from slownet.lab.exact import emulator, packed, standstill
from slownet.lab.host import counter, cpu, native
from slownet.lab.host import memory as machine_memory
from slownet.lab.run import confinement
from slownet.lab.run.boot import memory_folder
from slownet.lab.run.clock import Clock
from slownet.lab.run.lab import MEGABYTES
from slownet.model.errors import DamagedError, LabError
from slownet.model.options import MEMORY

BUILD, CLEAN = "slownet lab build", "slownet lab clean"
NATIVE_PACKAGES = {"mn": "mininet", "ovs-vsctl": "openvswitch-switch", "ovs-vswitchd": "openvswitch-switch", "tc": "iproute2"}
SWITCHES = {
    "kernel/apparmor_restrict_unprivileged_userns": ("1", "kernel.apparmor_restrict_unprivileged_userns=0"),
    "kernel/unprivileged_userns_clone": ("0", "kernel.unprivileged_userns_clone=1"),
    "user/max_user_namespaces": ("0", "user.max_user_namespaces=10000"),
}
"""Files of /proc/sys whose value denies user namespaces: {file: (that value, the sysctl that fixes it)}."""


@dataclass(frozen=True)
class Finding:
    """One thing that this machine has or lacks.

    Parameters
    ----------
    name : str
        The thing, in a word.
    good : bool
        Whether the machine has it.
    text : str
        What was found.
    repair : str
        What fixes a problem: a command where one does; empty if nothing is missing, or nothing helps.
    needed : bool
        Whether nothing can be measured without it.
    """

    name: str
    good: bool
    text: str
    repair: str = ""
    needed: bool = True

    def to_json(self) -> dict[str, object]:
        """Return the fields as a dict for JSON."""
        return dict(vars(self))


def examine() -> Iterator[Finding]:
    """Yield the findings, from the machine itself to what can be measured on it."""
    found, damage, has_image = None, None, False
    try:
        found, has_image = parts.find(), image.find() is not None
    except LabError as error:  # damaged, or there is no compiler for init
        damage = error
    yield system()
    yield Finding("python", True, f"{platform.python_version()}, {sys.executable}")
    yield memory()
    yield disk(built=found is not None)
    if not found:
        yield from to_build()
    exact = emulated()
    yield lab(found, damage, has_exact=has_image and exact.good)
    yield confined(confinement.landlock())
    yield counted()
    yield exact
    yield without_a_lab(native.lacks())


def verify(shelves: Iterable[Shelf[Any]]) -> Iterator[Finding]:
    """Read all that the caches hold of these kinds, and yield a finding for each folder: whether it is what was made."""
    now = parts.keys()
    for shelf in shelves:
        for folder in shelf.every():
            try:
                shelf.load(folder, full=True)
            except DamagedError as error:
                is_of_another = now.get(shelf.kind, folder.name) != folder.name and folder.name != kernel.key(kernel.WIDE)
                yield Finding(shelf.kind, False, f"{error.what}, {error.where}", CLEAN if is_of_another else error.fix)
            else:
                size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file()) / 2**20
                yield Finding(shelf.kind, True, f"{folder}, {size:.1f} MB, as it was made")


def system() -> Finding:
    """Find out whether a lab's kernel, which is compiled for x86-64, can run here."""
    machine, name = platform.machine(), f"{platform.system()} {platform.release()}"
    text = f"{name}, {machine}, {cpu.count()} processor{'s' * (cpu.count() > 1)}"
    good = platform.system() == "Linux" and machine == "x86_64"
    return Finding("system", good, text, "" if good else "use a machine or VM with Linux on x86-64")


def memory(megabytes: int = MEGABYTES) -> Finding:
    """Find out whether there is room for the memory of one lab."""
    try:
        now = machine_memory.examine()
        folder = memory_folder(megabytes, now)
    except LabError as error:
        return Finding("memory", False, error.what, error.fix)
    there = shutil.disk_usage(folder).free // 2**20 - now.promised_on(folder.stat().st_dev)
    at_once = max(0, min(there, now.free)) // megabytes
    if not at_once and not now.running:
        return Finding("memory", False, f"{now.free} MB are free, and a lab has {megabytes}", f"give labs less: {MEMORY}")
    return Finding(
        "memory", True, f"there is room for {at_once} lab{'s' * (at_once > 1)} of {megabytes} MB at once, in {folder}"
    )


def disk(built: bool) -> Finding:
    """Find out whether the cache can be written, and holds a lab that is not built yet."""
    where = cache.root()
    there = cache.there(where)
    free = shutil.disk_usage(there).free // 2**20
    text = f"{where}, {free} MB free"
    if not os.access(there, os.W_OK):
        repair = "set XDG_CACHE_HOME to a folder that you can write to"
        return Finding("cache", built, f"{where} cannot be {'written' if there == where else 'made'}", "" if built else repair)
    wanted = sum(0 if part.SHELF.has(part.key()) else part.MEGABYTES for part in (kernel, image))
    if not built and free < wanted:
        return Finding("cache", False, f"{text}; building the lab takes {wanted} MB", "free space, or set XDG_CACHE_HOME")
    return Finding("cache", True, text)


def to_build() -> Iterator[Finding]:
    """Yield what building a lab takes: programs and, for an ordinary user, user namespaces."""
    missing, packages = cache.lacking(builders())
    text = f"these programs are missing: {', '.join(missing)}" if missing else "all that building the lab takes"
    yield Finding("packages", not missing, text, f"sudo apt-get install {' '.join(packages)}" if missing else "")
    if os.geteuid() != 0:
        yield namespaces()


def builders() -> dict[str, str]:
    """Return the programs that build what is missing of a lab, {program: Debian package}."""
    found = dict(debian.PROGRAMS)
    for shelf, key, programs in (
        (kernel.SHELF, kernel.key(), kernel.PROGRAMS),
        (image.SHELF, image.key(), image.PROGRAMS),
        (init.SHELF, init.key(), init.PROGRAMS),
    ):
        found |= {} if shelf.has(key) else programs
    return found


def namespaces(root: Path = Path("/"), user: str | None = None) -> Finding:
    """Find out whether an ordinary user may have user namespaces with more than one user, in which the image is made."""
    if native.succeeds(["unshare", "--user", "--map-auto", "--map-root-user", "true"]):
        return Finding("namespaces", True, "user namespaces for ordinary users")
    for name, (denies, repair) in SWITCHES.items():
        if _read(root / "proc/sys" / name) == denies:
            return Finding("namespaces", False, f"/proc/sys/{name} denies user namespaces", f"sudo sysctl {repair}")
    who = user or getpass.getuser()
    if f"\n{who}:" not in "\n" + _read(root / "etc/subuid"):
        repair = f"sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 {who}"
        return Finding("namespaces", False, f"/etc/subuid has no range for {who}", repair)
    if not shutil.which("newuidmap", path=cache.search_path()):
        return Finding("namespaces", False, "the program newuidmap is missing", "sudo apt-get install uidmap")
    return Finding("namespaces", False, "this machine or its container denies user namespaces", f"sudo {BUILD}")


def lab(found: parts.Parts | None, damage: LabError | None = None, has_exact: bool = False) -> Finding:
    """Find out whether the lab is built, and boots. damage: why it cannot; has_exact: whether one on the exact clock does."""
    if damage:
        return Finding("lab", False, ", ".join(filter(None, [damage.what, damage.where])), damage.fix)
    if not found and has_exact:
        return Finding("lab", False, "its own kernel is not built; labs on the exact clock do without", BUILD, needed=False)
    if not found:
        return Finding("lab", False, "it is not built", BUILD)
    began = time.monotonic()
    try:
        status = found.lab(Clock("real")).run(["true"])
    except LabError as error:
        return Finding("lab", False, error.what, error.fix)
    took = time.monotonic() - began
    if status:
        return Finding("lab", False, f"`true` ended with status {status} in it", BUILD)
    return Finding("lab", True, f"{found.kernel.description} boots and ends in {took:.1f} s")


def confined(landlock: int) -> Finding:
    """Find out whether Landlock confines labs to their own files, given its version (see `confinement.landlock`)."""
    good, _, said = confinement.describe(landlock).partition(": ")
    text, _, repair = said.partition(": ")
    return Finding("confined", good == "yes", text, repair, needed=False)


def counted() -> Finding:
    """Find out whether instructions can be counted, so that numbers do not depend on what else the machine does."""
    scope = counter.scope()
    if scope:
        return Finding("counter", True, f"instructions are counted by the {scope}", needed=False)
    why, repair = counter.why_not()
    return Finding("counter", False, f"{why}; CPU time is charged, which varies", repair, needed=False)


def emulated() -> Finding:
    """Find out whether labs on the exact clock run here, which needs no counter and no kernel of ours."""
    try:
        found, packer = emulator.version(), shutil.which(packed.PROGRAM)
        tried = emulator.is_tried(found)
    except LabError as error:
        return Finding("exact", False, error.what, error.fix, needed=False)
    if not packer:
        text = f"labs on the exact clock need {packed.PROGRAM}, which is not installed"
        return Finding("exact", False, text, f"apt-get install {packed.PACKAGE}", needed=False)
    there = "" if kernel_package.SHELF.has(kernel_package.key()) else "; the first one fetches Debian's kernel (35 MB)"
    known = "" if tried else ", a version that was not tried"
    there += f"; {size / 1e6:.0f} MB of snapshots, with which they begin" if (size := standstill.size()) else ""
    return Finding("exact", True, f"QEMU {found}{known}: labs on the exact clock{there}", needed=False)


def without_a_lab(lacking: Sequence[str]) -> Finding:
    """Describe whether links can be emulated by this machine's own kernel (native mode), from what it lacks for that."""
    if not lacking:
        return Finding("native", True, "this machine's own kernel can emulate links, too", needed=False)
    if list(lacking) == ["root"]:
        return Finding("native", False, "only root can use this machine's own kernel", "sudo slownet doctor", needed=False)
    names = [each.removeprefix("the program ") for each in lacking]
    packages = sorted({NATIVE_PACKAGES[each] for each in names if each in NATIVE_PACKAGES})
    repairs = [f"apt-get install {' '.join(packages)}"] if packages else []
    if set(names) - set(NATIVE_PACKAGES):
        repairs.append("boot a kernel with sch_netem, sch_htb and openvswitch")
    text = f"this machine's own kernel cannot emulate links: no {', '.join(names)}"
    return Finding("native", False, text, "; ".join(repairs), needed=False)


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
