"""Completion in shells: experiments, conditions, topologies, runs and images.

A completion must not be slower than a person types, so these functions import no experiment: they read its file.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import typer

FILES = (".py", ".toml")
COMPOSE_FILES = (".yaml", ".yml")
MODULES = ("__init__.py", "setup.py", "conftest.py")
Completed = Sequence[str | tuple[str, str]]


def experiments(ctx: typer.Context, incomplete: str) -> Completed:
    """Complete the name of an experiment, with its question, or a file with one."""
    own = [(path.stem, _question(path)) for path in _own("experiments") if path.stem.startswith(incomplete)]
    given = set(_named(ctx))
    return [*(each for each in own if each[0] not in given), *files(*FILES)(incomplete)]


def measured_files(ctx: typer.Context, incomplete: str) -> Completed:
    """Complete what `run` measures: an experiment, or a compose project's file."""
    return [*experiments(ctx, incomplete), *(each for each in files(*COMPOSE_FILES)(incomplete) if not str(each).endswith("/"))]


def varied(ctx: typer.Context, incomplete: str) -> Completed:
    """Complete a condition of the experiments that are named, with the values that they vary; else any field of a link."""
    found: dict[str, str] = {}
    for name in _named(ctx):
        found |= _varied(_file(name))
    if not found:
        return [f"{each}=" for each in _fields() if each.startswith(incomplete)]
    return [f"{name}={values}" for name, values in found.items() if name.startswith(incomplete)]


def links(incomplete: str) -> Completed:
    """Complete the condition after `A-B=`: a named one or a field."""
    link, equals, condition = incomplete.partition("=")
    if not equals:
        return []
    from slownet.links.conditions import profiles

    known = [*(each.name for each in profiles.rows()), *(f"{name}=" for name in _fields())]
    return [f"{link}={each}" for each in known if each.startswith(condition)]


def topologies(incomplete: str) -> Completed:
    """Complete the name of a topology, or a file with one."""
    return [*(path.stem for path in _own("topologies") if path.stem.startswith(incomplete)), *files(".py")(incomplete)]


def runs(incomplete: str) -> Completed:
    """Complete the directory of a run, the newest first."""
    root = Path(incomplete.rpartition("/")[0]) if "/" in incomplete else Path("runs")
    found = sorted((each.parent for each in _glob(root, "*/run.json")), reverse=True)
    named = [str(each) for each in found if str(each).startswith(incomplete)]
    return named or [f"{each}/" for each in _folders(incomplete)]


def measured(ctx: typer.Context, incomplete: str) -> Completed:
    """Complete the directory of a run, or an experiment."""
    own = runs(incomplete)
    return own if own and "/" in incomplete else [*own, *experiments(ctx, incomplete)]


def images(incomplete: str) -> Completed:
    """Complete the name of a container image that is kept."""
    from slownet.containers import store

    names = (name for image in store.kept() for name in image.names)
    return sorted({name for name in names if name.startswith(incomplete)})


def tools(incomplete: str) -> Completed:
    """Complete the name of a tool that measures a compose project."""
    from slownet.tools.register import TOOLS

    return [each for each in TOOLS if each.startswith(incomplete)]


def articles(incomplete: str) -> Completed:
    """Complete an article, or an experiment of one."""
    from slownet.reproductions.articles import ARTICLES, BEYOND, OF_PROTOCOLS, PROTOCOLS

    names = [*ARTICLES, PROTOCOLS, BEYOND, *(name for each in (*ARTICLES.values(), OF_PROTOCOLS) for name in each)]
    return [each for each in names if each.startswith(incomplete)]


def one_of(*words: str) -> Callable[[str], Completed]:
    """Return what completes one of these words."""

    def complete(incomplete: str) -> Completed:
        return [each for each in words if each.startswith(incomplete)]

    return complete


def files(*endings: str) -> Callable[[str], Completed]:
    """Return what completes files with one of these endings, and folders on the way to them."""

    def complete(incomplete: str) -> Completed:
        folder, _, start = incomplete.rpartition("/")
        place = Path(f"{folder}/") if incomplete.startswith("/") and not folder else Path(folder)
        found = [each for each in _glob(place, "*") if each.name.startswith(start) and not each.name.startswith(".")]
        fit = [str(each) for each in found if each.suffix in endings and each.name not in MODULES]
        return sorted([*fit, *(f"{each}/" for each in found if each.is_dir())])

    return complete


def _named(ctx: typer.Context) -> Sequence[str]:
    """Return the experiments on the line; before an option without its value Typer leaves them among the other words."""
    return ctx.params.get("experiments") or ctx.args


def _own(package: str) -> list[Path]:
    """Return the files of slownet's own experiments or topologies, each named after what it holds."""
    spec = importlib.util.find_spec(f"slownet.{package}")
    folders: Iterable[str] = (spec and spec.submodule_search_locations) or ()
    return sorted(path for folder in folders for path in Path(folder).glob("*.py") if not path.name.startswith("_"))


def _file(name: str) -> Path:
    return Path(name) if name.endswith(FILES) else next((each for each in _own("experiments") if each.stem == name), Path(name))


def _measuring(path: Path) -> Iterator[tuple[ast.FunctionDef, ast.Call]]:
    """Yield the functions of a file with their decorator `experiment`."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, ValueError, SyntaxError):
        return
    for function in (each for each in tree.body if isinstance(each, ast.FunctionDef)):
        for each in function.decorator_list:
            if isinstance(each, ast.Call) and ast.unparse(each.func).rpartition(".")[2] == "experiment":
                yield function, each


def _question(path: Path) -> str:
    return next((" ".join((ast.get_docstring(each) or "").split()) for each, _ in _measuring(path)), "")


def _varied(path: Path) -> dict[str, str]:
    """Return the conditions that a file states as literals, with their values as on the command line."""
    found: dict[str, str] = {}
    for _, decorator in _measuring(path):
        for each in decorator.keywords:
            try:
                table: Any = ast.literal_eval(each.value)
            except ValueError:
                continue
            if each.arg == "vary" and isinstance(table, dict):
                found |= {name: ",".join(values) for name, values in table.items()}
    return found


def _fields() -> list[str]:
    from slownet.links.conditions.link import WORDS

    return list(WORDS)


def _glob(folder: Path, pattern: str) -> list[Path]:
    try:
        return list(folder.glob(pattern))
    except OSError:
        return []


def _folders(incomplete: str) -> list[Path]:
    folder, _, start = incomplete.rpartition("/")
    return sorted(each for each in _glob(Path(folder), f"{start}*") if each.is_dir() and not each.name.startswith("."))
