"""`slownet reproduce --all`: every claim of every experiment, and the table of published numbers beside measured ones."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from slownet.hypotheses.catalogue import discover

EXPERIMENTS = sorted(discover())
LOSS_TOLERANCE = [0.34, 0.61, 1.62, 5.92, 34.14, 74.56, 76.89, 85.37, 94.94, 95.19, 95.36, 98.81]  # Mbit/s, as published


@pytest.fixture(scope="module")
def reproduction(tmp_path_factory):
    slownet = Path(sys.executable).with_name("slownet")
    done = subprocess.run(
        [slownet, "reproduce", "--all", "--out", "json=-"], cwd=tmp_path_factory.mktemp("all"), capture_output=True, text=True,
        timeout=7200, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def runs(reproduction):
    return {run["experiment"]: run for run in reproduction["runs"]}


def test_all_were_run(runs):
    assert sorted(runs) == EXPERIMENTS


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_claim_is_supported_and_every_cell_was_measured(runs, name):
    run = runs[name]
    assert {claim["name"]: claim["verdict"] for claim in run["claims"] if claim["verdict"] != "supported"} == {}
    assert {cell["status"] for cell in run["cells"]} == {"ok"}


def test_the_table_has_the_published_rates_beside_the_measured_ones(reproduction):
    lines = [line for line in reproduction["reproduction"]["lines"] if line["experiment"] == "loss_tolerance"]
    assert sorted(line["published"] for line in lines) == LOSS_TOLERANCE
