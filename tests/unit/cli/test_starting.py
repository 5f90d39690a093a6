"""The files of `slownet init`: what they say, and that a mistake leaves nothing behind."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from slownet.cli.app import main
from slownet.cli.init import CI, contents, host_packages, write
from slownet.hypotheses import file as hypotheses
from slownet.model.errors import ExperimentError


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


def test_with_a_browser_chromium_is_in_the_lab_and_loads_a_page(tmp_path, capsys):
    run("init", str(tmp_path / "new"), "--browser")
    assert tomllib.loads((tmp_path / "new" / "pyproject.toml").read_text())["tool"]["slownet"]["packages"] == ["chromium"]
    ast.parse((tmp_path / "new" / "page.py").read_text())
    assert "slownet run page.py" in capsys.readouterr().out
    (tmp_path / "pyproject.toml").write_text("[tool.slownet]\n")
    run("init", str(tmp_path), "--browser")
    assert 'pyproject.toml needs below [tool.slownet]: packages = ["chromium"]' in capsys.readouterr().out
    run("init", str(tmp_path / "new"), "--browser")
    assert "needs" not in capsys.readouterr().out, "it is there"


def test_a_package_in_a_project_says_which_entry_points_its_pyproject_lacks(tmp_path, capsys):
    project, before = tmp_path / "pyproject.toml", '[project]\nname = "mine"\nversion = "1"\n'
    project.write_text(before)
    run("init", str(tmp_path), "--package", "slow-things")
    lacking = capsys.readouterr().out.partition("so that slownet finds the package:\n\n")[2].partition("\n\nNext")[0]
    points = tomllib.loads(lacking)["project"]["entry-points"]
    assert points["slownet.experiments"] == {"slow_things_far_page": "slow_things.far_page:slow_things_far_page"}
    assert sorted(points) == ["slownet.experiments", "slownet.services", "slownet.tools", "slownet.topologies"]
    project.write_text(before + lacking)
    run("init", str(tmp_path), "--package", "slow-things")
    assert "needs" not in capsys.readouterr().out


@pytest.mark.parametrize("ci", CI)
def test_a_packages_files_can_be_read_and_name_each_other(tmp_path, ci):
    folder = tmp_path / "a folder"
    texts = {path.relative_to(folder): path.read_text("utf-8") for path in write(folder, ci, package="Slow-Things")[0]}
    for path, text in texts.items():
        assert not {"MODULE", "DISTRIBUTION", "NAME"} & set(re.findall(r"[A-Z]+", text)), path
        if path.suffix == ".py":
            ast.parse(text)
        elif path.suffix == ".yml":
            assert " -e ." in text
            assert "shop" not in text
            assert yaml.safe_load(text)
    project = tomllib.loads(texts[Path("pyproject.toml")])
    assert project["project"]["name"] == "slow-things"
    for kind, found in project["project"]["entry-points"].items():
        for name, place in found.items():
            module, _, what = place.partition(":")
            assert name.startswith("slow_things_"), kind
            assert what in texts[Path(*module.split(".")).with_suffix(".py")], kind
    assert (folder / CI[ci]).is_file() is (ci != "none")


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("json", "'json' is taken, --package: choose another name"), ("slownet", "'slownet' is taken"),
        ("class", "'class' is not a name of a package"),
        ("1st", "'1st' is not a name"), ("a b", "'a b' is not a name"),
        ("", "'' is not a name"), ("../x", "'../x' is not a name"),
    ],
)  # fmt: skip
def test_a_name_that_no_package_can_have_is_one_line_and_leaves_nothing(tmp_path, name, what):
    with pytest.raises(ExperimentError, match=rf"^{re.escape(what)}.*, such as slow-things$"):
        write(tmp_path / "new", "github", package=name)
    assert not everything(tmp_path)


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
    assert "\npytest test_shop.py\n" in said[2]  # testpaths of a pyproject.toml that was there may leave it out
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


def of(ci):
    return yaml.safe_load(contents("shop", ci)[CI[ci]])


def scripts(ci):
    """Return the shell lines of a CI file, in order."""
    if ci == "gitlab":
        return [*of(ci)["slow-network"]["before_script"], *of(ci)["slow-network"]["script"]]
    return [each["run"] for each in of(ci)["jobs"]["slow-network"]["steps"] if "run" in each]


@pytest.mark.parametrize("ci", ["github", "gitlab"])
@pytest.mark.parametrize("unset", [{}, {"SLOWNET": ""}], ids=["not set", "empty"])
def test_ci_without_a_slownet_to_install_ends_with_one_line(tmp_path, ci, unset):
    """GitHub gives a variable that is not there as an empty one."""
    (tmp_path / "python").write_text("#!/bin/sh\necho asked pip")
    (tmp_path / "python").chmod(0o755)
    argv = ["bash", "-eo", "pipefail", "-c", scripts(ci)[0]]
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", **unset}
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    (line,) = done.stderr.splitlines()
    assert "SLOWNET: set it, in the " in line
    assert (done.returncode != 0, done.stdout) == (True, "")
    done = subprocess.run(argv, env={**environment, "SLOWNET": "a wheel.whl"}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "asked pip\n")


def test_github_maps_the_variable_of_the_repository():
    assert of("github")["jobs"]["slow-network"]["env"] == {"SLOWNET": "${{ vars.SLOWNET }}"}


@pytest.mark.parametrize("ci", ["github", "gitlab"])
def test_pip_is_asked_for_what_slownet_names_alone(ci):
    (line,) = [each for each in "\n".join(scripts(ci)).splitlines() if "pip" in each]
    assert re.fullmatch(r'python -m pip install "\$\{SLOWNET:\?[^}"]+\}"', line)


def test_github_saves_the_lab_before_the_tests():
    steps = of("github")["jobs"]["slow-network"]["steps"]
    order = [each.get("name") or each["uses"].partition("@")[0] for each in steps]
    assert order.index("Get the lab") + 1 == order.index("actions/cache/save") == order.index("Test") - 1
    save = steps[order.index("actions/cache/save")]
    assert save["if"] == "steps.cache.outputs.cache-hit != 'true'"
    assert steps[order.index("actions/cache/restore")]["id"] == "cache"


def test_gitlab_saves_the_lab_when_a_test_fails():
    assert of("gitlab")["slow-network"]["cache"] == {"key": "slownet", "when": "always", "paths": ["lab"]}


def test_versions_and_permissions_are_pinned():
    workflow, text = of("github"), contents("shop", "github")[CI["github"]]
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    assert re.fullmatch(r"ubuntu-\d\d\.\d\d", job["runs-on"])
    assert job["steps"][0]["with"] == {"persist-credentials": False}
    uses = re.findall(r"uses: (\S+)@(\S+)(.*)", text)
    assert len(uses) == 5
    assert all(re.fullmatch(r"[0-9a-f]{40}", commit) and re.fullmatch(r" # v\d+\.\d+\.\d+", note) for _, commit, note in uses)
    assert len({(name.removesuffix("/save").removesuffix("/restore"), commit) for name, commit, _ in uses}) == 4
    assert re.fullmatch(r"python:\d+\.\d+\.\d+-\w+", of("gitlab")["slow-network"]["image"])
