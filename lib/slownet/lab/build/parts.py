"""The parts of a lab (kernel, init and image), which are also all that a cluster's worker needs."""

from __future__ import annotations

import io
import os
import platform
import signal
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from slownet.lab.build import cache, image, init, kernel
from slownet.lab.build import layer as layers
from slownet.lab.build.kernel import Kernel
from slownet.lab.build.project import Project
from slownet.lab.build.shelf import Shelf
from slownet.lab.run import confinement
from slownet.lab.run.boot import UmlLab
from slownet.lab.run.clock import INF, Clock
from slownet.lab.run.lab import LEAST_MEGABYTES, MEGABYTES, Lab, Share
from slownet.model.errors import DamagedError, LabError
from slownet.model.options import KERNEL

# Boots a kernel that was just built, before it is kept: a program in a lab of it has to run and end.

PROGRAM = "/probe"
FOLDERS = ("dev", "run")


def boot(built: Kernel) -> None:
    """Boot a kernel with an image that holds one program. Raises LabError if the kernel dies or the program fails."""
    tools = init.build()
    with tempfile.TemporaryDirectory(dir=built.path.parent) as name:
        root = Path(name) / "image.squashfs"
        _squash(tools / "probe", root)
        lab = UmlLab(
            kernel=built, init=tools / "init.cpio", confine=tools / "confine", image=root,
            clock=Clock("virtual"), megabytes=LEAST_MEGABYTES,
        )  # fmt: skip
        try:
            status = lab.run([PROGRAM, "nothing"])
        except LabError as error:
            raise LabError(f"{built.release} was built and does not boot: {error.what}", fix=error.fix) from error
    if status:
        raise LabError(f"{built.release} was built and boots, but programs fail in it (status {status})")


def _squash(program: Path, target: Path) -> None:
    """Make an image of one program and the folders that init needs."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for name in FOLDERS:
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(folder)
        tar.add(program, PROGRAM.lstrip("/"))
    with cache.start(image.squash(target), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as squash:
        said = squash.communicate(data.getvalue())[1].decode(errors="replace")
    if squash.returncode:
        raise LabError(f"cannot make an image ({squash.returncode}): {said.strip()}")


T = TypeVar("T")
BUILD, BUILD_WIDE = "slownet lab build", KERNEL.in_command("lab build", "wide")
Report = Callable[[str, bool], None]
"""Statuses of a command, by itself or in a shell, whose program or a library of it may be damaged."""


@dataclass(frozen=True)
class Parts:
    """A built kernel and image, the folder of init, confine and probe, and a project's layer if it needs one."""

    own_kernel: kernel.Kernel | None
    """None if it was not built: labs on the exact clock do without."""
    image: image.Image
    tools: Path  # init.cpio, confine, probe and absent.so
    layer: layers.Layer | None = None

    @property
    def kernel(self) -> kernel.Kernel:
        """The project's kernel. Raises LabError if it was not built."""
        if not self.own_kernel:
            raise LabError("the lab's own kernel is not built on this machine, or not for this version", fix=BUILD)
        return self.own_kernel

    @property
    def description(self) -> str:
        """The parts of the root file system."""
        return ", ".join([self.image.description, *([self.layer.description] if self.layer else [])])

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the relevant packages, {package: version}."""
        return {**self.image.versions, **(self.layer.versions if self.layer else {})}

    @property
    def built(self) -> int:
        """When the newest of it was built, in seconds since 1970."""
        return max(self.image.built, self.layer.built if self.layer else 0)

    def need_kernel(self) -> None:
        """Raise LabError if the project's kernel was not built."""
        _ = self.kernel

    def with_kernel(self, kind: str) -> Parts:
        """Return them with the kernel of that kind. Raises LabError if it was not built, or if it is damaged."""
        if kind == kernel.BASE:
            return self
        self.need_kernel()  # who has none has to build the lab before anything else
        try:
            found = kernel.find(kind)
        except DamagedError as error:
            raise DamagedError(error.what, error.where, error.fix.replace(BUILD, BUILD_WIDE)) from error
        if not found:
            raise LabError(
                "the wide kernel is not built on this machine, or not for this version", KERNEL.set("wide"), BUILD_WIDE
            )
        return replace(self, own_kernel=found)

    def with_layer(self, project: Project | None) -> Parts:
        """Return them with what a project needs. Raises LabError if that was not built."""
        return replace(self, layer=layers.need(project, self.image)) if project and project.needs_layer else self

    def lab(self, clock: Clock, *, megabytes: int = MEGABYTES, shares: Sequence[Share] = ()) -> Lab:
        """Return a lab of these parts, not yet booted."""
        table = Share(self.kernel.path.parent, at=f"/lib/modules/{self.kernel.release}")  # of the modules, for modprobe
        is_readable = os.access(table.path, os.R_OK | os.X_OK)  # a user who cannot read it has a lab without
        return UmlLab(
            kernel=self.kernel, init=self.tools / "init.cpio", confine=self.tools / "confine", image=self.image.path,
            layer=self.layer.path if self.layer else None, clock=clock, megabytes=megabytes,
            shares=[table, *shares] if is_readable else shares, verify=self.verify,
        )  # fmt: skip

    def verify(self) -> None:
        """Read all files of the parts. Raises LabError if one is damaged."""
        if self.own_kernel:
            kernel.SHELF.load(self.own_kernel.path.parent, full=True)
        init.SHELF.load(self.tools, full=True)
        image.SHELF.load(self.image.path.parent, full=True)
        if self.layer:
            layers.SHELF.load(self.layer.path.parent, full=True)


def keys() -> dict[str, str]:
    """Return what the parts of this version are kept under."""
    return {"kernel": kernel.key(), "init": init.key(), "image": image.key()}


def key(project: Project | None) -> str:
    """Return one key of all that `slownet lab build` makes, for a project if there is one; nothing need be built for it."""
    own = [layers.key(project, image.key())] if project and project.needs_layer else []
    return f"{platform.machine()}-{cache.key(*keys().values(), *own)}"


def find() -> Parts | None:
    """Return the parts, or None if kernel or image were not built on this machine. Raises LabError if a part is damaged."""
    parts = find_usable()
    return parts if parts and parts.own_kernel else None


def find_usable() -> Parts | None:
    """Return the parts, perhaps without the kernel, or None if the image was not built. Raises LabError if one is damaged."""
    own_kernel, own_image = kernel.find(), image.find()
    return Parts(own_kernel, own_image, init.need()) if own_image else None


def need() -> Parts:
    """Return the parts. Raises LabError if they were not built, or if one is damaged."""
    parts = usable()
    parts.need_kernel()
    return parts


def usable() -> Parts:
    """Return the parts, perhaps without the kernel. Raises LabError if the others were not built, or if one is damaged."""
    parts = find_usable()
    if not parts:
        raise LabError("the lab is not built on this machine, or not for this version", fix=BUILD)
    return parts


def has_kernel() -> bool:
    """Return whether the project's kernel is built and whole; what is damaged is built anew."""
    return _whole(kernel.SHELF, kernel.key()) is not None


def build(report: Report = lambda what, done: None, *, only_exact: bool = False) -> Parts:
    """Build the parts that are missing or damaged, kernel and image in parallel; `report(what, done)` gets the progress.

    only_exact: what labs on the exact clock need, which is all but the project's kernel.
    Raises LabError.
    """
    from slownet.lab.build import kernel_package  # most commands build nothing
    from slownet.lab.exact import exact

    failures: list[BaseException] = []
    labs: list[Lab] = []

    def lab(root: Path, megabytes: int, shares: Sequence[Share]) -> Lab:
        """Return a lab for the second half of an image, which needs the kernel."""
        if "kernel" in threads:
            threads["kernel"].join()
        if only_exact:
            labs.append(emulated := exact.bare(root, init.build(), megabytes, shares))
            return emulated
        if not (built := _whole(kernel.SHELF, kernel.key())):
            raise LabError("the lab's image needs the lab's kernel, which was not built", fix="slownet lab build")
        tools = init.build()
        made = UmlLab(
            kernel=built, init=tools / "init.cpio", confine=tools / "confine", image=root,
            clock=Clock("virtual", INF), megabytes=megabytes, shares=shares,
        )  # fmt: skip
        labs.append(made)
        return made

    def step(what: str, make: Callable[[], object]) -> None:
        report(what, False)
        try:
            make()
        except BaseException as error:
            failures.append(error)
        else:
            report(what, True)

    own = (kernel.SHELF, kernel.key(), partial(kernel.build, boot, say=lambda text: report(f"kernel: {text}", False)))
    debians = (kernel_package.SHELF, kernel_package.key(), kernel_package.build)
    makers: dict[str, tuple[Shelf[Any], str, Callable[[], object]]] = {
        "init": (init.SHELF, init.key(), init.build),
        "kernel": debians if only_exact else own,
        "image": (image.SHELF, image.key(), partial(image.build, lab, lambda text: report(text, False))),
    }
    steps = {
        what: make for what, (shelf, key, make) in makers.items() if not _whole(shelf, key, report) or what == "init"
    }  # init takes no time, and a line says that it is there
    threads = {what: threading.Thread(target=step, args=(what, make), daemon=True) for what, make in steps.items()}
    _attend(threads.values(), labs)
    if failures:
        raise failures[0]
    return usable() if only_exact else need()


def _whole(shelf: Shelf[T], key: str, report: Report = lambda what, done: None) -> T | None:
    """Return a part; None if it is missing or damaged and has to be built; damage is reported."""
    try:
        return shelf.find(key)
    except DamagedError as error:
        report(f"{error.what}, {error.where}: building it anew", False)
        return None


def build_kernel(found: Parts, kind: str, report: Report = lambda what, done: None) -> Parts:
    """Return the parts with the kernel of that kind; build it if it is missing or damaged. Raises LabError."""
    if kind != kernel.BASE and not _whole(kernel.SHELF, kernel.key(kind), report):
        report(f"{kind} kernel", False)
        kernel.build(boot, kind, lambda text: report(f"{kind} kernel: {text}", False))
        report(f"{kind} kernel", True)
    return found.with_kernel(kind)


def build_layer(found: Parts, project: Project) -> Parts:
    """Return the parts with what a project needs; build its layer if necessary. Raises LabError."""
    if project.require_confinement:
        confinement.need(str(project.file))

    def lab(megabytes: int, shares: Sequence[Share]) -> Lab:
        return found.lab(Clock("real"), megabytes=megabytes, shares=shares)

    return replace(found, layer=layers.build(project, found.image, lab))


def _attend(threads: Collection[threading.Thread], labs: Sequence[Lab]) -> None:
    """Run the threads to their ends. An interrupt, which reaches this thread alone, ends the builds that they wait for."""
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:
        cache.end_builds()
        for lab in labs:
            lab.signal(signal.SIGTERM)
        for thread in threads:
            thread.join()
        raise
