"""Values of a command line that are taken as they are: each as Typer converts it."""

import os
from enum import Enum
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.core import TyperCommand

from slownet.cli.helping import Group


class Size(Enum):
    """A choice."""

    SMALL = "small"


GIVEN = [
    [],
    ["--text", "a b", "--text", "[c]"],
    ["--text", "a\nb"],
    ["--text", ""],
    ["--path", "some/where", "--paths", "x", "--paths", "/"],
    ["--path", "-"],
    ["--number", "3"],
    ["--number", "three"],
    ["--least", "0"],
    ["--least", "5"],
    ["--texts", "a", "--texts", "b"],
    ["--flag"],
    ["--size", "small"],
    ["--size", "big"],
    ["one", "two"],
    ["--text", b"\xff".decode("utf-8", "surrogateescape")],
    ["--ratio", "0.5"],
    ["--file", "/"],
    ["--there", "no/such"],
]


def results(group, words):
    """Return what a command of this kind of group gets, or how it refuses."""
    app, got = typer.Typer(cls=group, pretty_exceptions_enable=False), []

    @app.command()
    def take(
        rest: Annotated[list[str] | None, typer.Argument()] = None,
        text: str = "default",
        maybe: str | None = None,
        texts: Annotated[list[str] | None, typer.Option()] = None,
        path: Path = Path("runs"),
        paths: Annotated[list[Path] | None, typer.Option()] = None,
        number: int = 7,
        least: Annotated[int, typer.Option(min=1)] = 2,
        ratio: float = 0.25,
        flag: bool = False,
        size: Size = Size.SMALL,
        file: Annotated[Path | None, typer.Option(dir_okay=False)] = None,
        there: Annotated[Path | None, typer.Option(exists=True)] = None,
    ):
        got.append((rest, text, maybe, texts, path, paths, number, least, ratio, flag, size, file, there))

    @app.command()
    def other():
        pass

    try:
        typer.main.get_command(app).main(["take", *words], standalone_mode=False)
    except Exception as error:
        return got, type(error), str(error)
    return got, None, ""


@pytest.mark.parametrize("words", GIVEN, ids=lambda words: " ".join(map(ascii, words)) or "nothing")
def test_each_value_is_what_typer_makes_of_it(words):
    assert results(Group, words) == results(typer.core.TyperGroup, words)


def test_a_file_that_may_not_be_read_is_refused_as_by_typer(tmp_path, monkeypatch):
    file = tmp_path / "closed"
    file.touch()
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode, **how: str(path) != str(file) and real(path, mode, **how))
    words = ["--path", str(file)]
    assert results(Group, words) == results(typer.core.TyperGroup, words)
    assert "is not readable" in results(Group, words)[2]


def test_typer_still_has_what_is_put_in_front_of(monkeypatch):
    """Otherwise every command would import Pydantic again; see `slownet.cli.helping`."""
    app = typer.Typer(cls=Group)
    app.command()(lambda text="a": None)
    app.command("other")(lambda: None)
    command = next(iter(typer.main.get_command(app).commands.values()))
    assert isinstance(command, TyperCommand)
    assert type(command.params[0]._runtime_param).__name__ == "_Plain"
