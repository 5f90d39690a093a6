"""Experiments that take seconds each, as the documentation has them; `make test-experiments` has all of them."""

import json

import pytest
from command_line import slownet

EXPERIMENTS = (
    "initial_window", "grpc_unary", "http2_window", "mtu_black_hole", "one_path_cut", "one_lost_packet",
)  # fmt: skip


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    words = [word for name in EXPERIMENTS for word in ("--only", name)]
    folder = tmp_path_factory.mktemp("experiments")
    done = slownet("reproduce", *words, "--out", "json=-", cwd=folder, timeout=900)
    assert done.returncode == 0, done.stderr
    return {run["experiment"]: run for run in json.loads(done.stdout)["runs"]}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_claim_is_supported_and_every_cell_was_measured(done, name):
    run = done[name]
    assert {claim["verdict"] for claim in run["claims"]} == {"supported"}
    assert {cell["status"] for cell in run["cells"]} == {"ok"}
