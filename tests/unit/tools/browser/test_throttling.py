"""What Chrome simulates: its presets' numbers, as its own tests state them."""

import pytest

from slownet.links.conditions import profiles
from slownet.model.errors import ToolError
from slownet.tools.browser.browse import FACTORS, simulated


def test_slow_4g_is_what_chromes_own_test_expects():
    # front_end/core/sdk/NetworkManager.test.ts
    assert simulated("Slow 4G") == {"latency": 562.5, "downloadThroughput": 180_000, "uploadThroughput": 84_375}


def test_each_preset_is_a_named_condition_too():
    for name in FACTORS:
        found = simulated(name)
        assert found["latency"] > 1000 * (profiles.find(name).rtt or 0)
        assert found["downloadThroughput"] > 0


def test_an_unknown_preset_is_named():
    with pytest.raises(ToolError, match=r"Chrome simulates no 'Slow 5G', in browse: .*Slow 4G"):
        simulated("Slow 5G")
