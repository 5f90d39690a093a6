"""The record of `slownet.tools.redis_benchmark`."""

import pytest

from slownet.model.errors import ToolError
from slownet.tools.redis_benchmark import parse, redis_benchmark

TEXT = (
    '"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"\n'
    '"GET","3.98","250.003","250.000","250.001","250.111","250.111","250.111"\n'
)


def test_the_rate_is_also_the_time_of_a_turn():
    found = parse(TEXT, requests=2000, at_once=10).metrics()
    assert found["requests_per_s"] == {"mean": 3.98, "sd": None, "n": 2000, "step": 0.01}
    assert (found["turn_ms"]["mean"], found["turn_ms"]["n"]) == (pytest.approx(2512.56, abs=0.01), 200)
    assert found["turn_ms"]["step"] == pytest.approx(6.3, abs=0.1)
    assert found["latency_ms"]["mean"] == 250.003


@pytest.mark.parametrize("text", ["", TEXT.splitlines()[0], TEXT.replace("3.98", "0.00"), TEXT.replace("3.98", "info")])
def test_an_output_that_is_not_understood(text):
    with pytest.raises(ToolError):
        parse(text)


FAST = TEXT.splitlines()[0] + '\n"GET","inf","0.041","0.016","0.023","0.119","0.119","0.119"\n'
"""Of redis-benchmark 7.0.15, whose five requests over the loopback took less than the millisecond that it counts in."""


@pytest.mark.parametrize("rate", ["inf", "nan", "-nan"])
def test_requests_that_took_no_time_are_one_line_with_what_to_do(rate):
    text = FAST.replace("inf", rate)
    with pytest.raises(ToolError) as caught:
        parse(text)
    assert str(caught.value) == (
        f"redis-benchmark measured less than 1 ms for all requests: it printed the rate {rate}: "
        "give a link a rate or a delay, charge the CPU, or send more requests"
    )
    assert caught.value.raw == text


def test_the_command_has_connections_and_pipeline(canned):
    host = canned(TEXT)
    assert redis_benchmark(host, "10.0.0.2", requests=500, connections=50, pipeline=10).facts() == {"requests": 500}
    assert host.argv[0][-6:] == ["-n", "500", "-c", "50", "-P", "10"]
