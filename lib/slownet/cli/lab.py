"""`slownet lab`: builds the lab, runs a command or a shell in it, describes it, and removes what is no longer used."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from slownet.cli import image
from slownet.cli.helping import Group
from slownet.cli.option_fields import Shown, of_fields
from slownet.cli.options import FOR_INPUT, LAB, OF_LABS, KernelOption, SystemOption
from slownet.lab.build import cache
from slownet.lab.build.parts import BUILD_WIDE, Parts
from slownet.lab.build.project import Project
from slownet.lab.run import caller, foreground
from slownet.lab.run.clock import check_limit
from slownet.lab.run.place import here
from slownet.model.options import stated
from slownet.runner.where import Where

IN_A_LAB = {"place": {"default": "lab"}}


@dataclass(frozen=True)
class ExecOptions:
    """The option of one command in a lab, besides which lab it is."""

    limit: str | None = field(
        default=None,
        metadata=stated("TIME", "End the lab after this long without output, in its own time. Default: 720h; exact: 6h."),
    )


app = typer.Typer(cls=Group, help="Build or use the lab, a Linux kernel as one ordinary process.")


@app.command()
def build(
    system: SystemOption = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Only what first results need: no kernel is compiled where QEMU is installed; labs are on the exact clock.",
        ),
    ] = False,
    kernel: KernelOption = None,
) -> None:
    """Build the lab's kernel and image, and the layer of this project's own packages, unless they exist already."""
    from slownet.lab.build import bytecode, parts
    from slownet.lab.build.project import check_kernel
    from slownet.lab.exact import emulator
    from slownet.transfer import offered

    if system:
        cache.use_system()
    if kernel is not None:
        check_kernel(kernel, "--kernel")

    def say(line: str) -> None:
        sys.stderr.write(f"lab: {line}\n")  # whole lines, from several threads

    def report(what: str, done: bool) -> None:
        say(f"{what} {'ready' if done else '...'}")

    project = here()
    offered.take(project, say)
    only_exact = quick and emulator.is_installed() and not parts.has_kernel()
    built = parts.build(report, only_exact=only_exact and kernel is None)
    if wanted := kernel or (project.kernel if project and not only_exact else ""):
        built = parts.build_kernel(built, wanted, report)
    if (stale := bytecode.stale()) and not only_exact:  # exact labs get copies of the sources alone
        report("bytecode", False)
        bytecode.make(built, stale)
        report("bytecode", True)
    if project and project.needs_layer:
        report("layer", False)
        built = parts.build_layer(built, project)
        report("layer", True)
    print(_table(_describe(built, project)))


@app.command("exec", context_settings={"ignore_unknown_options": True})
@of_fields
def execute(
    command: Annotated[list[str], typer.Argument(metavar="COMMAND", help="The command and its arguments, best after --.")],
    options: ExecOptions,
    where: Annotated[Where, Shown(OF_LABS, (*LAB, "share"), IN_A_LAB)],
) -> None:
    """Run one command in a new lab and pass on its output, errors and exit status."""
    chosen = replace(where, share=()).choose(exact=True)
    if options.limit is not None:
        chosen.clock = replace(chosen.clock, limit_s=check_limit(options.limit))
    shares = caller.shares_of(where.share)
    terminal = foreground.are_terminals(0, 1, 2) and not chosen.clock.is_exact  # to which nothing comes from outside
    raise typer.Exit(foreground.run_here(chosen, command, shares, terminal))


@app.command()
@of_fields
def shell(
    where: Annotated[Where, Shown(OF_LABS, (*LAB, "share"), {**FOR_INPUT, **IN_A_LAB})],
) -> None:
    """Open a shell in a new lab, on the real clock by default: a virtual clock jumps ahead while you think."""
    chosen = replace(where, share=()).choose(or_real=True)
    shares = caller.shares_of(where.share)
    raise typer.Exit(foreground.run_here(chosen, ["bash", "-i"], shares, terminal=foreground.are_terminals(0)))


@app.command()
def info() -> None:
    """Show this machine's lab (kernel, image, TDF) and whether it can run without one."""
    from slownet.lab.build import layer, parts
    from slownet.lab.host import native
    from slownet.lab.run import confinement

    found, project = parts.find_usable(), here()
    if found and project and project.needs_layer:
        found = replace(found, layer=layer.find(project, found.image))
    lines = {"cache": str(cache.root())}
    system = cache.system_root()
    lines |= {"system": str(system)} if system and system.is_dir() else {}
    lines |= _describe(found, project) if found else {"lab": "not built: slownet lab build"}
    lines["confined"] = confinement.describe(confinement.landlock())
    missing = native.lacks()
    lines["native"] = f"no: this machine lacks {', '.join(missing)}" if missing else "yes"
    print(_table(lines))


app.add_typer(image.app, name="image")


@app.command()
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, e.g. lab.tar.")],
    images: Annotated[bool, typer.Option("--images", help="Include the kept container images.")] = False,
) -> None:
    """Write this machine's lab to one file: kernel, image and the layers of projects, for `slownet lab import`.

    What was measured of this machine is not in it. The same lab gives the same bytes.
    """
    from slownet.transfer.export import write
    from slownet.transfer.lab_download import source

    written = write(file, here(), images)
    print(f"exported  {file}, {written.size / 2**20:.1f} MB: {_counted(written.folders)}")
    print(f"content   sha256={source(str(file)).sha256}")


@app.command("import")
def import_(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A file that `slownet lab export` wrote, a pipe, or http://HOST/FILE#sha256=..."),
    ],
    system: SystemOption = False,
) -> None:
    """Put a lab from a file into the cache, so that it need not be built here. All of it is checked before."""
    from slownet.lab.build import cache, parts
    from slownet.lab.run.place import charged
    from slownet.transfer import lab_download
    from slownet.transfer.unpack import read

    if system:
        cache.use_system()
    if lab_download.URL.match(file) or lab_download.BY_HASH.fullmatch(file):
        new = lab_download.take(lab_download.source(file))
    else:
        _, new = read(Path(file))
    print(f"imported  {_counted(new)}" if new else "imported  nothing: all of it is here already")
    if system:
        charged(parts.need())  # measured once for all accounts


@app.command()
def key() -> None:
    """Print the key of this version's lab, and of this project's layer: what a CI service's cache is to be keyed by.

    The key is the same on all machines of one architecture, and needs no lab. It changes if the lab has to be built anew.
    """
    from slownet.lab.build import parts

    print(parts.key(here()))


@app.command()
def clean(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be removed.")] = False,
    system: SystemOption = False,
) -> None:
    """Remove what this version and the projects on this machine do not need, or can make and fetch again; show what stays.

    That is: kernels and images of other versions, layers that no project uses, snapshots, and packages of `slownet costs`.
    """
    from slownet.lab.build import cache_cleanup, parts

    if system:
        cache.use_system()
    kept, gone = cache_cleanup.entries(parts.need())
    sizes = [each.size for each in gone]
    for each in gone:
        print(f"{'would remove' if dry_run else 'removing'} {each}")
        if not dry_run:
            cache_cleanup.remove(each)
    for each in kept:
        print(f"keeping {each}")
    if not dry_run:
        cache_cleanup.forget_projects()
    freed = sum(sizes) / 2**20
    print(f"{'would free' if dry_run else 'freed'} {freed:.1f} MB" if gone else "there is nothing to remove")


def _table(lines: Mapping[str, str]) -> str:
    return "\n".join(f"{name:<10}{text}" for name, text in lines.items())


def _describe(found: Parts, project: Project | None) -> dict[str, str]:
    from slownet.lab.build import kernel as own_kernel
    from slownet.lab.build import kernel_package
    from slownet.lab.host import calibrate, counter
    from slownet.lab.run.place import charged

    image = f"{found.image.description}, {found.image.path.stat().st_size / 2**20:.0f} MB"
    if not found.own_kernel:
        own = kernel_package.find()
        exact = f"kernel {own.description}" if own else "Debian's kernel is fetched when it is asked for"
        lines = {"kernel": "not built, so labs are on the exact clock: slownet lab build", "exact": exact, "image": image}
        return {**lines, **_of_project(found, project)}
    scope = counter.scope()
    measured = charged(found)
    if not scope:
        cpu = f"time: {'; '.join(counter.why_not())}"
    elif "counter" in measured:
        cpu = f"work, by the {scope}'s counter: {measured['price']} times the CPU of charging time"
    else:
        price = calibrate.work(found, scope)["price"]
        cpu = f"time: charging work (--cpu work) takes {price} times as much CPU, more than {calibrate.WORTH}"
    wide = own_kernel.find(own_kernel.WIDE)
    built = wide.description if wide else f"not built: {BUILD_WIDE}"
    lines = {"kernel": found.kernel.description, "wide": built, "image": image, **_of_project(found, project), "cpu": cpu}
    lines["tdf"] = f"{measured['tdf']} (measured {measured['ratio']})"
    return lines


def _of_project(found: Parts, project: Project | None) -> dict[str, str]:
    if not project:
        return {}
    lines = {"file": str(project.file)}
    if found.layer:
        size = found.layer.path.stat().st_size / 2**20
        lines["layer"] = f"{found.layer.key}, {size:.1f} MB: {', '.join(found.layer.asked)}"
    elif project.needs_layer:
        lines["layer"] = "not built: slownet lab build"
    return lines | ({"share": ", ".join(each.text for each in project.shares)} if project.shares else {})


def _counted(folders: Iterable[str]) -> str:
    """Return what is in the file: "kernel, init, image, 2 layers"."""
    counts = Counter(each.partition("/")[0] for each in folders)
    several = {"layer": "layer", "containers": "container image"}
    single = [kind for kind in ("kernel", "init", "image") if counts[kind]]
    single += ["wide kernel"] if counts["kernel"] > 1 else []
    return ", ".join(
        [*single, *(f"{counts[kind]} {word}{'s' * (counts[kind] > 1)}" for kind, word in several.items() if counts[kind])]
    )
