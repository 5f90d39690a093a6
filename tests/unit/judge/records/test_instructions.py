"""How many instructions an operation takes, and which times say so."""

import pytest

from slownet.judge.records.result import gather
from slownet.report.words import instructions_compared, instructions_counted

EXACT = {"clock": "exact", "tdf": None, "cpu": "instructions", "machine": {"emulator": "QEMU 7.2", "instructions_per_ns": 3}}


def sample(**more):
    told = {
        "cell": {"rtt": "0ms"}, "condition": {"rtt_ms": 0.0}, "status": "ok", "random": False, "boot": 1,
        "metrics": {"time_per_request_ms": {"mean": 15.044, "sd": 0.04, "n": 10}},
        "verified_rtt_ms": 0.011, "charged_s": 0.1712, "virtual_s": 0.388,
    }  # fmt: skip
    return told | more


def counted(facts=EXACT, **more):
    run = gather([sample(**more)], facts)
    return run.instructions(run.cells[0])


def test_a_time_without_delay_is_a_count():
    assert counted() == pytest.approx(45_132_000)
    slower = EXACT | {"machine": {"instructions_per_ns": 1}}
    assert counted(slower) == pytest.approx(15_044_000)
    seconds = {"took_s": {"mean": 0.1712, "n": 1}}
    assert counted(metrics=seconds, virtual_s=0.1712) == pytest.approx(513_600_000)


@pytest.mark.parametrize(
    "more",
    [
        {"verified_rtt_ms": 10.01},
        {"verified_rtt_ms": None},
        {"rate_bit_s": 1e6},
        {"charged_s": 0.1},  # for a part of it the processor waited
        {"metrics": {"loss": {"mean": 0.5, "n": 10}}},
        {"status": "failed", "metrics": None, "error": "no"},
    ],
)
def test_what_waits_or_is_no_time_says_nothing(more):
    assert counted(**more) is None


def test_another_clock_counts_none():
    assert counted({"clock": "virtual", "tdf": 1, "cpu": "work"}) is None


def test_json_has_it_where_it_is_known():
    (cell,) = gather([sample()], EXACT).to_json()["cells"]
    assert cell["instructions"] == 45_132_000
    (cell,) = gather([sample(verified_rtt_ms=10.0)], EXACT).to_json()["cells"]
    assert "instructions" not in cell


@pytest.mark.parametrize(
    ("count", "words"),
    [(45_132_000, "45.13 million instructions"), (1.5e9, "1.5 billion instructions"), (2300, "2.3 thousand instructions"),
     (12, "12 instructions")],
)  # fmt: skip
def test_numbers_for_people(count, words):
    assert instructions_counted(count) == words


def test_two_of_them_are_equal_or_differ():
    assert instructions_compared(45_132_000, 45_132_000) == "equal, 45.13 million instructions"
    assert instructions_compared(45_000_000, 47_300_000) == "differs by 2.3 million instructions (+5.1 %)"
    assert instructions_compared(50_000_000, 49_500_000) == "differs by 500 thousand instructions (-1 %)"
