"""`slownet init`: writes a small project that passes at once, to be changed into one's own, or what a project lacks of it."""

from __future__ import annotations

import contextlib
import keyword
import re
import sys
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from slownet.cli.completing import one_of
from slownet.model import userfile
from slownet.model.errors import ExperimentError, nearest
from slownet.model.whole_file import new

# The output of `slownet init --package`: a package that adds tools, services, topologies and experiments by entry points.

PACKAGE_FILES = {
    "README.md": "package-README.md", "pyproject.toml": "package-pyproject.toml", ".gitignore": "gitignore",
    "far_page.toml": "package-far_page.toml", "tests/test_package.py": "package-test_package.py",
    "MODULE/__init__.py": "package-init.py", "MODULE/lane.py": "package-lane.py", "MODULE/pages.py": "package-pages.py",
    "MODULE/page_time.py": "package-page_time.py", "MODULE/far_page.py": "package-far_page.py",
}  # fmt: skip
"""The files of a package, and the name of each one's template."""
INSTALLED = {"Install slownet\n": "Install slownet and this package\n", 'a wheel in it}"': 'a wheel in it}" -e .'}
"""The differences in the CI files: the package is installed beside slownet."""


def module(name: str) -> str:
    """Return the name under which a package is imported. Raises ExperimentError."""
    found = re.sub(r"[-.]", "_", name).lower()
    taken = found in sys.stdlib_module_names or found in ("slownet", "mininet", "tests", "pytest")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", found) or keyword.iskeyword(found) or taken:
        if taken:
            raise ExperimentError(f"'{name}' is taken", "--package", "choose another name, such as slow-things")
        fix = "write letters, digits and hyphens, such as slow-things"
        raise ExperimentError(f"'{name}' is not a name of a package", "--package", fix)
    return found


def package_contents(name: str, template: Callable[[str], str]) -> dict[str, str]:
    """Return the text of each file of a package, by the file's path in it.

    template: gives the text of a template by its name. Raises ExperimentError for a name that cannot be a package's.
    """
    words = {"MODULE": module(name), "DISTRIBUTION": name.lower(), "NAME": name}
    return {_filled(path, words): _filled(template(each), words) for path, each in PACKAGE_FILES.items()}


def entry_points(name: str, template: Callable[[str], str]) -> list[str]:
    """Return the tables of a package's pyproject.toml that declare it to slownet."""
    tables = package_contents(name, template)["pyproject.toml"].split("\n\n")
    return [each for each in tables if each.startswith("[project.entry-points.")]


def in_ci(text: str) -> str:
    """Return a project's CI file as a package's: it installs the package, and checks its hypothesis file."""
    for usual, own in INSTALLED.items():
        text = text.replace(usual, own)
    return text.replace("shop.toml", "far_page.toml").replace("*-shop", "*-far_page")


def _filled(text: str, words: dict[str, str]) -> str:
    return re.sub(r"\b(DISTRIBUTION|NAME)\b|MODULE", lambda found: words[found[0]], text)


CI = {"github": ".github/workflows/slow-network.yml", "gitlab": ".gitlab-ci.yml", "none": ""}
"""The CI services, and where each one looks for its file."""
FILES = {
    "README.md": "README.md", "shop.py": "shop.py", "network.py": "network.py", "test_shop.py": "test_shop.py",
    "shop.toml": "shop.toml", "pyproject.toml": "pyproject.toml", ".gitignore": "gitignore",
}  # fmt: skip
"""The files of a project, and the name of each one's template."""
IN_BROWSER = {"page.py": "page.py"}
"""More files with --browser."""
PACKAGES, CHROMIUM = 'packages = []  # of Debian, such as "postgresql"', 'packages = ["chromium"]  # of Debian'
NEXT = """slownet lab build    # once per machine
pytest
slownet check --tdf inf shop.toml"""
NEXT_OF_A_PACKAGE = """python -m pip install -e .    # slownet finds what it adds
slownet lab build    # once per machine
pytest
slownet run {module}_far_page"""


def init(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER", help="The project's folder; made if it is not there. Default: this one, if it is empty."
        ),
    ] = None,
    ci: Annotated[
        str, typer.Option("--ci", metavar="github|gitlab|none", help="Whose CI file is written.", autocompletion=one_of(*CI))
    ] = "github",
    browser: Annotated[
        bool, typer.Option("--browser", help="Have Chromium in the lab, and an experiment that loads a page in it.")
    ] = False,
    package: Annotated[
        str | None,
        typer.Option(
            "--package", metavar="NAME", help="Write a package instead, which adds tools, services and experiments to slownet."
        ),
    ] = None,
) -> None:
    """Write a small project of your own that passes at once.

    It has an app, a network, tests, a hypothesis and a CI file. In a project that exists, only what is missing is added and
    nothing is overwritten: `slownet init .`
    """
    if ci not in CI:
        raise ExperimentError(f"unknown CI service '{ci}'", "--ci", nearest(ci, CI))
    if package and browser:
        raise ExperimentError("a package has no page in Chromium", "--browser", "leave out --browser or --package")
    folder = folder or _empty(Path())
    added, left = write(folder, ci, browser, package)
    for path in added:
        print(path)
    if left:
        blank = "\n" if added else ""
        print(f"{blank}left as {'they are' if len(left) > 1 else 'it is'}: {', '.join(map(str, left))}")
    project = folder / "pyproject.toml"
    if project in left:
        _print_what_lacks(project, browser, package)
    if added:
        more = "\nslownet run page.py  # the page in Chromium" if browser else ""
        steps = NEXT_OF_A_PACKAGE.format(module=module(package)) if package else NEXT
        if project in left:  # its testpaths may leave out the test that was added
            added_tests = [each.relative_to(folder).as_posix() for each in added if each.name.startswith("test_")]
            steps = steps.replace("\npytest\n", f"\npytest {' '.join(added_tests)}".rstrip() + "\n")
        print(f"\nNext, in {folder.resolve()}:\n{steps}{more}")


def _empty(here: Path) -> Path:
    """Return this folder if nothing but hidden files is in it, else the one that the user names. Raises ExperimentError."""
    if all(each.name.startswith(".") for each in here.iterdir()):
        return here
    named = ""
    if sys.stdin.isatty() and sys.stdout.isatty():
        with contextlib.suppress(EOFError):
            named = input("This folder has files. Folder for the project, or . for this one: ").strip()
    if not named:
        fix = "name one: slownet init my-shop; slownet init . adds what a project here lacks"
        raise ExperimentError("this folder has files", "where no folder is named", fix)
    return Path(named)


def _print_what_lacks(project: Path, browser: bool, package: str | None) -> None:
    """Print what a pyproject.toml that was there needs for --browser or --package and does not have."""
    try:
        text = userfile.read_text(project)
    except (OSError, UnicodeDecodeError):
        text = ""
    if browser and "chromium" not in text:
        print(f"\npyproject.toml needs below [tool.slownet]: {CHROMIUM.partition('  #')[0]}")
    if package:
        tables = entry_points(package, _template)
        lacking = [table for table in tables if not all(line in text for line in table.splitlines())]
        if lacking:
            print("\npyproject.toml needs, so that slownet finds the package:\n\n" + "\n\n".join(lacking))


def write(folder: Path, ci: str, browser: bool = False, package: str | None = None) -> tuple[list[Path], list[Path]]:
    """Write the files that are missing; return them, and those that were there. Raises ExperimentError, and adds nothing."""
    found = of_a_package(package, ci) if package is not None else contents(folder.resolve().name, ci, browser)
    texts = {folder / name: text for name, text in found.items()}
    left = [path for path in texts if path.exists() or path.is_symlink()]
    for path in left:
        del texts[path]
    with _undone_on_error() as made:
        for path, text in texts.items():
            for parent in reversed(path.parents):
                if not parent.exists():
                    parent.mkdir()
                    made.append(parent)
            new(path, text.encode())
            made.append(path)
    return list(texts), left


def contents(name: str, ci: str, browser: bool = False) -> dict[str, str]:
    """Return the text of each file of a project with this name, by the file's path in it."""
    found = {path: _template(template) for path, template in (FILES | (IN_BROWSER if browser else {})).items()}
    if browser:
        found["pyproject.toml"] = found["pyproject.toml"].replace(PACKAGES, CHROMIUM)
    if CI[ci]:
        found[CI[ci]] = _template(f"{ci}.yml").replace("PACKAGES", " ".join(host_packages()))
    runs = f"`{CI[ci]}` runs both commands in CI, with the slownet that its variable SLOWNET names." if CI[ci] else ""
    readme = found["README.md"].replace("CI_FILE runs both commands in CI.", runs).replace(" \n", "\n")
    return found | {"README.md": readme.replace("NAME", _escaped(name) or "A shop on slow links", 1)}


def of_a_package(name: str, ci: str) -> dict[str, str]:
    """Return the text of each file of a package with this name, by the file's path in it. Raises ExperimentError."""
    found = package_contents(name, _template)
    if CI[ci]:
        found[CI[ci]] = in_ci(_template(f"{ci}.yml").replace("PACKAGES", " ".join(host_packages())))
    return found


def host_packages() -> list[str]:
    """Return the Debian packages that building a lab takes, without Python, which a CI job has."""
    text = resources.files("slownet.lab.host").joinpath("host-packages.txt").read_text("utf-8")
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("python3")]


def _template(name: str) -> str:
    return resources.files("slownet.cli").joinpath("starter", f"{name}.txt").read_text("utf-8")


def _escaped(name: str) -> str:
    """Escape a name for a heading in Markdown; a name may hold anything but a slash."""
    return re.sub(r"([\\`*_<>\[\]#])", r"\\\1", " ".join(name.split()))


@contextlib.contextmanager
def _undone_on_error() -> Iterator[list[Path]]:
    """Collect what was made, and remove it if the rest cannot be made. Raises ExperimentError."""
    made: list[Path] = []
    try:
        yield made
    except OSError as error:
        for path in reversed(made):
            path.rmdir() if path.is_dir() else path.unlink()
        where = f"{error.filename}: " if error.filename else ""
        raise ExperimentError(f"cannot write the project, {where}{error.strerror}", fix="name another folder") from error
