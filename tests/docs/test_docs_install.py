"""What is installed comes from what the user has: no page, file or message takes a package named slownet from an index."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from slownet.report.figure import CAIROSVG
from slownet.sweep.cluster import DASK

CHECKOUT = Path(__file__).parents[2]
FOLDERS = ("docs", "examples", "lib", "experiments", "topologies")
KINDS = ("", ".md", ".py", ".txt", ".toml", ".ipynb", ".yaml", ".yml", ".sh")
MADE = {"_build", "_generated", "__pycache__", "node_modules"}
INSTALLS = re.compile(r"(?:pip3?|pipx|uv(?:\s+(?:pip|tool))?)\s+(?:install|run|add|inject)\s([^#\n|;&`]*)")


def read():
    """Yield the files that tell somebody how to install something."""
    for path in (
        *CHECKOUT.glob("*.md"),
        CHECKOUT / "Vagrantfile",
        *(each for one in FOLDERS for each in (CHECKOUT / one).rglob("*")),
    ):
        if path.is_file() and path.suffix in KINDS and not MADE & set(path.parts):
            yield path


FILES = list(read())


def from_an_index(line):
    """Return whether a line makes pip or its like fetch a package named slownet."""
    found = INSTALLS.search(re.sub(r"\$\{[^}]*\}", "WHEEL", line))
    return bool(found) and any(re.match(r"slownet(?![\w./-])", word.lstrip("'\"\\")) for word in found[1].split())


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("pip install slownet", True),
        ("$ pip install 'slownet[notebook]' jupyterlab", True),
        ('RUN /opt/venv/bin/pip install --quiet "slownet==0.1"', True),
        ("uv tool install slownet", True),
        ("pipx install slownet", True),
        ('pip install "${SLOWNET:?a wheel of slownet}[notebook]"', False),
        ("pip install dist/slownet-0.1.0.whl", False),
        ("pip install pandas  # slownet draws with it", False),
    ],
)
def test_such_a_line_is_recognized(line, found):
    assert from_an_index(line) is found


def test_no_file_takes_slownet_from_an_index():
    assert len(FILES) > 300
    found = {path: [line for line in path.read_text("utf-8", "replace").splitlines() if from_an_index(line)] for path in FILES}
    assert {str(path.relative_to(CHECKOUT)): lines for path, lines in found.items() if lines} == {}


def test_the_fixes_of_missing_packages_are_the_packages_themselves():
    """Pinned as the extras have them, so that it does what installing the extra would."""
    extras = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert " ".join(f"'{each}'" for each in extras["cluster"]) == DASK
    assert f"'{extras['pdf'][0]}'" == CAIROSVG
    assert f"python -m pip install '{extras['notebook'][0]}'" in (CHECKOUT / "lib/slownet/api/data_frames.py").read_text()


def blocks():
    """Yield the lines of pages and notebooks that name SLOWNET with what is said if it is not set."""
    for path in FILES:
        text = path.read_text("utf-8", "replace")
        if path.suffix == ".ipynb":
            text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
        yield from ((path, line) for line in text.splitlines() if "${SLOWNET:?" in line)


LINES = [pytest.param(line, id=f"{path.name} {number}") for number, (path, line) in enumerate(blocks())]


@pytest.mark.parametrize("line", LINES)
def test_without_what_is_to_be_installed_a_command_ends_with_one_line(line, tmp_path):
    command = line.strip().removeprefix("$ ").removeprefix("RUN ")
    for program in ("python", "pip"):
        (tmp_path / program).write_text("#!/bin/sh\necho asked pip $*")
        (tmp_path / program).chmod(0o755)
    argv, environment = ["sh", "-c", command], {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    (said,) = done.stderr.splitlines()
    assert "SLOWNET: " in said
    assert (done.returncode != 0, done.stdout) == (True, "")
    done = subprocess.run(argv, env={**environment, "SLOWNET": "mine.whl"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout == "" or "mine.whl" in done.stdout


def test_such_commands_are_in_both_ci_files_on_both_pages_and_in_the_notebook():
    named = {path.name for path, _ in blocks()}
    assert named >= {"github.yml.txt", "gitlab.yml.txt", "notebook.md", "sweep-kubernetes.md", "notebook.ipynb"}
