"""The documentation's code blocks, as far as they can be judged without a lab: `make docs-test` runs them."""

import configparser
import functools
import itertools
import json
import re
import shlex
import tomllib

import pytest
import typer
import yaml
from blocks import DATA, DOCS, LANGUAGES, SKIPS, Block, blocks, pages

from slownet.cli import app as cli

ALL = [block for page in pages() for block in blocks(page)]
STEPS = [(block, step) for block in ALL if block.language == "console" for step in block.steps]
READERS = {"toml": tomllib.loads, "yaml": yaml.safe_load, "json": json.loads, "ini": configparser.ConfigParser().read_string}


def named(values):
    return [pytest.param(*each, id=f"{each[0]}-{number}") for number, each in enumerate(values)]


def test_there_is_something_to_judge():
    assert len(STEPS) > 5
    assert {"console", "python"} <= {block.language for block in ALL}


def test_each_block_is_of_a_known_language():
    assert [f"{block}: {block.language!r}" for block in ALL if block.language not in LANGUAGES] == []


def test_each_console_block_has_commands():
    assert [str(block) for block in ALL if block.language == "console" and not block.steps] == []


def test_each_skip_says_what_is_missing():
    known = {"exit", "skip"}
    assert [str(block) for block in ALL if set(block.notes) - known or block.notes.get("skip", SKIPS[0]) not in SKIPS] == []


@pytest.mark.parametrize(("block", "text"), named((block, block.text) for block in ALL if block.language in DATA))
def test_data_can_be_read(block, text):
    READERS[block.language](text)


@pytest.mark.parametrize(("block", "text"), named((block, block.text) for block in ALL if block.language == "python"))
def test_python_compiles(block, text):
    compile(text, str(block), "exec")


@pytest.mark.parametrize(("block", "step"), named(STEPS))
def test_the_command_line_understands_it(block, step):
    for words in commands(step.command.replace("\\\n", " ")):
        if words[0] == "slownet" and block.notes.get("exit") != "2":
            # A pattern may stand for one file or several.
            spelled = [[each for word in words[1:] for each in [word] * (times if "*" in word else 1)] for times in (1, 2)]
            assert any(map(understands, spelled))


def commands(line):
    """Yield the words of each command of a shell's line, without sudo and variables in front of it."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    for joins, words in itertools.groupby(lexer, lambda word: set(word) <= set("|&;")):
        rest = list(itertools.dropwhile(lambda word: word in ("sudo", "env") or "=" in word.split("/")[0], words))
        if rest and not joins:
            yield rest


def understands(words):
    try:
        understood(words)
    except typer.TyperException:
        return False
    return True


@functools.cache
def whole():
    """Return the command line with all its commands, for which Typer makes hundreds of options."""
    return typer.main.get_command(cli.tree())


def understood(words):
    """Raise the command line's error for words that it cannot parse; nothing runs."""
    command = whole()
    given = cli._with_interfaces(list(words))
    while given and hasattr(command, "commands") and (hasattr(command, "own") or not given[0].startswith("-")):
        _, command, given = command.resolve_command(typer.Context(command), given)
    if given and given[0] not in ("--help", "--version"):
        command.make_context("slownet", list(given))


def test_each_file_of_a_page_is_used():
    """By a later command of the page, by name or with its folder; slownet finds a project's file, pytest its settings."""
    found_by_itself = ("pyproject.toml", "slownet.toml", "conftest.py", "compose.yaml")
    for page in pages():
        for block in blocks(page):
            name = (block.file or "").rpartition("/")[2]
            if name and not name.startswith(found_by_itself):
                runs_tests = name.startswith("test_") and re.search(r"^\$ .*pytest", page.read_text(), re.MULTILINE)
                assert runs_tests or page.read_text().count(name) > 1, f"{block}: {name}"


# ---- the reader of blocks itself ----

PAGE = """\
% test: exit=1
```console
$ slownet run \\
> mine.py
measured ...
$ ls
```

1. In a list:
   ```{code-block} python
   :caption: mine.py
   x = 1
   ```

```{toctree}
index
```
"""


def test_blocks_of_a_page(tmp_path, monkeypatch):
    monkeypatch.setattr("blocks.DOCS", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    commands, file = blocks(page)
    assert [(step.command, step.printed) for step in commands.steps] == [
        ("slownet run \\\nmine.py", "measured ..."),
        ("ls", None),
    ]
    assert commands.notes == {"exit": "1"}
    assert file == Block(page, 10, "python", "x = 1\n", "mine.py", {})
    assert (str(file), file.notes) == ("page.md:10", {})


def test_the_documentation_is_found():
    assert DOCS / "index.md" in pages()
