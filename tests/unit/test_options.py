"""Options are fields of dataclasses; the command line and pytest take them from there, and errors carry them as data."""

import ast
import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

import slownet
from slownet.api.calls import naming_arguments
from slownet.cli import app as cli
from slownet.cli.check import CheckOptions
from slownet.cli.hunt import HuntOptions
from slownet.cli.lab import ExecOptions
from slownet.cli.option_fields import Shown, of_fields
from slownet.cli.replay import ReplayOptions
from slownet.cli.reproduce import ReproduceOptions
from slownet.model import options
from slownet.model.errors import LabError
from slownet.model.options import CLOCK, TDF, Option
from slownet.pytest_plugin import wishes
from slownet.runner.run_options import RunOptions
from slownet.runner.sweep_options import SweepOptions
from slownet.runner.where import Where

LIB = Path(slownet.__file__).parent
EDGE = ("cli", "pytest_plugin")
TYPED = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
TREE = typer.main.get_command(cli.tree())
RUN = {each.opts[0]: each for each in TREE.commands["run"].params}


@pytest.mark.parametrize("name", options.names(RunOptions))
def test_the_command_line_and_python_have_each_option(name):
    stated = options.of(RunOptions, name)
    found = RUN[stated.typed]
    assert (found.metavar, found.help) == (stated.metavar, stated.text)
    assert name in inspect.signature(slownet.run).parameters


@pytest.mark.parametrize(
    ("words", "cls"),
    [
        ("sweep", SweepOptions), ("sweep", Where), ("hunt", HuntOptions), ("hunt", Where), ("hunt replay", ReplayOptions),
        ("check", CheckOptions), ("check", Where), ("reproduce", ReproduceOptions), ("lab exec", ExecOptions),
    ],
)  # fmt: skip
def test_a_command_has_the_options_of_its_dataclass(words, cls):
    command = TREE
    for word in words.split():
        command = command.commands[word]
    shown = {each.opts[0]: each for each in getattr(command, "own", command).params}
    for name in options.names(cls):
        stated = options.of(cls, name)
        found = shown[stated.typed]
        assert (found.metavar or "", found.help, found.min) == (
            stated.metavar,
            stated.text,
            stated.least,
        )


def test_a_command_gets_the_fields_of_a_dataclass_as_one_object():
    @dataclass(frozen=True)
    class Tea:
        cups: int = field(default=1, metadata=options.stated("N", "How many.", least=1))
        sorts: Sequence[str] = field(default=(), metadata=options.stated("NAME", "Which."))
        hot: bool = field(default=False, metadata=options.stated("", "Boil the water."))

    made = []

    @of_fields
    def brew(pot: str, *, tea: Annotated[Tea, Shown(others={"cups": {"default": 2}})]) -> None:
        made.append((pot, tea))

    app = typer.Typer()
    app.command()(brew)
    typed = ("big", "big --sorts a --sorts b --cups 3 --hot", "big --cups 0")
    statuses = [CliRunner().invoke(app, words).exit_code for words in typed]
    assert statuses == [0, 0, 2]
    assert made == [("big", Tea(2)), ("big", Tea(3, ("a", "b"), True))]


def test_where_something_runs_is_the_same_in_a_run_and_elsewhere():
    assert set(options.names(Where)) <= set(options.names(RunOptions))
    for name in options.names(Where):
        assert options.of(Where, name) == options.of(RunOptions, name)


@pytest.mark.parametrize("name", ["clock", "tdf", "cpu", "kernel", "memory"])
def test_pytest_has_the_same_form_and_text(name):
    (metavar, text) = next(rest for typed, *rest in wishes.OPTIONS if typed == f"--slownet-{name}")
    stated = options.of(Where, name)
    assert metavar == stated.metavar
    assert text.startswith(stated.text)


def test_an_error_carries_its_option_and_prints_its_name_where_one_is():
    def error():
        return LabError("unclear", TDF, f"leave out {CLOCK}, or use {TDF.set('inf')}")

    assert error().option == Option("tdf")
    assert str(error()) == "unclear, --tdf: leave out --clock, or use --tdf inf"
    with wishes.option_names_here():
        assert str(error()) == "unclear, --slownet-tdf: leave out --slownet-clock, or use --slownet-tdf inf"
    with pytest.raises(LabError, match=r'^unclear, tdf=: leave out clock=, or use tdf="inf"$'), naming_arguments():
        raise error()
    assert LabError("unclear", "a file").option is None


def typed():
    """Return all options of all commands, as they are typed."""

    def below(command):
        for each in getattr(command, "commands", {}).values():
            yield from (name for each in getattr(each, "own", each).params for name in each.opts if name.startswith("--"))
            yield from below(each)

    return set(below(TREE)) - {"--help"}


def texts(tree):
    """Yield the strings of a module that are neither documentation nor an argument of another program.

    Such an argument is an option without a space in a list or tuple, or what an argument is compared with.
    """
    above = {id(child): each for each in ast.walk(tree) for child in ast.iter_child_nodes(each)}
    for each in ast.walk(tree):
        if not (isinstance(each, ast.Constant) and isinstance(each.value, str)):
            continue
        around = above[id(each)]
        if isinstance(around, ast.JoinedStr):
            around = above[id(around)]
        is_asked = isinstance(around, ast.Call) and getattr(around.func, "attr", "") == "startswith"
        of_other = is_asked or isinstance(around, (ast.List, ast.Tuple, ast.Compare))
        if not isinstance(around, ast.Expr) and not (of_other and " " not in each.value):
            yield each.value


def test_no_text_below_the_edge_names_an_option():
    """Each carries it as data: `slownet.model.options`."""
    known, found = typed(), []
    for path in LIB.rglob("*.py"):
        place = path.relative_to(LIB)
        if place.parts[0] not in EDGE and "--" in (source := path.read_text()):
            found += [(str(place), text) for text in texts(ast.parse(source)) if known & set(TYPED.findall(text))]
    assert found == []
