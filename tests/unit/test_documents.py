"""The documents are correct: their commands parse, the files and names exist, and imports follow the architecture."""

import ast
import doctest
import functools
import importlib.util
import json
import os
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
import typer

import slownet
from slownet.cli import app as cli
from slownet.model.errors import SlownetError

CHECKOUT = Path(__file__).parents[2]
DOCUMENTS = sorted(CHECKOUT.glob("*.md"))
TEXTS = {path.name: path.read_text() for path in DOCUMENTS}
CODE = {name: re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)) for name, text in TEXTS.items()}
FENCED = {name: "\n".join(re.findall(r"```[a-z]*\n(.*?)```", text, re.DOTALL)) for name, text in TEXTS.items()}
PROGRAM = re.compile(r"(?:sudo )?(?:\.venv/bin/)?(make|slownet)(?= |$)(.*)")
PLACEHOLDER = "NAME"
ROOMS = {"slownet.experiments": "experiments", "slownet.topologies": "topologies"}
"""Rooms that are folders of the checkout."""
LARGEST = 600


def commands():
    """Yield (document, "make" or "slownet", its words) from lines of code blocks and from inline code."""
    for name in TEXTS:
        for line in [*FENCED[name].splitlines(), *CODE[name]]:
            if found := PROGRAM.match(line):
                yield name, found[1], tuple(shlex.split(found[2], comments=True))


COMMANDS = sorted(set(commands()))


def test_there_are_commands_to_look_at():
    assert {"README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"} <= TEXTS.keys()
    assert len([each for each in COMMANDS if each[1] == "slownet"]) > 15
    assert len([each for each in COMMANDS if each[1] == "make"]) > 5


@functools.cache
def whole():
    """Return the command line with all its commands, for which Typer makes hundreds of options."""
    return typer.main.get_command(cli.tree())


def understood(words):
    """Raise the command line's error for words that it cannot parse. Nothing runs; a name alone must be a command's."""
    command = whole()
    given = cli._with_interfaces(list(words))
    while given and hasattr(command, "commands") and (hasattr(command, "own") or not given[0].startswith("-")):
        _, command, given = command.resolve_command(typer.Context(command), given)
    if given:
        command.make_context("slownet", list(given))


@pytest.mark.parametrize(("document", "words"), [each[::2] for each in COMMANDS if each[1] == "slownet"])
def test_the_command_line_understands_it(document, words):
    understood(words)


def test_readme_says_what_the_kept_reproduction_came_to():
    found = importlib.util.spec_from_file_location("proof", CHECKOUT / "docs/proof.py")
    proof = importlib.util.module_from_spec(found)
    found.loader.exec_module(proof)
    kept = json.loads(proof.KEPT.read_text())
    assert TEXTS["README.md"].partition(proof.BEGIN)[2].partition(proof.END)[0] == f"{proof.sentence(kept)}\n"
    assert doctest.testmod(proof).failed == 0


@pytest.mark.parametrize(("made", "said"), [("", "about ten minutes"), ("slownet/image/1234", "about a minute")])
def test_setting_up_says_its_time_and_disk_before_it_starts(made, said, tmp_path):
    Path(tmp_path, made).mkdir(parents=True, exist_ok=True)
    caches = {"XDG_CACHE_HOME": str(tmp_path), "SLOWNET_SYSTEM_CACHE": str(tmp_path / "none")}
    done = subprocess.run(
        [CHECKOUT / "lib/slownet/lab/host/setup-says"], env=os.environ | caches, capture_output=True, text=True, check=True
    )
    assert said in done.stderr
    assert "0.5 GB" in done.stderr
    recipe = (CHECKOUT / "Makefile").read_text().partition("$(VENV)/ready:")[2].splitlines()
    assert recipe[1].strip() == "@lib/slownet/lab/host/setup-says"


@pytest.mark.parametrize("words", [("runn",), ("run", "--tfd", "inf"), ("show", "--att"), ("lab", "exce")])
def test_the_command_line_does_not_understand_what_it_cannot(words):
    with pytest.raises((typer.TyperException, SlownetError)):
        understood(words)


@pytest.mark.parametrize(("document", "words"), [each[::2] for each in COMMANDS if each[1] == "make"])
def test_make_has_that_target(document, words):
    targets = set(re.findall(r"^([a-z0-9.-]+):", (CHECKOUT / "Makefile").read_text(), re.MULTILINE))
    assert {each for each in words if "=" not in each} <= targets


def test_make_help_names_every_target():
    text = (CHECKOUT / "Makefile").read_text()
    targets = re.findall(r"^([a-z0-9.-]+):(.*)$", text, re.MULTILINE)
    phony = re.search(r"^\.PHONY: (.*?)\n\.", text, re.MULTILINE | re.DOTALL)[1].replace("\\\n", " ").split()
    assert sorted(phony) == sorted(name for name, _ in targets)
    assert [name for name, rest in targets if "## " not in rest] == []


@pytest.mark.parametrize("document", TEXTS)
def test_the_files_that_it_names_are_there(document):
    named = {each for each in CODE[document] if re.fullmatch(r"(lib|tests|experiments|topologies)/\S+", each)}
    assert [each for each in sorted(named) if PLACEHOLDER not in each and not (CHECKOUT / each).exists()] == []


@pytest.mark.parametrize("document", TEXTS)
def test_the_names_that_it_names_are_there(document):
    for dotted in sorted(set(re.findall(r"\bslownet(?:\.[A-Za-z_]\w*)+", " ".join(CODE[document]) + FENCED[document]))):
        if not dotted.startswith(("slownet.pytest_plugin.", "slownet.egg")):
            assert resolved(dotted), dotted


def resolved(dotted):
    """Return whether a module, or an attribute of one, has that name."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for name in parts[count:]:
            found = getattr(found, name, None)
        return found is not None or dotted in ENTRY_POINTS
    return False


ENTRY_POINTS = {f"slownet.{kind}" for kind in ("tools", "services", "claims", "conditions", "topologies", "experiments")}


def test_every_kind_that_others_can_add_is_in_the_table():
    told = set(re.findall(r"\| `(slownet\.\w+)` \|$", TEXTS["CONTRIBUTING.md"], re.MULTILINE))
    registered = {
        f"slownet.{kind}"
        for folder in ("lib/slownet", "topologies")
        for path in (CHECKOUT / folder).rglob("*.py")
        for kind in re.findall(r'Register\("(\w+)"', path.read_text())
    }
    assert told == registered == ENTRY_POINTS


# ---- imports between rooms ----


def rows():
    """Return the rooms of each row of ARCHITECTURE.md's table, from the top."""
    table = TEXTS["ARCHITECTURE.md"].partition("who may import whom")[2].partition("\n## ")[0]
    return [re.findall(r"`([\w.]+)`", line.split("|")[1]) for line in table.splitlines() if line.startswith("| `slownet")]


def modules():
    """Yield (dotted name, path) of the project's modules."""
    for name, folder in {"slownet": "lib/slownet", **ROOMS}.items():
        for path in sorted((CHECKOUT / folder).rglob("*.py")):
            inner = path.relative_to(CHECKOUT / folder).with_suffix("").parts
            yield ".".join([name, *(each for each in inner if each != "__init__")]), path


@functools.cache
def imported(path):
    """Return what a module imports from the project, in its functions too: modules, and names in modules."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "slownet":
            found |= {f"{node.module}.{each.name}" for each in node.names}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names if each.name.split(".")[0] == "slownet"}
    return found


def room(name):
    return ".".join(name.split(".")[:2])


def test_every_room_has_one_row():
    told = [each for row in rows() for each in row]
    assert sorted(told) == sorted({room(name) for name, _ in modules()} - {"slownet"})


def test_every_room_has_a_picture_of_modules_that_exist():
    pictures = TEXTS["ARCHITECTURE.md"].partition("## A picture of each room")[2].split("```")[1]
    drawn = re.findall(r"^([a-z_]+) ", pictures, re.MULTILINE)
    assert sorted(drawn) == sorted({each.partition(".")[2] for row in rows() for each in row} - {"experiments", "topologies"})
    known = {part for name, _ in modules() for part in name.split(".")}
    assert set(re.findall(r"\b[a-z]+_[a-z_0-9]+\b", pictures)) - known == {"depends_on"}  # a field of compose files


def test_every_import_points_down():
    """Into the room of the package itself, which is above all, there is no arrow: ``import slownet`` would hide one."""
    level = {each: number for number, row in enumerate(rows()) for each in row}
    arrows = {(room(name), room(other)): path for name, path in modules() for other in imported(path)}
    up = {arrow for arrow in arrows if len({*arrow}) > 1 and level.get(arrow[1], 99) <= level.get(arrow[0], -1)}
    assert {arrow: arrows[arrow] for arrow in up} == {}


def test_no_modules_import_each_other():
    """Not even where an import waits in a function; what only a type checker reads counts as well, but for the face's."""
    paths = {name: path for name, path in modules() if name != "slownet"}
    needs = {}
    for name, path in paths.items():
        needs[name] = {each if each in paths else each.rpartition(".")[0] for each in imported(path)} & paths.keys() - {name}
    while free := [name for name in needs if not needs[name] & needs.keys()]:
        for name in free:
            del needs[name]
    assert {name: needs[name] & needs.keys() for name in needs} == {}


def test_a_module_can_be_read_at_once():
    lengths = {name: len(path.read_text().splitlines()) for name, path in modules()}
    assert {name: length for name, length in lengths.items() if length > LARGEST} == {}


def test_data_names_no_options():
    """What is judged is read from the command line, in pytest and in notebooks, where the same option has three names."""
    of_data = {name: path for name, path in modules() if room(name) in ("slownet.judge", "slownet.links", "slownet.theory")}
    named = {}
    for name, path in of_data.items():
        nodes = [*ast.walk(ast.parse(path.read_text()))]
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        texts = [node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        named |= {
            f"{name}:{node.lineno}": node.value
            for node in texts
            if id(node) not in docstrings and re.search(r"(?<![\w-])--[a-z]", node.value)
        }
    assert len(of_data) > 50
    assert named == {}


# ---- the rest ----


def test_the_citation_is_of_this_version():
    assert f"\nversion: {slownet.__version__}\n" in (CHECKOUT / "CITATION.cff").read_text()


def test_every_licence_has_its_text_and_every_text_is_used():
    stated = {each["SPDX-License-Identifier"] for each in tomllib.loads((CHECKOUT / "REUSE.toml").read_text())["annotations"]}
    assert {path.stem for path in (CHECKOUT / "LICENSES").iterdir()} == stated
    shipped = stated - {"CC0-1.0"}  # for captured output, only in the tests
    told = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["license"]
    assert set(told.split(" AND ")) == shipped
