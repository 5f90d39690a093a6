import math
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis.strategies import floats
from scipy.special import ndtri, stdtrit

from slownet.model.errors import SlownetError
from slownet.theory.stats import DECIDING, Summary, from_moments, summarize, t_quantile, z_quantile
from slownet.theory.stats.student import MANY


def test_t_quantile():
    assert t_quantile(1) == pytest.approx(12.70620474)
    assert t_quantile(2) == pytest.approx(4.30265273)
    assert t_quantile(99) == pytest.approx(1.98421695)
    assert t_quantile(9, 0.99) == pytest.approx(3.24983554)


@settings(max_examples=500)
@given(floats(math.log(0.5), math.log(1e7)).map(math.exp), floats(0.2, 0.99999))
@example(1.0, 0.5)
@example(MANY, DECIDING)
@example(math.nextafter(MANY, math.inf), DECIDING)
def test_quantiles_are_those_of_scipy(df, confidence):
    assert t_quantile(df, confidence) == pytest.approx(float(stdtrit(df, (1 + confidence) / 2)), rel=1e-9)
    assert z_quantile(confidence) == pytest.approx(float(ndtri((1 + confidence) / 2)), rel=1e-12)
    assert t_quantile(math.inf, confidence) == z_quantile(confidence)


def test_an_interval_does_without_scipy():
    """In a lab its import takes a second, a third of a short session."""
    code = "import sys; from slownet.theory.stats import summarize; summarize([1.0, 2.0, 4.0]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"scipy", "numpy"} & set(done.stdout.split())


def test_summarize_gives_the_t_interval():
    summary = summarize([10.0, 11.0, 12.0, 13.0, 14.0])
    assert (summary.mean, summary.n) == (12.0, 5)
    assert summary.low == pytest.approx(10.0367568385)
    assert summary.high == pytest.approx(13.9632431615)
    assert summary.half_width == pytest.approx(1.9632431615)


def test_the_heat_flow_meter_of_nist():
    """NIST/SEMATECH e-Handbook, 1.3.5.2 (ZARR13.DAT): 95 % limits 9.258242 and 9.264679."""
    summary = from_moments(9.261460, 0.022789, 195)
    assert (summary.low, summary.high) == (pytest.approx(9.258242, abs=2e-6), pytest.approx(9.264679, abs=2e-6))


def test_moments_give_the_same_interval_as_the_values():
    by_values = summarize([10.0, 11.0, 12.0, 13.0, 14.0])
    by_moments = from_moments(12.0, math.sqrt(2.5), 5)
    assert by_moments.low == pytest.approx(by_values.low, rel=1e-12)


def test_no_variance_gives_an_interval_of_no_width():
    assert from_moments(51.8, 0.0, 100) == Summary(51.8, 51.8, 51.8, 100)
    assert summarize([0.1, 0.1, 0.1]) == Summary(0.1, 0.1, 0.1, 3)


def test_one_value_has_no_known_interval():
    for summary in (summarize([51.8]), from_moments(51.8, 0.4, 1), from_moments(51.8, None, 100)):
        assert (summary.mean, summary.low, summary.high) == (51.8, -math.inf, math.inf)
        assert not summary.known
        assert summary.half_width == math.inf


def test_a_mean_of_nothing_is_an_error():
    with pytest.raises(SlownetError, match="a mean without values"):
        summarize([])
    with pytest.raises(SlownetError, match="a mean of 0 values"):
        from_moments(1.0, 1.0, 0)


def test_scaled_keeps_low_below_high():
    assert Summary(2, 1, 4, 3).scaled(-2) == Summary(-4, -8, -2, 3)


def test_json_round_trip():
    for summary in (Summary(2.0, 1.0, 4.0, 3), Summary(2.0, -math.inf, math.inf, 1)):
        assert Summary.from_json(summary.to_json()) == summary
    unknown = Summary(2.0, -math.inf, math.inf, 1, None, 0.99)
    assert unknown.to_json() == {"mean": 2.0, "low": None, "high": None, "n": 1, "confidence": 0.99}
    assert Summary.from_json(unknown.to_json()).confidence == 0.99
    assert Summary.from_json({"mean": 2.0, "low": 1.0, "high": 4.0, "n": 3}).confidence == 0.95  # older records lack it


def test_another_confidence_takes_another_t():
    summary = summarize([10.0, 11.0, 12.0, 13.0, 14.0])
    assert summary.at_confidence(0.99).half_width == pytest.approx(4.604094871 * math.sqrt(0.5))
    assert summary.at_confidence(0.99).at_confidence(0.95).low == pytest.approx(summary.low)
    assert summarize([10.0, 11.0, 12.0, 13.0, 14.0], 0.99).low == pytest.approx(summary.at_confidence(0.99).low)
    exact, unknown = from_moments(51.8, 0.0, 100), from_moments(51.8, None, 1)
    assert exact.at_confidence(0.99).half_width == 0
    assert not unknown.at_confidence(0.99).known


def test_the_standard_error_comes_back_out_of_the_interval():
    assert from_moments(12.0, 2.0, 16).error == pytest.approx(0.5)
    assert from_moments(12.0, 2.0, 16).at_confidence(0.99).scaled(3).plus(5).error == pytest.approx(1.5)
    assert from_moments(12.0, 0.0, 16).error == 0
    assert from_moments(12.0, None, 16).error == math.inf
