"""The notebook of the examples runs as it stands, and notebooks show a user's mistake as one line."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

NOTEBOOK = Path(__file__).parents[2] / "examples/notebook.ipynb"
OF_ITS_TIME = re.compile(r"\d{8}-\d{6}-page|\d:\d\d")


def execute(notebook, folder):
    NotebookClient(notebook, timeout=600, record_timing=False, resources={"metadata": {"path": str(folder)}}).execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(cells):
    """Return what each cell shows, in order: the kinds of each output, and its text if it is a short answer."""
    return [[_one(each) for each in cell.outputs] for cell in cells]


def _one(output):
    data = output.get("data", {"text/plain": output.get("text", "")})
    text = data["text/plain"]
    return sorted(data), text if text.count("\n") < 2 and not OF_ITS_TIME.search(text) else ""


def test_the_notebook_runs_and_shows_what_is_committed(built, tmp_path):
    committed = nbformat.read(NOTEBOOK, as_version=4)
    expected = shown(cell for cell in committed.cells if cell.cell_type == "code")
    assert all(expected), "a cell without an output"
    found = execute(nbformat.from_dict(committed), tmp_path)
    assert shown(found) == expected
    assert len(list(tmp_path.glob("runs/*/report.html"))) == 2


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("slownet.run('client_dealy')", "ExperimentError: no experiment 'client_dealy': did you mean 'client_delay'?"),
        ("slownet.load('nowhere')", "SlownetError: no run here, in nowhere: give a directory that holds run.json"),
    ],
)
def test_a_mistake_is_one_line(built, tmp_path, code, line):
    cell = new_code_cell(f"import slownet\n{code}", metadata={"tags": ["raises-exception"]})
    (cell,) = execute(new_notebook(cells=[cell]), tmp_path)
    (output,) = cell.outputs
    assert output.traceback == [line]
    assert not list(tmp_path.iterdir())
