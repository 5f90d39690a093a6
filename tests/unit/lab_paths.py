"""Finds, in the source of slownet, the calls that open a path below a folder that a lab writes to.

It follows values through assignments, loops, attributes of `self`, arguments and results of slownet's own functions, without
regard to order: what may come from such a folder counts, so an innocent call may be found, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

FOLDERS = {"RAW", "CAPTURES", "FOLDERS_OF_A_RUN"} | {"SERVICES"}
"""Constants that name a lab's folders; SERVICES is also a register of services, whose module defines it by a call."""
NAMES = ("raw", "services", "captures")
"""The same as literals, when they are joined to a path, and the fields of a sample whose files a lab names."""
FIELDS = ("raw", "captures")
OPENING = {
    "open", "fdopen", "read_text", "read_bytes", "write_text", "write_bytes", "iterdir", "glob", "rglob",
    "walk", "scandir", "listdir", "fwalk", "stat", "lstat", "exists", "lexists", "is_file", "is_dir",
    "is_symlink", "getsize", "isfile", "isdir", "mkdir", "makedirs", "rmdir", "unlink", "remove",
    "removedirs", "touch", "rename", "renames", "rmtree", "copy", "copy2", "copyfile", "copytree",
    "copyfileobj", "move", "chmod", "chown", "symlink_to", "hardlink_to", "symlink", "link", "mkfifo",
    "mknod", "readlink", "resolve", "realpath", "samefile", "utime", "truncate", "disk_usage", "statvfs",
    "access", "ZipFile", "TarFile", "read_parquet", "read_csv", "load", "place", "drafted",
}  # fmt: skip
"""Functions and methods that follow a path which they are given, or called on."""
OUTBOX = ("slownet.lab.run.outbox", "slownet.model.whole_file")
"""The modules that open such paths safely, and that replace a file for whoever gives them its path."""
SAFE = {"Outbox", "Share"}
"""What takes such a path and opens nothing below it by its name."""

PASSING = {
    "Path", "PurePath", "PurePosixPath", "str", "fspath", "fsencode", "join", "joinpath", "abspath", "of_lab",
    "list", "tuple", "set", "sorted", "reversed", "enumerate", "zip", "dict", "fromkeys", "chain", "iter",
    "next", "replace", "partial",
}  # fmt: skip
"""Functions of others whose results are, or contain, what they are given."""

Key = tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """One call: the module, the function and the name that it is called by."""

    module: str
    function: str
    call: str


@dataclass
class _Scope:
    module: str
    function: str = ""
    owner: str = ""
    """The class whose method it is."""
    outer: _Scope | None = None

    def __iter__(self) -> Iterator[_Scope]:
        scope: _Scope | None = self
        while scope:
            yield scope
            scope = scope.outer


@dataclass
class Analysis:
    """All modules of a package together."""

    sources: dict[str, str]
    tainted: set[Key] = field(default_factory=set)
    found: set[Found] = field(default_factory=set)

    def run(self) -> set[Found]:
        """Return the calls that open what a lab wrote."""
        self._trees = {name: ast.parse(text) for name, text in self.sources.items()}
        self._imports = {name: dict(_imports(tree)) for name, tree in self._trees.items()}
        self._functions = {
            (name, each.name): each
            for name, tree in self._trees.items()
            for each in tree.body
            if isinstance(each, ast.FunctionDef | ast.ClassDef)
        }
        self._methods: dict[Key, ast.FunctionDef] = {}
        self._nested: dict[Key, ast.FunctionDef] = {}
        for (name, top), node in self._functions.items():
            for each in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(each, ast.FunctionDef):
                    self._methods[name, top, each.name] = each
            for inner in ast.walk(node):
                if isinstance(inner, ast.FunctionDef) and inner is not node:
                    self._nested[name, top, inner.name] = inner
        size = -1
        while size != len(self.tainted):
            size = len(self.tainted)
            self._known: dict[int, bool] = {}
            for name, tree in self._trees.items():
                self._body(tree.body, _Scope(name))
        return self.found

    # ---- statements

    def _body(self, nodes: list[ast.stmt], scope: _Scope) -> None:
        for node in nodes:
            self._statement(node, scope)

    def _statement(self, node: ast.stmt, scope: _Scope) -> None:
        if isinstance(node, ast.ClassDef):
            self._body(node.body, _Scope(scope.module, node.name, node.name, scope))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            name = f"{scope.function}.{node.name}" if scope.function else node.name
            self._body(node.body, _Scope(scope.module, name, scope.owner, scope))
        else:
            for each in ast.iter_child_nodes(node):
                if isinstance(each, ast.expr):
                    self._is(each, scope)
            for target, value in _bindings(node):
                self._bind(target, value, scope)
            if any(self._is(each, scope) for each in _returned(node)):
                self.tainted.add(("result", scope.module, scope.function))
            for each in ast.iter_child_nodes(node):
                if isinstance(each, ast.stmt):
                    self._statement(each, scope)
                elif isinstance(each, ast.ExceptHandler | ast.match_case):
                    self._body(each.body, scope)

    def _bind(self, target: ast.expr, value: ast.expr, scope: _Scope) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            whole = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
            for number, each in enumerate(target.elts):
                self._bind(each, value.elts[number] if whole else value, scope)  # type: ignore[attr-defined]
        elif self._is(value, scope):
            self._taint(target, scope)

    def _taint(self, target: ast.expr, scope: _Scope) -> None:
        if isinstance(target, ast.Name):
            self.tainted.add(("name", scope.module, scope.function, target.id))
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
            self.tainted.add(("attribute", scope.module, scope.owner, target.attr))
        elif isinstance(target, ast.Starred):
            self._taint(target.value, scope)

    # ---- expressions

    def _is(self, node: ast.AST, scope: _Scope) -> bool:
        """Whether a value may be, or contain, a path below a lab's folder; notes what opens one on the way."""
        if id(node) not in self._known:
            how = getattr(self, f"_of_{type(node).__name__.lower()}", self._of_any)
            self._known[id(node)] = how(node, scope)
        return self._known[id(node)]

    def _any(self, nodes: Iterable[ast.AST], scope: _Scope) -> bool:
        return any([self._is(each, scope) for each in nodes])  # noqa: C419  # each of them may open something

    def _of_any(self, node: ast.AST, scope: _Scope) -> bool:
        return self._any(ast.iter_child_nodes(node), scope)

    def _of_other_kind(self, node: ast.AST, scope: _Scope) -> bool:
        """A truth, a number; of a mapping, the fields count."""
        self._of_any(node, scope)
        return False

    _of_constant = _of_dict = _of_compare = _of_unaryop = _of_other_kind

    def _of_name(self, node: ast.Name, scope: _Scope) -> bool:
        return self._name(node.id, scope)

    def _of_lambda(self, node: ast.Lambda, scope: _Scope) -> bool:
        return self._is(node.body, scope)

    def _of_namedexpr(self, node: ast.NamedExpr, scope: _Scope) -> bool:
        self._bind(node.target, node.value, scope)
        return self._is(node.value, scope)

    def _of_ifexp(self, node: ast.IfExp, scope: _Scope) -> bool:
        self._is(node.test, scope)
        return self._any([node.body, node.orelse], scope)

    def _of_binop(self, node: ast.BinOp, scope: _Scope) -> bool:
        joined = isinstance(node.op, ast.Div) and _names_a_folder(node.right)
        return self._any([node.left, node.right], scope) or joined

    def _of_subscript(self, node: ast.Subscript, scope: _Scope) -> bool:
        self._is(node.slice, scope)
        is_field = isinstance(node.slice, ast.Constant) and node.slice.value in FIELDS
        return self._is(node.value, scope) or (is_field and isinstance(node.ctx, ast.Load))

    def _of_attribute(self, node: ast.Attribute, scope: _Scope) -> bool:
        if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
            return ("attribute", scope.module, scope.owner, node.attr) in self.tainted
        return self._is(node.value, scope)

    def _of_comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: _Scope) -> bool:
        for each in node.generators:
            self._bind(each.target, each.iter, scope)
            self._any(each.ifs, scope)
        return self._any([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt], scope)

    _of_listcomp = _of_setcomp = _of_generatorexp = _of_dictcomp = _of_comprehension

    def _name(self, name: str, scope: _Scope) -> bool:
        if any(("name", each.module, each.function, name) in self.tainted for each in scope):
            return True
        if name in FOLDERS:
            origin = self._imports[scope.module].get(name, ("", ""))[0]
            return not origin.endswith("in_files") and not scope.module.endswith("in_files")
        origin = self._imports[scope.module].get(name)
        return bool(origin) and ("name", origin[0], "", origin[1]) in self.tainted

    def _of_call(self, node: ast.Call, scope: _Scope) -> bool:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        on = isinstance(node.func, ast.Attribute) and self._is(node.func.value, scope)
        arguments = [*node.args, *(each.value for each in node.keywords)]
        given = [self._is(each, scope) for each in arguments]
        if name == "Share" and _is_writable(node):
            self._taint(node.args[0], scope)
            if isinstance(node.args[0], ast.Name):
                self.tainted.add(("shared", scope.module, scope.function, node.args[0].id))
        if name in SAFE:
            return False
        targets = list(self._targets(node, name, scope))
        name = self._imports[scope.module].get(name, ("", name))[1]
        if (on or any(given)) and name in OPENING and all(module in OUTBOX for module, _, _ in targets):
            self.found.add(Found(scope.module, scope.function, name))
        results = [self._enter(node, target, scope) for target in targets]
        if name == "folders" and isinstance(node.func, ast.Attribute) and "job" in ast.unparse(node.func.value):
            return True
        if name == "get" and node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value in FIELDS:
            return True
        if name in ("read", "text", "files", "carry", "open") and isinstance(node.func, ast.Attribute) and not on:
            return any(results)  # of an outbox: content
        return any(results) if targets else on or (name in PASSING and any(given))

    def _targets(self, node: ast.Call, name: str, scope: _Scope) -> Iterator[tuple[str, str, ast.FunctionDef]]:
        """Yield the functions of slownet that a call may mean."""
        if isinstance(node.func, ast.Name):
            module, original = self._imports[scope.module].get(name, (scope.module, name))
            yield from self._defined(module, original)
            for each in scope:
                key = (scope.module, each.function.partition(".")[0], name)
                if key in self._nested:
                    yield scope.module, f"{each.function}.", self._nested[key]
        elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            base = node.func.value.id
            if base == "self":
                key = (scope.module, scope.owner, name)
                if key in self._methods:
                    yield scope.module, scope.owner, self._methods[key]
            elif base in self._imports[scope.module]:
                package, module = self._imports[scope.module][base]
                yield from self._defined(f"{package}.{module}" if package else module, name)

    def _defined(self, module: str, name: str) -> Iterator[tuple[str, str, ast.FunctionDef]]:
        found = self._functions.get((module, name))
        if isinstance(found, ast.FunctionDef):
            yield module, "", found
        elif isinstance(found, ast.ClassDef):
            if (module, name, "__init__") in self._methods:
                yield module, name, self._methods[module, name, "__init__"]
            for each in found.body:  # a dataclass
                if isinstance(each, ast.AnnAssign):
                    yield module, name, ast.FunctionDef(name="", args=_fields(found), body=[], decorator_list=[], lineno=0)
                    return

    def _enter(self, node: ast.Call, target: tuple[str, str, ast.FunctionDef], scope: _Scope) -> bool:
        """Pass what is tainted on to a function's parameters; return whether its result is."""
        module, owner, function = target
        name = f"{owner}{function.name}" if owner.endswith(".") else f"{owner}.{function.name}" if owner else function.name
        names = [each.arg for each in [*function.args.posonlyargs, *function.args.args]]
        names = names[1:] if names and names[0] in ("self", "cls") else names
        passed = [*zip(names, node.args, strict=False), *((each.arg, each.value) for each in node.keywords if each.arg)]
        if function.args.vararg:
            passed += [(function.args.vararg.arg, each) for each in node.args[len(names) :]]
        for each, value in passed:
            if ("shared", module, name, each) in self.tainted:
                self._taint(value, scope)
            if self._is(value, scope):
                key = ("name", module, name, each) if function.name else ("attribute", module, owner, each)
                self.tainted.add(key)
        return ("result", module, name) in self.tainted


def _bindings(node: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what a statement assigns, and what it takes that from."""
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.AnnAssign | ast.AugAssign) and node.value:
        yield node.target, node.value
    elif isinstance(node, ast.For):
        yield node.target, node.iter
    elif isinstance(node, ast.With):
        yield from ((each.optional_vars or each.context_expr, each.context_expr) for each in node.items)


def _returned(node: ast.stmt) -> Iterator[ast.expr]:
    if isinstance(node, ast.Return) and node.value:
        yield node.value
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield | ast.YieldFrom) and node.value.value:
        yield node.value.value


def _fields(node: ast.ClassDef) -> ast.arguments:
    names = [each.target.id for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)]
    arguments = [ast.arg(arg=name) for name in names]
    return ast.arguments(posonlyargs=[], args=arguments, kwonlyargs=[], kw_defaults=[], defaults=[])


def _names_a_folder(node: ast.expr) -> bool:
    texts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return any(text in NAMES or text.startswith(tuple(f"{name}/" for name in NAMES)) for text in texts)


def _is_writable(node: ast.Call) -> bool:
    values = [each.value for each in node.keywords if each.arg == "writable"] + node.args[1:2]
    return any(not (isinstance(each, ast.Constant) and each.value is False) for each in values)


def _imports(tree: ast.Module) -> Iterator[tuple[str, tuple[str, str]]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((each.asname or each.name, (node.module, each.name)) for each in node.names)
        elif isinstance(node, ast.Import):
            yield from ((each.asname or each.name, ("", each.name)) for each in node.names)


def sources(package: Path) -> dict[str, str]:
    """Return the text of each module of a package by its name."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text()
    return found
