"""`slownet lab image`: adds container images, lists and removes them."""

from __future__ import annotations

import json
import sys
import time
from typing import Annotated

import typer

from slownet.cli import completing
from slownet.cli.helping import Group
from slownet.cli.options import JsonOption
from slownet.containers import store
from slownet.model.errors import first_of

app = typer.Typer(cls=Group, help="Keep container images, whose programs hosts of a network can run.")
LISTED = 3
"""Paths that could not be read, of those that a line names."""


@app.command()
def add(
    reference: Annotated[
        str, typer.Argument(metavar="REF", help="An archive, a folder, or an image of a registry or another store.")
    ],
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="Keep it under this name; by default under its own.")
    ] = "",
    tag: Annotated[str, typer.Option("--tag", metavar="NAME", help="The image to take from an archive with several.")] = "",
    tls_verify: Annotated[
        bool, typer.Option("--tls-verify/--no-tls-verify", help="Require a valid certificate of the registry.")
    ] = True,
) -> None:
    """Add an image: an archive of `docker save` or `podman save`, an OCI layout, a registry's image, a plain root.

    REF is a file (docker-archive, oci-archive or the tar of a root file system, compressed or not), a folder (an OCI layout or
    a root file system), or what skopeo copies from: docker://registry.example/shop:1, containers-storage:shop:1 and others. A
    name that is not a file is docker://NAME. Only the last kind needs skopeo.
    """
    from slownet.containers import adding

    done = adding.add(reference, name, tag, tls_verify=tls_verify)
    image = done.image
    print(f"{'added' if done.is_new else 'kept already'}  {image.name}  {store.short(image.digest)}  {_megabytes(image.size)}")
    if done.omitted:
        which = first_of(done.omitted, LISTED)
        print(f"slownet: could not be read and left out: {which}: add the folder as root, or a tar of it", file=sys.stderr)


@app.command("list")
def list_(as_json: JsonOption = False) -> None:
    """List the kept images, the newest first. The exit status is 2 if one is damaged, which a line names."""
    images, damaged = store.sound()
    if as_json:
        print(json.dumps({"images": [_record(each) for each in images]}, indent=1))
    elif images:
        _print_table(images)
    elif not damaged:
        print("there are no images: slownet lab image add REF")
    for error in damaged:
        print(f"slownet: {error}", file=sys.stderr)
    raise typer.Exit(2 if damaged else 0)


@app.command("rm")
def remove(
    images: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME", help="Names, or beginnings of digests, of kept images.", autocompletion=completing.images
        ),
    ],
) -> None:
    """Remove names of images; an image goes with its last name, or if its digest is given."""
    for each in images:
        store.known(each)  # all, before any is removed
    for each in images:
        found, is_gone = store.remove(each)
        print(f"{'removed' if is_gone else 'name removed'}  {each}  {store.short(found.digest)}")


@app.command()
def prune() -> None:
    """Remove the images without a name, such as those whose name a newer build has taken."""
    nameless = [each for each in store.kept() if not each.names]
    for each in nameless:
        store.remove(each.digest)
        print(f"removed  {store.short(each.digest)}  {_megabytes(each.size)}")
    if not nameless:
        print("every image has a name")


def _print_table(images: list[store.StoredImage]) -> None:
    from rich.table import Table

    from slownet.cli.terminal import console

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("name", "digest", "size", "added", "entry"):
        table.add_column(column, justify="right" if column == "size" else "left", overflow="fold")
    for each in images:
        added = time.strftime("%Y-%m-%d %H:%M", time.localtime(each.added))
        entry = " ".join([*each.config.entrypoint, *each.config.cmd])
        cells = ("\n".join(each.names), store.short(each.digest), _megabytes(each.size), added, entry)
        table.add_row(*cells)
    console().print(table)


def _record(image: store.StoredImage) -> dict[str, object]:
    found = image.config
    return {
        "digest": image.digest, "names": list(image.names), "size": image.size, "added": image.added, "source": image.source,
        "entrypoint": list(found.entrypoint), "cmd": list(found.cmd), "user": found.user, "working_dir": found.working_dir,
        "exposed_ports": list(found.exposed_ports), "volumes": list(found.volumes), "folder": str(image.folder),
    }  # fmt: skip


def _megabytes(size: int) -> str:
    return f"{size / 2**20:.1f} MB"
