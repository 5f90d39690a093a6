"""Each command's help has examples that the command line understands, and says what the exit statuses mean."""

import re
import shlex

import pytest
import typer

from slownet.cli import app as cli
from slownet.cli.examples import COMMANDS


def commands(command, path="slownet"):
    """Yield each command's words, and the command."""
    for name, each in getattr(command, "commands", {}).items():
        if hasattr(each, "commands"):
            yield from commands(each, f"{path} {name}")
        if not hasattr(each, "commands") or hasattr(each, "own"):
            yield f"{path} {name}", getattr(each, "own", each)


TREE = dict(commands(typer.main.get_command(cli.tree())))
EXAMPLES = [(path, line) for path, told in COMMANDS.items() for line in told.examples]


def test_each_command_has_two_examples_and_its_statuses():
    assert sorted(TREE) == sorted(COMMANDS)
    for path, told in COMMANDS.items():
        assert len(told.examples) > 1
        assert told.status
        assert TREE[path].epilog == told.epilog


def test_a_status_that_the_help_names_is_among_them():
    named = [
        (told.status, int(number)) for path, told in COMMANDS.items() for number in re.findall(r"\bis (\d)\b", TREE[path].help)
    ]
    assert named
    assert all(number in status for status, number in named)


@pytest.mark.parametrize(("path", "line"), EXAMPLES)
def test_an_example_is_understood(path, line):
    found = [each for each in re.split(r" (?:\||&&) |; ", line) if "slownet" in each]
    words = shlex.split(found[-1].removeprefix("sudo "))
    command = path.split()
    assert words[: len(command)] == command
    TREE[path].make_context(path, cli._with_interfaces(words[1:])[len(command) - 1 :])


@pytest.mark.parametrize("path", COMMANDS)
def test_the_help_shows_them_whole(path, capsys, monkeypatch):
    monkeypatch.setenv("TERMINAL_WIDTH", "120")
    with pytest.raises(SystemExit) as ended:
        cli.main([*path.split()[1:], "--help"])
    assert ended.value.code == 0
    shown = re.sub(r"\s+", " ", capsys.readouterr().out)
    for line in COMMANDS[path].examples:
        assert re.sub(r"\s+", " ", line) in shown
    assert "Exit status:" in shown
