"""Source-code locations of the lab's programs, as their licences require."""

from __future__ import annotations

import re

from slownet.lab.build.image import Image
from slownet.lab.build.kernel import Kernel
from slownet.model.version import __version__

SOURCES = "SOURCES"
IMAGE = "Debian's source packages of the versions in image.json; slownet's source archive has the script that installs them"

SITE = re.compile(r"wordpress|mariadb-server|php[0-9.]+-fpm")
"""The packages whose programs and files the WordPress site comes from."""


def of_kernel(kernel: Kernel) -> str:
    """Return where a kernel's source code is."""
    ours = f"lib/slownet/lab/build/linux in slownet {__version__}'s source archive"
    return f"Debian's {kernel.source}, with the patches and the configuration of {ours}"


def of_init() -> str:
    """Return where the source code of init, confine and probe is."""
    ours = f"lib/slownet/lab in slownet {__version__}'s source archive"
    return f"init.c, confine.c and probe.c of {ours}, and the glibc of the Debian that compiled them"


def of_site(image: Image) -> str:
    """Return where the source code of an image's WordPress site is, and of the programs that made it."""
    made_by = ", ".join(f"{name} {version}" for name, version in sorted(image.packages.items()) if SITE.fullmatch(name))
    ours = f"lib/slownet/lab in slownet {__version__}'s source archive"
    return f"Debian's source packages of {made_by}, with provision, make-site and wordpress of {ours}"
