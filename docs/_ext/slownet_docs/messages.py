"""Every error of slownet's, collected from the code: its text, and how to fix it.

A message's variable parts are written as ``<name>``. Where a function gets the message as a parameter, its callers are read.
"""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from pathlib import Path

import slownet
from slownet.model import options

LIB = Path(slownet.__file__).parent
FIXES = Path(__file__).parents[2] / "reference/fixes.toml"
ROOT = "SlownetError"
PARTS = ("what", "where", "fix")
NEAREST = "<the nearest known name, or a list of them>"
MOST = 12
"""More alternatives than this are not spelled out."""


@dataclass(frozen=True, order=True)
class Message:
    """One error: the room and file that raise it, its class, what it says, and its own advice, which may be empty."""

    file: str
    kind: str
    what: str
    fix: str


def _named_at_top(tree: ast.Module, file: str) -> dict[str, str]:
    found = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    joined = {name for name, value in found.items() if isinstance(value, ast.JoinedStr) and "\n" not in ast.unparse(value)}
    made = vars(importlib.import_module(f"slownet.{file.removesuffix('.py').replace('/', '.')}")) if joined else {}
    plain = {name: value.value for name, value in found.items() if isinstance(value, ast.Constant)}
    return {name: str(value) for name, value in {**plain, **{name: made[name] for name in joined}}.items()}


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def _of_file(path: Path) -> dict[str, str]:
    return _named_at_top(_parsed(path), str(path.relative_to(LIB))) if path.is_file() else {}


def _imported(tree: ast.Module) -> dict[str, str]:
    """Return the constants that a module imports by their names."""
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("slownet.")]
    found = {}
    for node in imports:
        constants = _of_file(LIB.joinpath(*str(node.module).split(".")[1:]).with_suffix(".py"))
        if node.module == options.__name__:
            constants = {name: each.typed for name, each in vars(options).items() if isinstance(each, options.Option)}
        found |= {each.asname or each.name: constants[each.name] for each in node.names if each.name in constants}
    return found


@dataclass(frozen=True)
class Module:
    """A parsed file of the library, with the function around each node."""

    file: str
    tree: ast.Module

    @cached_property
    def constants(self) -> Mapping[str, str]:
        """The texts and numbers that the module names at its top, or imports from another file of the library."""
        return {**_imported(self.tree), **_named_at_top(self.tree, self.file)}

    @cached_property
    def around(self) -> Mapping[ast.AST, ast.FunctionDef | None]:
        found: dict[ast.AST, ast.FunctionDef | None] = {}
        todo: list[tuple[ast.AST, ast.FunctionDef | None]] = [(self.tree, None)]
        while todo:
            node, function = todo.pop()
            found[node] = function
            inner = node if isinstance(node, ast.FunctionDef) else function
            todo += [(each, inner) for each in ast.iter_child_nodes(node)]
        return found

    @cached_property
    def nodes(self) -> Sequence[ast.AST]:
        return [*self.around]

    @cached_property
    def calls(self) -> Sequence[ast.Call]:
        return [node for node in self.nodes if isinstance(node, ast.Call)]

    @cached_property
    def calls_by_name(self) -> Mapping[str, Sequence[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for call in self.calls:
            found.setdefault(name_of(call), []).append(call)
        return found

    def names(self, module: str) -> bool:
        """Return whether the file imports that module."""
        imports = (ast.unparse(node) for node in self.nodes if isinstance(node, ast.ImportFrom | ast.Import))
        return any(re.search(rf"\b{module}\b", each) for each in imports)


def name_of(call: ast.Call) -> str:
    """Return the last part of what is called: "fail" for `self._source.fail(...)`; empty for a call of a call."""
    return getattr(call.func, "attr", "") or getattr(call.func, "id", "")


class Collector:
    """Reads all files once."""

    def __init__(self, folder: Path = LIB) -> None:
        paths = sorted(folder.rglob("*.py"))
        self._modules = [Module(str(path.relative_to(folder)), _parsed(path)) for path in paths]
        self.kinds = self._kinds()

    def _kinds(self) -> set[str]:
        """Return the names of the exceptions of slownet's."""
        classes = [node for one in self._modules for node in one.nodes if isinstance(node, ast.ClassDef)]
        bases = {each.name: {ast.unparse(base) for base in each.bases} for each in classes}
        found = {ROOT}
        while more := {name for name, its in bases.items() if its & found} - found:
            found |= more
        return found

    def messages(self) -> list[Message]:
        """Return all messages, each once a file."""
        found = {message for module in self._modules for call in module.calls for message in self._of(module, call)}
        found |= {message for module in self._modules for message in _refused(module)}
        return sorted(each for each in found if re.search(r"[a-zA-Z]{2}", re.sub(r"<[^>]*>", "", each.what)))

    def _of(self, module: Module, call: ast.Call) -> Iterator[Message]:
        kind = name_of(call)
        if kind not in self.kinds:
            return
        given = dict(zip(PARTS, call.args, strict=False)) | {each.arg: each.value for each in call.keywords if each.arg}
        what, fix = given.get("what"), given.get("fix")
        if what is None or isinstance(what, ast.Starred):
            return
        function = module.around[call]
        names = {each.id for each in (what, fix) if isinstance(each, ast.Name)}
        taken = names & _parameters(function)
        if function and taken and function.name != "__init__":
            here = Scope(module, function)
            for there, values in self._callers(module, function):
                said = (values[_id(what)], there) if _id(what) in values else (what, here)
                yield from _spelled(kind, said, (values[_id(fix)], there) if _id(fix) in values else (fix, here))
        else:
            yield from _spelled(kind, (what, Scope(module, function)), (fix, Scope(module, function)))

    def _callers(self, module: Module, function: ast.FunctionDef) -> Iterator[tuple[Scope, dict[str, ast.expr]]]:
        """Yield where the function is called, and the arguments by name."""
        names = [each.arg for each in function.args.args if each.arg != "self"]
        defaults = dict(zip(reversed(names), reversed(function.args.defaults), strict=False))
        defaults |= {
            each.arg: value for each, value in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True) if value
        }
        where = [module] if function.name.startswith("_") else self._modules
        for one in where:
            calls = one.calls_by_name.get(function.name, ())
            if calls and (len(where) == 1 or _may_mean(one, module)):
                for call in calls:
                    values = defaults | dict(zip(names, call.args, strict=False))
                    yield Scope(one, one.around[call]), values | {each.arg: each.value for each in call.keywords if each.arg}


def _may_mean(one: Module, module: Module) -> bool:
    """Return whether a module is the function's own, of its room, or imports it."""
    return one is module or Path(one.file).parent == Path(module.file).parent or one.names(Path(module.file).stem)


def _id(node: ast.expr | None) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _parameters(function: ast.FunctionDef | None) -> set[str]:
    return {each.arg for each in (*function.args.args, *function.args.kwonlyargs)} if function else set()


Said = tuple[ast.expr | None, "Scope"]
"""An expression, and where it stands."""


def _spelled(kind: str, what: Said, fix: Said) -> Iterator[Message]:
    """Yield a message for each alternative of what it says; the alternatives of its advice are joined."""
    advice = " Or: ".join(dict.fromkeys(each for each in texts(*fix) if each not in ("", "<fix>")))
    for each in dict.fromkeys(texts(*what)):
        yield Message(what[1].module.file, kind, each, advice)


def _refused(module: Module) -> Iterator[Message]:
    """Yield what a condition's fields refuse: the tuples (applies, what, fix) of `slownet.links.conditions`."""
    if not module.file.startswith("conditions/"):
        return
    for node in module.nodes:
        if isinstance(node, ast.Tuple) and len(node.elts) == 3 and all(_is_text(each) for each in node.elts[1:]):
            scope = Scope(module, module.around[node])
            yield from _spelled("ConditionError", (node.elts[1], scope), (node.elts[2], scope))


def _is_text(node: ast.expr) -> bool:
    return (isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value) or isinstance(
        node, ast.JoinedStr | ast.Name
    )


# ---- expressions as text ----


@dataclass(frozen=True)
class Scope:
    """Where an expression stands: its module and function."""

    module: Module
    function: ast.FunctionDef | None

    def values(self, name: str) -> list[ast.expr]:
        """Return the values that the function assigns to a name, or the module's constant of that name."""
        found = _assigned(self.function).get(name, []) if self.function else []
        constant = self.module.constants.get(name)
        return found or ([ast.Constant(constant)] if constant is not None else [])


@cache
def _assigned(function: ast.FunctionDef) -> Mapping[str, list[ast.expr]]:
    """Return the values that the function assigns to each name, to several at once too."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=False))
            for each, value in pairs:
                if isinstance(each, ast.Name):
                    found.setdefault(each.id, []).append(value)
    return found


def texts(node: ast.expr | None, scope: Scope, depth: int = 4) -> list[str]:
    """Return what an expression may say, one text an alternative; nothing for no expression."""
    match node:
        case None:
            return []
        case ast.Constant(value=str(value)):
            return [value]
        case ast.BinOp(op=ast.Mult(), left=ast.Constant(value=str(value))):
            return [f"({value})"]
        case ast.JoinedStr(values=values):
            return _joined([_part(each, scope, depth) for each in values])
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return _joined([texts(left, scope, depth), texts(right, scope, depth)])
        case ast.IfExp(body=body, orelse=other):
            return [*texts(body, scope, depth), *texts(other, scope, depth)]
        case ast.BoolOp(values=values):
            return [text for each in values for text in texts(each, scope, depth)]
        case ast.Name(id=name) if depth and (found := scope.values(name)):
            return list(dict.fromkeys(text for each in found for text in texts(each, scope, depth - 1)))
        case _ if _is_known(node):
            return _known(node, scope, depth)
    return [f"<{_named(node)}>"]


def _part(node: ast.expr, scope: Scope, depth: int) -> list[str]:
    """Return what a part of an f-string may say; a variable stays one unless it is a choice of texts."""
    if isinstance(node, ast.FormattedValue):
        inner = node.value
        is_spelled = isinstance(inner, ast.IfExp | ast.Name) or _is_known(inner)
        found = texts(inner, scope, depth - 1) if is_spelled else []
        spelled = [each for each in found if not each.startswith("<")]
        return spelled if spelled and len(spelled) == len(found) <= 3 else [f"<{_named(inner)}>"]
    return texts(node, scope, depth)


def _known(node: ast.expr, scope: Scope, depth: int) -> list[str]:
    """Return the text of an option of slownet, alone, with its value, or in a command; and of a list of known names."""
    match node:
        case ast.Call(func=ast.Name(id="nearest")):
            return [NEAREST]
        case ast.Call(func=ast.Name(id="Option"), args=[ast.Constant(value=str(name))]):
            return [options.Option(name).typed]
        case ast.Attribute(value=ast.Name() | ast.Call() as option, attr="typed"):
            return texts(option, scope, depth)
        case ast.Call(func=ast.Attribute(value=option, attr="set"), args=[ast.Constant(value=value)]):
            return _joined([texts(option, scope, depth), [f" {value}"]])
        case ast.Call(func=ast.Attribute(value=option, attr="set"), args=[value]):
            return _joined([texts(option, scope, depth), [" "], _part(value, scope, depth)])
        case ast.Call(func=ast.Attribute(value=option, attr="in_command"), args=[command, *values]):
            after = [part for each in values for part in ([" "], _part(each, scope, depth))]
            return _joined([["slownet "], texts(command, scope, depth), [" "], texts(option, scope, depth), *after])
    return [f"<{_named(node)}>"]


def _is_known(node: ast.expr) -> bool:
    """Return whether `_option` knows it: `TDF.typed`, `TDF.set("inf")`, `TDF.in_command("run", "auto")`."""
    match node:
        case ast.Call(func=ast.Name(id="Option" | "nearest")) | ast.Attribute(attr="typed"):
            return True
        case ast.Call(func=ast.Attribute(attr="set" | "in_command")):
            return True
    return False


def _joined(parts: Sequence[list[str]]) -> list[str]:
    """Return all combinations of the parts' alternatives, or only the first of each where they are too many."""
    combinations = ["".join(each) for each in product(*parts)]
    return combinations if len(combinations) <= MOST else ["".join(each[0] for each in parts)]


def _named(node: ast.expr) -> str:
    """Return a short name for a variable part: "strerror" for `error.strerror`, "path" for `str(path)`."""
    match node:
        case ast.Name(id=name):
            return name.strip("_").replace("_", " ")
        case ast.Attribute(attr=name):
            return name.strip("_").replace("_", " ")
        case ast.Constant(value=value):
            return str(value)
        case ast.Call(func=ast.Attribute(attr="join"), args=[inner, *_]):
            return f"{_named(inner)}..."
        case ast.Call(args=[inner, *_]) if not isinstance(inner, ast.Constant):
            return _named(inner)
        case ast.Call(func=function):
            return _named(function)
        case ast.Subscript(value=inner) | ast.Starred(value=inner) | ast.GeneratorExp(elt=inner) | ast.ListComp(elt=inner):
            return _named(inner)
        case ast.BinOp(left=left, right=right):
            return _named(right if isinstance(left, ast.Constant) else left)
        case ast.IfExp(body=body) | ast.BoolOp(values=[body, *_]):
            return _named(body)
    return "..."


# ---- the page ----


def fixes() -> dict[str, dict[str, str]]:
    """Return the advice that is written by hand, {file: {message, or "*" for all: advice}}."""
    return tomllib.loads(FIXES.read_text())


def advice(message: Message, written: Mapping[str, Mapping[str, str]]) -> str:
    """Return how to fix an error: its own advice, or that of fixes.toml; empty without either."""
    own = written.get(message.file, {})
    return message.fix or own.get(message.what, "") or own.get("*", "")


def page() -> str:
    """Return a section a room: each message, then its fix."""
    written, lines, room = fixes(), [], ""
    for each in Collector().messages():
        of = each.file.partition("/")[0].removesuffix(".py")
        if of != room:
            room = of
            lines += [f"## {room}", ""]
        lines += [f"{_code(each.what)}", f": {_prose(advice(each, written))} *({each.kind}, {each.file})*", ""]
    return "\n".join(lines)


def _code(text: str) -> str:
    text = " ".join(text.split())
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _prose(text: str) -> str:
    """Return advice as Markdown: its variable parts and commands as they are."""
    text = " ".join(text.split())
    return f"`` {text} ``" if "`" in text else f"`{text}`" if re.search(r"[<>*_\[\]{}|$]", text) else text
