import pytest

from slownet.links.conditions.netem import threshold


def test_without_correlation_nothing_changes():
    assert threshold(0.05, 0.0) == 0.05
    assert threshold(0.0, 0.5) == 0.0


def test_the_quantile_of_an_average_of_uniforms():
    # c = 1/2: x = sum of u_k / 2^(k + 1), symmetric about 1/2.
    assert threshold(0.5, 0.5) == pytest.approx(0.5, abs=1e-3)
    assert threshold(0.05, 0.5) + threshold(0.95, 0.5) == pytest.approx(1, abs=2e-3)
    # For small c: P((1 - c) u + c/2 < t).
    assert threshold(0.1, 0.01) == pytest.approx(0.99 * 0.1 + 0.005, abs=1e-3)
