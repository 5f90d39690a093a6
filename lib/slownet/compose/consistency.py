"""Fields that compose refuses together although each is valid by itself: contradictions and exclusions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from slownet.compose import casts
from slownet.compose.document import EMPTY, Map, Place
from slownet.model.errors import ComposeError

_LIMITS = (
    ("cpus", "limits", "cpus"), ("mem_limit", "limits", "memory"), ("mem_reservation", "reservations", "memory"),
    ("pids_limit", "limits", "pids"),
)  # fmt: skip
"""Fields of a service, and those of its ``deploy.resources`` that agree."""
_CONTENTS = {"secrets": ("file", "environment"), "configs": ("file", "environment", "content")}
_OF_EXTERNAL = ("name", "external")


def service(name: str, tree: Map) -> None:
    """Check one service. Raises ComposeError."""
    for what, at, fix in (*_limits(name, tree), *_build(name, tree), *_watches(name, tree)):
        raise ComposeError(what, str(at), fix)


def resources(tree: Map) -> Iterator[ComposeError]:
    """Yield what is wrong with the volumes, secrets and configs at the top of the files."""
    for kind, names in _CONTENTS.items():
        for name, each in (tree.get(kind) or EMPTY).items():
            stated = [field for field in names if isinstance(each, Map) and each.get(field) is not None]
            if len(stated) > 1:
                what = f"{kind}.{name} has {' and '.join(stated)}"
                yield ComposeError(what, str(each.keys_at[stated[1]]), "leave all but one out")
    for name, each in (tree.get("volumes") or EMPTY).items():
        if isinstance(each, Map) and each.get("external") is True:
            for field in each:
                if field not in _OF_EXTERNAL and not field.startswith("x-"):
                    what = f"the volume '{name}' is external, and has {field}"
                    yield ComposeError(what, str(each.keys_at[field]), f"leave {field} or external out")


def _limits(name: str, tree: Map) -> Iterator[tuple[str, Place, str]]:
    found: Any = (tree.get("deploy") or EMPTY).get("resources") or EMPTY
    for field, part, other in _LIMITS:
        if tree.get(field) and isinstance(found.get(part), Map):
            own, theirs = tree[field], found[part].get(other) or 0
            if _number(own) != _number(theirs):
                what = f"{name} has {field}: {own} and deploy.resources.{part}.{other}: {theirs}"
                yield what, tree.keys_at[field], "leave one of them out, or make them equal"


def _number(value: Any) -> float:
    return float(casts.size(value) if isinstance(value, str) else value)


def _build(name: str, tree: Map) -> Iterator[tuple[str, Place, str]]:
    build: Any = tree.get("build") or EMPTY
    if build.get("dockerfile") and build.get("dockerfile_inline"):
        yield f"{name} has dockerfile and dockerfile_inline", build.keys_at["dockerfile_inline"], "leave one of them out"


def _watches(name: str, tree: Map) -> Iterator[tuple[str, Place, str]]:
    watches: Any = (tree.get("develop") or EMPTY).get("watch") or ()
    for number, each in enumerate(watches):
        if not each.get("target") and each.get("action") not in ("rebuild", "restart"):
            yield f"develop.watch of {name} lacks a target", watches.at[number], "add target: with a path in the container"
