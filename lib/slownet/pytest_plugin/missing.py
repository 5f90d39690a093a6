"""Explains an import that fails in a lab: which module, why, and what brings it into the lab."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import json
import os
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import TracebackType

import pytest

from slownet.lab.host import native
from slownet.lab.run import pytest_inside as inside
from slownet.model.importing import PACKAGE_FOLDERS

SECTION = "slownet"
LIBRARY = re.compile(r"(\S+\.so[.\d]*): cannot open shared object file")
BUILD = "then run: slownet lab build"
EDITABLE = "add the folder that holds it to pythonpath under [tool.pytest.ini_options] in pyproject.toml"


def explain(report: pytest.CollectReport | pytest.TestReport, error: BaseException | None) -> None:
    """Add a section to the report of a failed test or module if a module that the lab lacks is the reason."""
    text = None
    if report.failed and error and native.inside_lab():
        text = sentence(error) or (left_out() if isinstance(error, pytest.FixtureLookupError) else "")
    if text:
        report.sections.append((SECTION, text))


def sentence(error: BaseException) -> str | None:
    """Return which module could not be imported, why, and the remedy; None if the error has another reason."""
    imports = (each for each in _chain(error) if isinstance(each, ImportError))
    return next(filter(None, (_library(each) or _module(each) for each in imports)), None)


def left_out() -> str:
    """Return which plugins of pytest the lab does without, and why; empty if none."""
    plugins = json.loads(os.environ.get(inside.LEFT_OUT) or "{}")
    return "; ".join(f"pytest's plugin {name} is left out in the lab: {why}" for name, why in plugins.items())


def why_not(error: Exception) -> str:
    """Return why a module that raised this could not be imported."""
    return sentence(error) or f"{type(error).__name__}: {error}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes."""
    found: BaseException | None = error
    while found:
        yield found
        found = found.__cause__ or (None if found.__suppress_context__ else found.__context__)


def _library(error: ImportError) -> str | None:
    found = LIBRARY.match(str(error))
    if not found:
        return None
    return (
        f"the lab lacks the library {found[1]}, which the module '{error.name}' needs: "
        f'write packages = ["..."] with its Debian package under [tool.slownet] in pyproject.toml, {BUILD}'
    )


def _module(error: ImportError) -> str | None:
    name = error.name or ""
    if not isinstance(error, ModuleNotFoundError):  # `from package import _compiled`
        inner = re.match(r"cannot import name '(\w+)'", str(error))
        name = f"{name}.{inner[1]}" if inner else ""
    compiled = _compiled(name) if name else None
    top, _, rest = name.partition(".")
    if not name or (not compiled and (not isinstance(error, ModuleNotFoundError) or (rest and _is_there(top)))):
        return None
    why = f": {compiled.name} is compiled for {_python(compiled)}, and the lab has {_this()}" if compiled else ""
    if not compiled and _is_editable(top):
        return f"the lab has no module '{name}': it is installed in editable mode; {EDITABLE}"
    package = _distribution(_importing(error.__traceback__) or top)
    fix = f'write dependencies = ["{package}"] under [tool.slownet] in pyproject.toml, {BUILD}'
    return f"the lab has no module '{name}'{why}; {fix}"


def _compiled(name: str) -> Path | None:
    """Return the file of a module on sys.path that is compiled for another Python."""
    *folders, last = name.split(".")
    for entry in sys.path:
        for path in sorted(Path(entry, *folders).glob(f"{last}.*.so")):
            if path.name.removeprefix(last) not in importlib.machinery.EXTENSION_SUFFIXES:
                return path
    return None


def _is_there(top: str) -> bool:
    return top in sys.modules or importlib.util.find_spec(top) is not None


def _python(path: Path) -> str:
    found = re.search(r"\.cpython-(\d)(\d+)", path.name)
    return f"Python {found[1]}.{found[2]}" if found else path.suffixes[0].lstrip(".")


def _this() -> str:
    return f"Python {sys.version_info.major}.{sys.version_info.minor}"


def _importing(traceback: TracebackType | None) -> str | None:
    """Return the package, of those that are not the lab's own, whose import led to the error: the outermost one."""
    while traceback:
        frame = traceback.tb_frame
        path = Path(frame.f_code.co_filename)
        installed = set(PACKAGE_FOLDERS) & set(path.parts) and not path.is_relative_to(sys.prefix)
        if installed and frame.f_code.co_name == "<module>":
            return str(frame.f_globals.get("__name__", "")).partition(".")[0] or None
        traceback = traceback.tb_next
    return None


def _distribution(top: str) -> str:
    """Return what a package is called on PyPI, as far as what is installed show: ``yaml`` is PyYAML."""
    return next((each.name for each in _bringing(top)), top)


def _is_editable(top: str) -> bool:
    """Return whether a package is imported through a hook of its installer, which a lab does not have."""
    origins = (json.loads(each.read_text("direct_url.json") or "{}") for each in _bringing(top))
    return any(origin.get("dir_info", {}).get("editable") for origin in origins)


def _bringing(top: str) -> Iterator[metadata.Distribution]:
    """Yield the distributions that have a top-level module, by their own lists of files.

    `importlib.metadata.packages_distributions` looks for each of these files, which takes a lab seconds.
    """
    for each in metadata.distributions():
        declared = each.read_text("top_level.txt")
        if top in (declared.split() if declared else map(_top, inside.listed_files(each))):
            yield each


def _top(file: str) -> str:
    """Return the top-level module that a file belongs to: the first part of its path, without the suffix of a file."""
    first, slash, _ = file.partition("/")
    return first if slash else first.partition(".")[0]
