"""Each experiment at free CPU: the account of every cell adds up, and nothing is left unexplained."""

import pytest
from accounts import accounts, measured

from slownet.hypotheses.catalogue import discover


@pytest.mark.parametrize("name", sorted(discover()))
def test_the_cells_add_up(name, tmp_path):
    found = [account for _, account in accounts(measured(name, tmp_path))]
    assert found, "no cell has packets"
