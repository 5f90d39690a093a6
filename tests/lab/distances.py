"""The round trips at which `slownet.theory` is tested beside a lab: two for `make lab-tests`, all for `make test-theory`."""

import pytest

REPRESENTATIVE_MS = (10, 300)
ALL_MS = (1, 2, 5, 10, 20, 50, 100, 200, 300, 450, 600)


def distances(least=1, most=600):
    """Parametrize a test by ``rtt_ms``; those that are not representative have the marker `distances`."""
    chosen = [each for each in ALL_MS if least <= each <= most]
    marked = [each if each in REPRESENTATIVE_MS else pytest.param(each, marks=pytest.mark.distances) for each in chosen]
    return pytest.mark.parametrize("rtt_ms", marked)
