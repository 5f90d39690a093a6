"""The output of `slownet init --package`: a package that adds tools, services, topologies and experiments by entry points."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Callable

from slownet.model.errors import ExperimentError

FILES = {
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


def contents(name: str, template: Callable[[str], str]) -> dict[str, str]:
    """Return the text of each file of a package, by the file's path in it.

    template: gives the text of a template by its name. Raises ExperimentError for a name that cannot be a package's.
    """
    words = {"MODULE": module(name), "DISTRIBUTION": name.lower(), "NAME": name}
    return {_filled(path, words): _filled(template(each), words) for path, each in FILES.items()}


def entry_points(name: str, template: Callable[[str], str]) -> list[str]:
    """Return the tables of a package's pyproject.toml that declare it to slownet."""
    tables = contents(name, template)["pyproject.toml"].split("\n\n")
    return [each for each in tables if each.startswith("[project.entry-points.")]


def in_ci(text: str) -> str:
    """Return a project's CI file as a package's: it installs the package, and checks its hypothesis file."""
    for old, new in INSTALLED.items():
        text = text.replace(old, new)
    return text.replace("shop.toml", "far_page.toml").replace("*-shop", "*-far_page")


def _filled(text: str, words: dict[str, str]) -> str:
    return re.sub(r"\b(DISTRIBUTION|NAME)\b|MODULE", lambda found: words[found[0]], text)
