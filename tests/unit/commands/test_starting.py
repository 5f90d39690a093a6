"""The files of `slownet init`: what they say, and that a mistake leaves nothing behind."""

import ast
import tomllib
from pathlib import Path

import pytest
import yaml

from slownet.cli import main
from slownet.commands.starting import CI, contents, host_packages, write
from slownet.errors import ExperimentError
from slownet.hypotheses import file as hypotheses


def run(*words):
    with pytest.raises(SystemExit, match="0"):
        main(list(words))


def everything(folder):
    return sorted(path.relative_to(folder) for path in folder.rglob("*"))


@pytest.mark.parametrize("ci", CI)
def test_the_files_can_be_read(tmp_path, ci):
    folder = tmp_path / "a shop"
    for path in write(folder, ci)[0]:
        text = path.read_text("utf-8")
        if path.suffix == ".py":
            ast.parse(text)
        elif path.suffix == ".yml":
            assert yaml.safe_load(text)
            assert "PACKAGES" not in text
        elif path.suffix == ".toml":
            tomllib.loads(text)
    assert (folder / CI[ci]).is_file() is (ci != "none")
    assert hypotheses.read(folder / "shop.toml").predictions
    readme = (folder / "README.md").read_text()
    assert len(readme.splitlines()) == 10
    assert ("in CI" in readme) is (ci != "none")


@pytest.mark.parametrize("name", ["# x", "a *b* _c_", "<b>", "[x](y)", "`x`", "遅い", "a\nb"])
def test_any_name_is_a_heading(name):
    heading = contents(name, "github")["README.md"].splitlines()[0]
    assert heading.replace("\\", "") == f"# {' '.join(name.split())}"


def test_a_project_that_exists_gets_what_it_lacks(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("shop.py", "pyproject.toml"):
        Path(name).write_text("mine")
    Path(".gitignore").symlink_to("nowhere")
    run("init", ".")
    said = capsys.readouterr().out.split("\n\n")
    assert said[0].split() == ["README.md", "network.py", "test_shop.py", "shop.toml", CI["github"]]
    assert said[1] == "left as they are: shop.py, pyproject.toml, .gitignore"
    assert [Path(name).read_text() for name in ("shop.py", "pyproject.toml")] == ["mine", "mine"]
    assert not Path("nowhere").exists()
    before = everything(tmp_path)
    run("init", ".", "--ci", "none")
    all_others = "README.md, shop.py, network.py, test_shop.py, shop.toml, pyproject.toml, .gitignore"
    assert (capsys.readouterr().out, everything(tmp_path)) == (f"left as they are: {all_others}\n", before)


@pytest.mark.parametrize("blocked", [".github", "inner"])
def test_what_cannot_be_written_leaves_nothing(tmp_path, blocked):
    (tmp_path / blocked).write_text("a file where a folder is wanted")
    before = everything(tmp_path)
    with pytest.raises(ExperimentError, match=r"cannot write the project, .*: Not a directory|File exists"):
        write(tmp_path if blocked == ".github" else tmp_path / "inner/project", "github")
    assert everything(tmp_path) == before


def test_an_unknown_service_is_one_line(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["init", str(tmp_path / "x"), "--ci", "githup"])
    assert capsys.readouterr().err == "slownet: unknown CI service 'githup', --ci: did you mean 'github'?\n"
    assert not (tmp_path / "x").exists()


def test_the_packages_are_those_that_building_takes():
    assert {"mmdebstrap", "squashfs-tools-ng", "gcc", "flex"} <= set(host_packages())
