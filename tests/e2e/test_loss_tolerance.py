"""The experiment on loss, as its page in the documentation has it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    slownet = Path(sys.executable).with_name("slownet")
    done = subprocess.run(
        [slownet, "reproduce", "--only", "loss_tolerance", "--json"], cwd=tmp_path_factory.mktemp("loss"),
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_claim_is_supported_and_every_cell_was_measured(run):
    (found,) = run["runs"]
    assert {claim["verdict"] for claim in found["claims"]} == {"supported"}
    assert {cell["status"] for cell in found["cells"]} == {"ok"}


def test_the_table_has_the_reproductions_rates_beside_the_measured_ones(run):
    lines = run["reproduction"]["lines"]
    assert {line["experiment"] for line in lines} == {"loss_tolerance"}
    rates = [0.34, 0.61, 1.62, 5.92, 34.14, 74.56, 76.89, 85.37, 94.94, 95.19, 95.36, 98.81]
    assert sorted(line["published"] for line in lines) == rates
