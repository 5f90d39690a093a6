"""Each experiment at free CPU: the account of every cell adds up, nothing is left unexplained, and it has the law's slope.

One experiment is a piece of its own: `make test-why ONLY=fairness`. Those whose captures would be gigabytes send for a shorter
time (`shorter`).
"""

import shutil
from pathlib import Path

import pytest
from accounts import accounts, laws, measured, round_trips

from slownet.hypotheses.catalogue import discover

WITHIN = 0.1
"""Round trips: what the slope of an account may differ from the k that was measured over all cells."""


@pytest.mark.parametrize("name", sorted(discover()))
def test_the_cells_add_up(name, tmp_path):
    shorter = Path(__file__).parent / "shorter" / f"{name}.py"
    run = measured(str(shorter) if shorter.exists() else name, tmp_path)
    found = [(cell, account) for cell, account in accounts(run)]
    assert found, "no cell has packets"
    for k, metric, last in laws(run):
        (account,) = (account for cell, account in found if cell.samples[0]["cell"] == last.samples[0]["cell"])
        assert round_trips(run, last, account, metric) == pytest.approx(k, abs=WITHIN + 1e-9), (metric, last.samples[0]["cell"])
    shutil.rmtree(tmp_path)  # pytest keeps the folders of three sessions
