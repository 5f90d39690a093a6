"""`slownet lab export`, `import` and `key`: a built lab as one file, for CI caches, classrooms and other machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from slownet.cli.options import SystemOption
from slownet.lab.run.place import here


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
    print(f"exported  {file}, {written.size / 2**20:.1f} MB: {_said(written.folders)}")
    print(f"content   sha256={source(str(file)).sha256}")


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
    print(f"imported  {_said(new)}" if new else "imported  nothing: all of it is here already")
    if system:
        charged(parts.need())  # measured once for all accounts


def key() -> None:
    """Print the key of this version's lab, and of this project's layer: what a CI service's cache is to be keyed by.

    The key is the same on all machines of one architecture, and needs no lab. It changes if the lab has to be built anew.
    """
    from slownet.lab.build import parts

    print(parts.key(here()))


def _said(folders: Iterable[str]) -> str:
    """Return what is in the file: "kernel, init, image, 2 layers"."""
    counts = Counter(each.partition("/")[0] for each in folders)
    several = {"layer": "layer", "containers": "container image"}
    single = [kind for kind in ("kernel", "init", "image") if counts[kind]]
    single += ["wide kernel"] if counts["kernel"] > 1 else []
    return ", ".join(
        [*single, *(f"{counts[kind]} {word}{'s' * (counts[kind] > 1)}" for kind, word in several.items() if counts[kind])]
    )
