"""The source of a node or a link in a program: its file and line, for one clear line about a mistake in it."""

from __future__ import annotations

import ast
import functools
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

import mininet
from mininet.topo import Topo

from slownet.model.errors import NetworkError, SlownetError, nearest
from slownet.model.mininets import Parameters

_LIBRARIES = tuple(os.path.join(folder, "") for folder in (*mininet.__path__, Path(__file__).parents[1]))
_RUNS = ("runpy", "importlib", "contextlib", "functools")


@dataclass(frozen=True)
class Place:
    """A line of a program; without a file if the program is not the user's own, such as mn."""

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        if not self.file:
            return ""
        path = os.path.relpath(self.file)
        return f"{self.file if path.startswith('..') else path}:{self.line}"


_STATED = re.compile(r":\d+$")


@dataclass(frozen=True)
class Statement:
    """A topology's statement of a node: where, and with which parameters."""

    place: Place
    params: Parameters


_nodes: WeakKeyDictionary[Topo, dict[str, list[Statement]]] = WeakKeyDictionary()
_links: WeakKeyDictionary[Topo, dict[int, Place]] = WeakKeyDictionary()


def here() -> Place:
    """Return the innermost line on this thread's stack that is neither Mininet's nor slownet's."""
    for frame in _frames():
        code = frame.f_code.co_filename
        if code.startswith("<") or code.startswith(_LIBRARIES) or frame.f_globals.get("__name__", "").startswith(_RUNS):
            continue
        return Place() if Path(code).name == "mn" else Place(code, frame.f_lineno)
    return Place()


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


@contextmanager
def located(where: str, place: Place) -> Iterator[None]:
    """Add to an error of the block what it is about, such as "interface h1-eth0", and its place, if it lacks them."""
    try:
        yield
    except SlownetError as error:
        whole = ", ".join(filter(None, (error.where or where, str(place))))
        if _STATED.search(error.where) or whole == error.where:
            raise
        raise type(error)(error.what, whole, error.fix) from None


def of_node(topology: Topo, name: str) -> Place:
    """Return where a topology adds a node."""
    return next((each.place for each in statements(topology, name)[-1:]), Place())


def statements(topology: Topo, name: str) -> list[Statement]:
    """Return a topology's statements of a node, in order; none of a node that only a link names."""
    return _nodes.get(topology, {}).get(name, [])


def of_link(topology: Topo, info: Parameters) -> Place:
    """Return where a topology adds a link. info: the link's, as `Topo.iterLinks` gives it."""
    return _links.get(topology, {}).get(id(info), Place())


def of_links(topology: Topo) -> list[Parameters]:
    """Return the parameters of a topology's links as `Topo.iterLinks` gives them, in the order they are stated."""
    order = {key: number for number, key in enumerate(_links.get(topology, {}))}
    links = [info for _, _, info in topology.iterLinks(withInfo=True)]
    return sorted(links, key=lambda info: order.get(id(info), 0))


def no_node(name: object, where: str, known: Iterable[str]) -> NetworkError:
    """Return the error for a link's end that is not a node."""
    return NetworkError(f"there is no node '{name}'", where, nearest(str(name), known))


def _remembered() -> None:
    """Make topologies remember where their nodes and links are added."""
    add_node, add_link = Topo.addNode, Topo.addLink

    @functools.wraps(add_node)
    def with_place(self: Topo, name: str, **opts: Any) -> Any:
        _nodes.setdefault(self, {}).setdefault(name, []).append(Statement(here(), opts))
        return add_node(self, name, **opts)

    @functools.wraps(add_link)
    def with_places(self: Topo, node1: str, node2: str, *args: Any, **opts: Any) -> Any:
        place = here()
        try:
            key = add_link(self, node1, node2, *args, **opts)
        except KeyError:
            for name in (node1, node2):
                if name not in self.g.node:
                    raise no_node(name, f"{type(self).__name__}, {place}", self.g.node) from None
            raise
        _links.setdefault(self, {})[id(self.linkInfo(node1, node2, key))] = place
        return key

    Topo.addNode, Topo.addLink = with_place, with_places


@functools.cache
def reads(file: str) -> frozenset[str]:
    """Return the names that a program looks up in mappings: a parameter of its own that only the program itself reads."""
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    return frozenset(filter(None, map(_looked_up, ast.walk(tree))))


def _looked_up(node: ast.AST) -> str | None:
    key: ast.AST | None = None
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        key = node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop") and node.args:
        key = node.args[0]
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        key = node.left
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None


_remembered()
