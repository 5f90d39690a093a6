"""Each experiment at free CPU: the account of every cell adds up, nothing is left unexplained, and it has the law's slope."""

import pytest
from accounts import accounts, laws, measured, round_trips

from slownet.hypotheses.catalogue import discover

WITHIN = 0.1
"""Round trips: what the slope of an account may differ from the k that was measured over all cells."""


@pytest.mark.parametrize("name", sorted(discover()))
def test_the_cells_add_up(name, tmp_path):
    run = measured(name, tmp_path)
    found = [(cell, account) for cell, account in accounts(run)]
    assert found, "no cell has packets"
    for k, metric, last in laws(run):
        (account,) = (account for cell, account in found if cell.samples[0]["cell"] == last.samples[0]["cell"])
        assert round_trips(run, last, account, metric) == pytest.approx(k, abs=WITHIN + 1e-9), (metric, last.samples[0]["cell"])
