"""One wheel of three folders: lib/slownet, topologies and experiments. Everything else is in pyproject.toml.

SLOWNET_BUNDLE, a folder that `python -m slownet.transfer.bundle` made, goes into the wheel too: `make wheel`. The same
sources (and bundle) give the same bytes, dated SOURCE_DATE_EPOCH. A wheel that is built after `make docs` has the documentation
too: as slownet/manual, and as a manual page.
"""

import gzip
import os
import shutil
import tarfile
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOMS = {"slownet": "lib/slownet", "slownet.topologies": "topologies", "slownet.experiments": "experiments"}
BUNDLE = os.environ.get("SLOWNET_BUNDLE", "")
PLATFORM = "manylinux_2_17_x86_64"
"""What the programs of a bundle run on: they are linked statically, so that no C library need be there."""
EPOCH = os.environ.setdefault("SOURCE_DATE_EPOCH", "1767225600")  # 2026-01-01; a zip archive knows no date before 1980

HTML, MAN = Path("docs/_build/html"), Path("docs/_build/man/slownet.1")


packages = [
    name if inside == "." else f"{name}.{inside}" for name, folder in ROOMS.items() for inside in [".", *find_packages(folder)]
]


def mode(path):
    """Return a file's permissions whatever the umask was."""
    return 0o755 if path.stat().st_mode & 0o100 else 0o644


def make_plain(folder):
    """Give the files of a folder those permissions."""
    for path in filter(Path.is_file, folder.rglob("*")):
        path.chmod(mode(path))


class Build(build_py):
    """Adds the bundle, and the pages without what only Sphinx and its search of other projects need."""

    def run(self):
        super().run()
        bundle, manual = (Path(self.build_lib, "slownet", each) for each in ("bundle", "manual"))
        for each in (bundle, manual):
            shutil.rmtree(each, ignore_errors=True)  # that of a build before
        if BUNDLE:
            shutil.copytree(BUNDLE, bundle)
        if HTML.is_dir() and not self.editable_mode:
            shutil.copytree(HTML, manual, ignore=shutil.ignore_patterns(".*", "_sources", "objects.inv", "*.map"))
        make_plain(Path(self.build_lib))


class Wheel(bdist_wheel):
    """For one platform if it has programs of that platform, and for any Python."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = not BUNDLE

    def get_tag(self):
        return ("py3", "none", PLATFORM) if BUNDLE else super().get_tag()

    def write_wheelfile(self, folder, *words):
        """Write the last file of the metadata."""
        super().write_wheelfile(folder, *words)
        make_plain(Path(folder))


class Source(sdist):
    """An archive without the machine's dates, owners and umask."""

    def make_archive(self, base_name, kind, root_dir=None, base_dir=None, owner=None, group=None):
        if kind != "gztar":
            return super().make_archive(base_name, kind, root_dir, base_dir, owner, group)
        path = f"{base_name}.tar.gz"
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with (
            open(path, "wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=int(EPOCH)) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            for each in sorted(Path(base_dir).rglob("*")):
                if each.is_file():
                    info = tarfile.TarInfo(str(each))
                    info.size, info.mode, info.mtime = each.stat().st_size, mode(each), int(EPOCH)
                    with each.open("rb") as content:
                        tar.addfile(info, content)
        return path


setup(
    packages=packages,
    package_dir=ROOMS,
    cmdclass={"build_py": Build, "bdist_wheel": Wheel, "sdist": Source},
    data_files=[("share/man/man1", [str(MAN)])] if MAN.is_file() else [],
    package_data={
        "slownet.tools.browser": ["*.js"],
        "slownet.lab.build": [
            "*.c",
            "*.h",
            "*.txt",
            "provision",
            "install-layer",
            "make-site",
            "same-random",
            "linux/*.config",
            "linux/*.modules",
            "linux/*/*.patch",
            "linux/*/*.diff",
            "linux/*/series",
            "wordpress/*",
            "wordpress/theme/*",
        ],
        "slownet.lab.host": ["*.txt", "setup-host", "setup-says", "setup-native", "install-python"],
        "slownet.classroom": ["autograder/*"],
        "slownet.cli": ["starter/*"],
        "slownet.costs": ["entries/*/*.toml", "servers/*.toml", "clients/*", "measured.json"],
        "slownet.judge.histories": ["porcupine/*"],
        "slownet.live": ["page/*", "saved/*"],
        "slownet.report": ["*.css", "*.js", "*.j2"],
        "slownet.reproductions.programs": ["*.php"],
        "slownet": ["*.pyi", "data/*.toml", "data/*.md", "data/*.txt", "py.typed"],
    },
)
