"""Copies what a wheel can carry of a built lab to a folder: kernel and init, and the WordPress site of the image.

Kernel and init are programs for any Linux on this processor. The rest of the image is not among them: it is many times as large
as all of these, and Debian's mirrors have it in packages, which are newer each month. The site, which takes a lab minutes to
make, is used by machines whose packages are those of this one. See `make wheel` and setup.py.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from slownet.lab.build import digests, image, init, kernel, wordpress_site
from slownet.lab.build.image import Image
from slownet.model.errors import LabError, SlownetError
from slownet.transfer.export import SOURCES, of_init, of_kernel, of_site

TEXT = """\
The programs in this folder are free software. Their source code:

kernel  {kernel}
        The patches and the configuration are in this package too, in lab/build/linux; the configuration that was used is the
        file `config` beside the kernel, if it is there. The licence is GPL-2.0-only.
init    {init}
        The C files are in this package too, in lab. The licences are GPL-2.0-or-later, and LGPL-2.1-or-later for glibc.
"""
SITE_TEXT = """\
site    {site}
        It has the pages of WordPress and of slownet's theme as PHP compiles them, and MariaDB's data files. WordPress and the
        theme (lab/build/wordpress in this package too) are GPL-2.0-or-later, with parts under other free licences that
        WordPress's `copyright` file names; MariaDB's system tables are made by its scripts, GPL-2.0-only.
"""
ARCHIVE = "\nThe source packages are in Debian's archive and in its snapshots of earlier days.\n"


def make(into: Path) -> bool:
    """Fill a folder, which must not exist yet; return whether it has a site.

    It has none without an image on this machine, or one that was built before sites were kept.
    Raises LabError if the kernel was not built, or if the site is damaged.
    """
    found = kernel.find()
    if not found:
        raise LabError("the lab is not built on this machine, or not for this version", fix="slownet lab build")
    for kind, folder in (("kernel", found.path.parent), ("init", init.need())):
        shutil.copytree(folder, into / kind / folder.name, ignore=shutil.ignore_patterns("*.log", "init", digests.RECORD))
        digests.record(into / kind / folder.name)
    text = TEXT.format(kernel=of_kernel(found), init=of_init())
    built = image.find()
    if built and built.site_key:
        _add_site(built, into / wordpress_site.KIND / built.site_key)
        text += SITE_TEXT.format(site=of_site(built))
    (into / SOURCES).write_text(text + ARCHIVE)
    return bool(built and built.site_key)


def _add_site(built: Image, folder: Path) -> None:
    """Compress the site of an image again, smaller, which also finds out whether it is whole. Raises LabError."""
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="slownet-bundle-") as name:
        tar = Path(name) / "site.tar"
        wordpress_site.unpack(built.site, tar)
        wordpress_site.pack(tar, folder / wordpress_site.NAME, wordpress_site.SMALL)
    digests.record(folder)


if __name__ == "__main__":
    try:
        if not make(Path(sys.argv[1])):
            sys.stderr.write("slownet: the wheel will carry no WordPress site: the image was built without keeping it; ")
            sys.stderr.write(
                "to have one, remove the image's folder (slownet lab info names the cache) and run: slownet lab build\n"
            )
    except SlownetError as error:
        sys.exit(f"slownet: {error}")
