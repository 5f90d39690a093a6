"""The experiments on windows, mirrors and satellites, as the documentation has them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXPERIMENTS = ("initial_window", "grpc_unary", "http2_window", "package_mirror", "satellite_link")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    words = [word for name in EXPERIMENTS for word in ("--only", name)]
    slownet = Path(sys.executable).with_name("slownet")
    done = subprocess.run(
        [slownet, "reproduce", *words, "--json"], cwd=tmp_path_factory.mktemp("far"), capture_output=True, text=True,
        timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {run["experiment"]: run for run in json.loads(done.stdout)["runs"]}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_claim_is_supported_and_every_cell_was_measured(done, name):
    run = done[name]
    assert {claim["verdict"] for claim in run["claims"]} == {"supported"}
    assert {cell["status"] for cell in run["cells"]} == {"ok"}
