"""The public names of `import slownet`: each exists, is typed and documented, and is imported only when used."""

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mininet.node import Node
from mininet.topo import Topo

import slownet
from slownet.model import mininets
from slownet.model.face import homes

CHECKOUT = Path(__file__).parents[2]
HOMES = {name: module for name, module in homes().items() if name != "__version__"}
BY_ITS_BUILD = {name for name, module in HOMES.items() if module == "slownet.topologies"}


def python(code, *options, **environment):
    """Run code in a new Python process and return the words that it prints."""
    words = [sys.executable, *options, "-c", code]
    return subprocess.run(words, env=environment or None, capture_output=True, text=True, check=True).stdout.split()


def test_type_checkers_and_the_package_read_the_same_names():
    stub, kinds = Path(slownet.__file__).with_suffix(".pyi"), Path(slownet.__file__).parent / "judge" / "claim" / "kinds.py"
    lines = [each for file in (stub, kinds) for each in ast.parse(file.read_text()).body[file == kinds :]]
    assert {type(each) for each in lines} == {ast.ImportFrom}
    assert [each.module for each in lines for alias in each.names if alias.name == "*"] == ["slownet.judge.claim.kinds"]
    imported = {alias.asname: each.module for each in lines for alias in each.names if alias.name == alias.asname}
    assert imported == homes() == {**HOMES, "__version__": "slownet.model.version"}
    assert slownet.__all__ == sorted(HOMES)
    assert set(slownet.__all__) <= set(dir(slownet))
    assert len(HOMES) > 100


@pytest.mark.parametrize("name", slownet.__all__)
def test_each_name_is_there_and_says_what_it_is(name):
    found = getattr(slownet, name)
    assert found is getattr(importlib.import_module(HOMES[name]), name)
    own = vars(found).get("__doc__") if isinstance(found, type) else found.__doc__
    assert own
    assert not own.startswith(f"{name}(")  # the docstring that dataclass generates
    first = inspect.cleandoc(own).split("\n\n")[0]
    assert first.endswith((".", ":"))


def members():
    """Yield the public methods and properties of the public classes, including those inherited from slownet's classes."""
    public = [getattr(slownet, name) for name in slownet.__all__]
    kinds = dict.fromkeys(each for one in public if isinstance(one, type) for each in one.__mro__)
    for kind in (each for each in kinds if each.__module__.startswith("slownet")):
        for name, value in vars(kind).items():
            if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property | classmethod)):
                yield pytest.param(kind, name, id=f"{kind.__name__}.{name}")


@pytest.mark.parametrize(("kind", "name"), list(members()))
def test_each_method_says_what_it_does(kind, name):
    assert inspect.getdoc(getattr(kind, name))


def parameters(name):
    """Return the parameters of a public function, a class that users instantiate, or a topology."""
    found = getattr(slownet, name)
    if name in BY_ITS_BUILD:
        found = found.build
    elif isinstance(found, type):
        if dataclasses.is_dataclass(found) or getattr(found, "_is_protocol", False) or "__init__" not in vars(found):
            return []
        found = found.__init__
    return [each for each in inspect.signature(found).parameters if each != "self"]


# Users do not create Link (from its network) or Measured (from a tool's record); Topology is Mininet's; claims explain their
# fields in their docstrings.
MADE_BY_OTHERS = {"Link", "Measured", "Topology"}
EXPLAINED = [
    name
    for name in slownet.__all__
    if name not in MADE_BY_OTHERS and not HOMES[name].startswith("slownet.judge.claim") and parameters(name)
]


@pytest.mark.parametrize("name", EXPLAINED)
def test_every_parameter_is_explained(name):
    text = inspect.getdoc(getattr(slownet, name))
    section = re.search(r"\nParameters\n-{10}\n(.*?)(\n\n\w+\n-{3,}\n|\Z)", text, re.DOTALL)
    assert section, "numpydoc's section Parameters"
    entries = re.findall(r"^(\S.*?)(?: : .*)?\n    ", section[1], re.MULTILINE)
    assert sorted(each.lstrip("*") for entry in entries for each in entry.split(", ")) == sorted(parameters(name))


def test_the_package_by_itself_brings_nothing():
    brought = python("import sys; before = set(sys.modules); import slownet; print(*set(sys.modules) - before)")
    assert set(brought) - {"types"} == {"slownet"}


def test_a_short_command_brings_none_of_the_public_names():
    code = """
import sys
from contextlib import redirect_stdout, suppress
from io import StringIO
from slownet.cli.app import main
with redirect_stdout(StringIO()), suppress(SystemExit):
    main(["--help"])
print(*sys.modules)
"""
    brought = set(HOMES.values()) & set(python(code))
    assert brought <= {"slownet.model.errors", "slownet.net.process"}  # which the commands themselves use


def test_a_public_name_goes_before_a_module_of_that_name():
    code = """
from slownet.theory.law import Law, fit
from slownet import experiment, law
from slownet.theory import published
print(callable(experiment), law.__module__, published.__name__)
"""
    assert python(code) == ["True", "slownet.judge.claim.laws", "slownet.theory.published"]


def test_no_room_has_a_public_name():
    """Importing a module makes it an attribute of the package, in place of a public name."""
    assert not set(slownet.__all__) & {each.name for each in pkgutil.iter_modules(slownet.__path__)}


def test_another_name_is_none():
    with pytest.raises(AttributeError, match="has no attribute 'lwa'"):
        _ = slownet.lwa


@pytest.mark.parametrize("name", ["setup", "tests", "lib"])
def test_the_checkouts_other_folders_are_no_modules(name):
    assert importlib.util.find_spec(f"slownet.{name}") is None


def test_a_checkout_that_is_only_on_the_path_has_its_rooms():
    """As in the lab, where the package is not installed and pip has no finder for it."""
    code = """
import sys, slownet, slownet.experiments, slownet.topologies
print(slownet.experiments.__path__[0], slownet.topologies.__path__[0], slownet.ClientWebDb.__name__, *slownet.__path__)
"""
    path = ":".join([str(CHECKOUT / "lib"), *(each for each in sys.path if each.endswith("-packages"))])
    *rooms, name, package = python(code, "-S", PYTHONPATH=path)
    assert rooms == [str(CHECKOUT / "experiments"), str(CHECKOUT / "topologies")]
    assert (name, package) == ("ClientWebDb", str(CHECKOUT / "lib/slownet"))


def test_the_rooms_are_those_of_the_same_checkout_whatever_else_is_installed():
    code = """
import sys

class Elsewhere:
    def find_spec(name, path=None, target=None):
        if name in ("slownet.topologies", "slownet.experiments"):
            sys.exit(f"{name} of another checkout")

sys.meta_path.insert(0, Elsewhere)
import slownet.experiments, slownet.topologies
print("these")
"""
    assert python(code) == ["these"]


def test_it_says_that_it_has_types():
    assert (Path(slownet.__file__).parent / "py.typed").is_file()


def typed_methods():
    """Yield the methods of Mininet's classes that `mininets` types: (name, its AST, Mininet's method)."""
    tree = ast.parse(Path(mininets.__file__).read_text())
    for kind, real in (("Topology", Topo), ("Node", Node)):
        (found,) = (each for each in ast.walk(tree) if isinstance(each, ast.ClassDef) and each.name == kind)
        yield from ((f"{kind}.{each.name}", each.args, real) for each in found.body if isinstance(each, ast.FunctionDef))


@pytest.mark.parametrize(("name", "arguments", "real"), [pytest.param(*each, id=each[0]) for each in typed_methods()])
def test_types_are_those_of_mininets_methods(name, arguments, real):
    ours = [each.arg for each in (*arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg) if each]
    assert list(inspect.signature(getattr(real, name.split(".")[1])).parameters) == ours


def test_a_topology_is_mininets():
    assert slownet.Topology is Topo
