"""A project's own packages: one small layer, built for real, and everything that uses it."""

import json
import os
import re
import sys

import pytest
from command_line import SLOWNET, ran
from conftest import LIGHT, lend_lab

from slownet.lab.host import native

pytestmark = pytest.mark.skipif(not native.lacks(), reason="this machine runs them in place")

PYTEST = [sys.executable, "-m", "pytest", *LIGHT]
TABLE = '[tool.slownet]\npackages = ["jq"]\ndependencies = ["itsdangerous<3"]\nshare = ["./data"]\n'
EXPERIMENT = '''
from slownet import ClientWebDb, experiment


@experiment(topology=ClientWebDb, vary={"rtt": ["0ms", "10ms"]})
def answers(net, rtt):
    """How many?"""
    from itsdangerous import Signer

    assert Signer("secret").unsign(Signer("secret").sign("value")) == b"value"
    return {"answers_ms": float(net["client"].cmd("echo '[1, 2, 3]' | jq -M length"))}
'''
TESTS = """
import os
from pathlib import Path

import pytest


def test_on_this_machine():
    assert os.uname().nodename != "lab"


@pytest.mark.parametrize("n", range(2))
def test_jq(net, n):
    import itsdangerous

    assert net["client"].cmd("echo '[1, 2, 3]' | jq -M length").strip() == "3"
    assert Path(__file__).with_name("data").joinpath("fact").read_text() == "42"
"""
LACKING = """
import brought


def test_it(net):
    import nowhere
"""
# on this machine it can be imported
BROUGHT = """
import os

if os.uname().nodename.startswith("lab"):
    from ._fast import value
"""


@pytest.fixture(scope="module")
def home(built, tmp_path_factory):
    """A cache with the kernel and image of this machine's, but no layers."""
    home = tmp_path_factory.mktemp("cache")
    lend_lab(built, home, "layer", "projects")
    return home


@pytest.fixture(scope="module")
def run(home):
    """Run a command in a folder: run(folder, "lab", "info") -> the completed process."""

    def run(folder, *words, program=SLOWNET):
        environment = {**os.environ, "XDG_CACHE_HOME": str(home)}
        return ran([*program, *words], cwd=folder, env=environment, text=True)

    return run


@pytest.fixture(scope="module")
def project(run, home, tmp_path_factory):
    """A project whose layer is built."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "data").mkdir()
    (folder / "data" / "fact").write_text("42")
    (folder / "pyproject.toml").write_text(TABLE)
    done = run(folder, "lab", "exec", "true")
    assert done.stderr == (f"slownet: this project's packages are not in the lab, {folder}/pyproject.toml: slownet lab build\n")
    assert done.returncode == 2
    done = run(folder, "lab", "build")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^layer     \w{16}, [\d.]+ MB: jq, itsdangerous<3$", done.stdout, re.MULTILINE)
    return folder


def layers(home):
    return sorted(
        each.name for each in (home / "slownet" / "layer").iterdir() if not each.name.startswith(".") and each.is_dir()
    )


def test_the_second_build_takes_nothing(run, project, home):
    (only,) = layers(home)
    file = home / "slownet" / "layer" / only / "layer.squashfs"
    before = file.stat()
    assert run(project, "lab", "build").returncode == 0
    assert layers(home) == [only]
    assert file.stat() == before


def test_a_command(run, project, built, tmp_path):
    (project / "deep").mkdir()
    code = "import itsdangerous as it, os; print(os.path.getmtime(it.__file__) < __import__('time').time())"
    script = f"echo '[4]' | jq -c .; python -c \"{code}\"; cat {project}/data/fact; touch {project}/data/no; dpkg --audit"
    done = run(project / "deep", "lab", "exec", "--tdf", "inf", "--", "sh", "-c", script)
    assert done.stdout == "[4]\nTrue\n42"
    assert "Read-only file system" in done.stderr
    assert run(tmp_path, "lab", "exec", "--tdf", "inf", "--", "jq", ".").returncode == 127
    assert f"image     {built.image.description}" in run(project, "lab", "info").stdout


def test_an_experiment(run, project):
    (project / "mine.py").write_text(EXPERIMENT)
    done = run(project, "run", "mine.py", "--tdf", "inf", "--repeat", "1")
    assert done.returncode == 0, done.stderr
    (facts,) = (json.loads(path.read_text()) for path in project.glob("runs/*/run.json"))
    assert "(jq, itsdangerous<3)" in json.dumps(facts)
    assert facts["project"] == {"file": f"{project}/pyproject.toml", "share": [f"{project}/data"]}
    assert re.search(r'"jq": "1\.', json.dumps(facts))


@pytest.mark.parametrize("words", [["tests/test_it.py"], ["-n1", "tests/test_it.py"]])
def test_pytest_finds_it_from_its_rootdir(run, project, tmp_path, words):
    (project / "tests" / "data").mkdir(parents=True, exist_ok=True)
    (project / "tests" / "data" / "fact").write_text("42")
    (project / "tests" / "test_it.py").write_text(TESTS)
    words = [f"{project}/{each}" if each.startswith("tests") else each for each in words]
    done = run(tmp_path, "-q", "--slownet-tdf=inf", f"--rootdir={project}", *words, program=PYTEST)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_module_that_the_lab_lacks_is_named_with_what_brings_it(run, project):
    folder = project / "site-packages" / "brought"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").write_text(BROUGHT)
    (folder / "_fast.cpython-36-x86_64-linux-gnu.so").touch()
    (project / "test_lacking.py").write_text(LACKING)
    (project / "test_late.py").write_text(LACKING.replace("import brought", ""))
    environment = ["env", f"PYTHONPATH={folder.parent}"]
    program = [*environment, *PYTEST, "-q", "--slownet-tdf=inf"]
    done = run(project, "test_lacking.py", program=program)
    assert (
        "the lab has no module 'brought._fast': _fast.cpython-36-x86_64-linux-gnu.so is compiled for Python 3.6, and the lab "
        'has Python 3.13; write dependencies = ["brought"] under [tool.slownet] in pyproject.toml, then run: slownet lab build'
    ) in done.stdout, done.stdout + done.stderr
    done = run(project, "test_late.py", program=program)
    assert "the lab has no module 'nowhere'; write dependencies = [\"nowhere\"]" in done.stdout, done.stdout + done.stderr
    (project / "conftest.py").write_text("import brought\n")
    done = run(project, "test_late.py", program=program)
    (project / "conftest.py").unlink()
    assert "slownet: the lab has no module 'brought._fast'" in done.stderr, done.stdout + done.stderr


HASHES = {
    "itsdangerous==2.2.0": "c6242fc49e35958c8b15141343aa660db5fc54d4f13a1db01a3f5891b98700ef",
    "jinja2==3.1.6": "85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67",
    "markupsafe==3.0.2": "15ab75ef81add55874e7ab7055e9c397312385bd9ced94920f2802310c930396",
}


def hashed(*names, wrong=""):
    """Return lines of a requirements file, as pip-compile writes them."""
    found = (f"{name} \\\n    --hash=sha256:{'0' * 64 if name == wrong else HASHES[name]}\n" for name in names)
    return "".join(found)


def test_requirements_with_hashes_and_includes(run, home, tmp_path):
    (tmp_path / "more").mkdir()
    first, *others = HASHES
    (tmp_path / "requirements.txt").write_text(f"# by pip-compile\n-r more/base.txt\n{hashed(first)}    # via -r base.in\n")
    (tmp_path / "more" / "base.txt").write_text(f"-c limits.txt\n{hashed(*others)}")
    (tmp_path / "more" / "limits.txt").write_text("markupsafe<4\n")
    (tmp_path / "slownet.toml").write_text('requirements = "requirements.txt"\n')
    before = layers(home)
    done = run(tmp_path, "lab", "build")
    assert done.returncode == 0, done.stderr
    assert re.search(r": jinja2==3.1.6, markupsafe==3.0.2, itsdangerous==2.2.0$", done.stdout, re.MULTILINE)
    (made,) = set(layers(home)) - set(before)
    versions = json.loads((home / "slownet" / "layer" / made / "layer.json").read_text())["versions"]
    assert versions["itsdangerous (Python)"] == "2.2.0"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (hashed(*HASHES, wrong="jinja2==3.1.6"), "jinja2==3.1.6 does not match the hashes that the file names"),
        (
            hashed("jinja2==3.1.6"),
            "MarkupSafe>=2.0 is not pinned with ==; if one package has a hash, all need that",
        ),
        (
            hashed("jinja2==3.1.6") + "markupsafe==3.0.2",
            "markupsafe==3.0.2 has no hash; if one package has a hash, all need one",
        ),
    ],
)
def test_hashes_that_do_not_hold(run, home, tmp_path, lines, message):
    before = layers(home)
    (tmp_path / "slownet.toml").write_text('requirements = "locked.txt"\n')
    (tmp_path / "locked.txt").write_text(lines)
    done = run(tmp_path, "lab", "build")
    (line,) = (each for each in done.stderr.splitlines() if not each.startswith("lab: "))
    assert line == f"slownet: {message}, {tmp_path}/slownet.toml: correct `requirements`; nothing unfinished was kept"
    assert layers(home) == before


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('packages = ["nosuch-package"]', "Unable to locate package nosuch-package, {file}: correct `packages`; "),
        (
            'dependencies = ["slownet-nosuch"]',
            "No matching distribution found for slownet-nosuch (wheels for Python 3.13), {file}: correct `dependencies`; ",
        ),
        ('dependencies = ["numpy<1.20"]', "Cannot install numpy<1.20 because these package versions have conflicting "),
        ('requirements = "no.txt"', "there is no file {folder}/no.txt, {file}: correct `requirements`"),
    ],
)
def test_what_cannot_be_built_is_one_line_and_leaves_nothing(run, project, home, tmp_path, table, message):
    before = layers(home)
    (tmp_path / "slownet.toml").write_text(table)
    done = run(tmp_path, "lab", "build")
    (line,) = (each for each in done.stderr.splitlines() if not each.startswith("lab: "))
    assert line.startswith("slownet: " + message.format(file=tmp_path / "slownet.toml", folder=tmp_path))
    assert done.returncode == 2
    assert layers(home) == before


def test_what_nothing_uses_can_be_removed(run, project, home):
    old = home / "slownet" / "image" / "0"
    old.mkdir()
    (old / "image.squashfs").write_bytes(b"x" * 2**20)
    before = layers(home)
    (its,) = (
        each for each in before if json.loads((home / "slownet/layer" / each / "layer.json").read_text())["asked"][0] == "jq"
    )
    done = run(project, "lab", "clean", "--dry-run")
    assert "would remove image 0, 1.0 MB: of another version of slownet\n" in done.stdout
    assert re.search(rf"^keeping layer {its}, [\d.]+ MB: {project}/pyproject.toml$", done.stdout, re.MULTILINE)
    assert old.exists()
    (project / "pyproject.toml").rename(project / "moved.toml")
    done = run(project, "lab", "clean")
    (project / "moved.toml").rename(project / "pyproject.toml")
    assert done.returncode == 0, done.stderr
    assert re.search(
        rf"^removing layer {its}, [\d.]+ MB: no project uses it \(jq, itsdangerous<3\)$", done.stdout, re.MULTILINE
    )
    assert re.search(r"^freed [\d.]+ MB$", done.stdout, re.MULTILINE)
    assert not old.exists()
    assert layers(home) == [each for each in before if each != its]
    assert run(project, "lab", "info").returncode == 0
