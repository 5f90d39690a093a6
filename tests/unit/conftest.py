"""For all tests that need no lab."""

import pytest


@pytest.fixture(autouse=True)
def no_system_cache(monkeypatch):
    """What this machine's system cache holds is not seen."""
    monkeypatch.setenv("SLOWNET_SYSTEM_CACHE", "")
