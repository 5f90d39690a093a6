"""What help shows: the authors' words as they are, on a terminal and through a pipe."""

import re
import subprocess
import sys

import pytest
import typer

from slownet.cli import app as cli
from slownet.cli.list import show
from slownet.hypotheses import value_texts
from slownet.hypotheses.catalogue import discover, find, layered


def below(command, path=()):
    """Yield the words and the command of the tree's root, of each group and of each command."""
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from below(each, (*path, name))


TREE = dict(below(typer.main.get_command(cli.tree())))
GROUPS = [path for path, command in TREE.items() if hasattr(command, "commands")]


def shown(words, capsys, monkeypatch, columns="80"):
    monkeypatch.setenv("TERMINAL_WIDTH", columns)
    monkeypatch.setenv("COLUMNS", columns)
    with pytest.raises(SystemExit) as ended:
        cli.main(list(words))
    printed = capsys.readouterr()
    assert (ended.value.code, printed.err) == (0, "")
    return printed.out


@pytest.mark.parametrize("path", [each for each in GROUPS if each != ("doctor",)], ids=" ".join)
def test_a_group_alone_shows_its_help(path, capsys, monkeypatch):
    """Unless it does something by itself, without an argument."""
    alone = shown(path, capsys, monkeypatch)
    assert alone == shown([*path, "--help"], capsys, monkeypatch)
    assert path == () or "Commands:" in alone
    assert all(re.search(rf"^(  |.{{8}}){name} ", alone, re.MULTILINE) for name in TREE[path].commands)


def test_the_program_alone_ends_with_status_0():
    done = subprocess.run([sys.executable, "-m", "slownet.cli"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: slownet [OPTIONS] COMMAND")


def test_the_help_of_the_program_is_one_screen(capsys, monkeypatch):
    lines = shown(["--help"], capsys, monkeypatch).splitlines()
    assert len(lines) <= 23, "a prompt follows"
    assert max(map(len, lines)) <= 80
    listed = lines[2 : 2 + len(cli.COMMANDS)]
    assert [each[8:18].strip() for each in listed] == list(cli.COMMANDS)
    assert [section for each in listed if (section := each[:8].strip())] == ["Measure", "Look", "Build", "Teach"]


def test_the_help_of_run_begins_with_what_people_type(capsys, monkeypatch):
    options = [
        each.split()[0] for each in shown(["run", "--help"], capsys, monkeypatch).splitlines() if each.startswith("  --")
    ]
    assert options[:4] == ["--vary", "--repeat", "--budget", "--out"]
    assert len(options) <= 20


@pytest.mark.parametrize("path", TREE, ids=" ".join)
def test_the_help_of_each_command_is_at_most_two_screens(path, capsys, monkeypatch):
    lines = shown([*path, "--help"], capsys, monkeypatch).splitlines()
    assert len(lines) <= 48, "of 24 lines each"
    assert [each for each in lines if len(each) > 80] == []


@pytest.mark.parametrize("path", TREE, ids=" ".join)
@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_the_words_of_help_are_whole(path, columns, capsys, monkeypatch):
    """None is eaten as markup, shortened, or followed by a type of Python's."""
    words = "".join(shown([*path, "--help"], capsys, monkeypatch, columns).split())
    command = TREE[path]
    for each in getattr(command, "own", command).params:
        if getattr(each, "help", None) and not getattr(each, "hidden", False):
            assert "".join(each.help.split()) in words
    for each in getattr(command, "commands", {}).values():
        assert "".join(each.get_short_help_str(1000).split()) in words
    assert not re.search(r"<(bool|str|int|float|list|Path|file|path)\b", words)
    assert "…" not in words


def test_square_brackets_are_text(capsys, monkeypatch):
    app = typer.Typer(cls=cli.Commands, rich_markup_mode=cli.PLAIN)

    @app.command()
    def one(name: str = typer.Argument(help="Of [tool.slownet], [red]or[/red] any.")) -> None:
        """Reads [tool.slownet] of a file."""

    @app.command()
    def two() -> None:
        """The other [one]."""

    for words, text in ((["one", "--help"], "[red]or[/red]"), (["one", "--help"], "Reads [tool.slownet]"), ([], "other [one]")):
        with pytest.raises(SystemExit) as ended:
            app(words)
        assert ended.value.code == 0
        assert text in " ".join(capsys.readouterr().out.split())


def test_a_list_in_a_pipe_has_one_line_for_each_experiment(capsys):
    show()
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.split() == ["experiment", "question", "conditions"]
    found = discover() | {name: find(name) for name in layered()}
    assert [line.split()[0] for line in lines] == sorted(found)
    for line in lines:
        each = found[line.split()[0]]
        assert line.index(each.question) == first.index("question")
        assert line.rstrip() == line
        assert all(value_texts.shown(values) in line for values in each.conditions.values())


def test_a_list_on_a_terminal_is_a_table_of_its_width(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "72")
    monkeypatch.setenv("TERM", "xterm")
    show()
    lines = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out).splitlines()
    assert max(map(len, lines)) <= 72
    assert len(lines) > 2 * len(discover())
