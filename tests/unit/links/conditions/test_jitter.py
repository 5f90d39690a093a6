"""Tables of jitter, compared with the output of iproute2's maketable for the same samples."""

import hashlib
import random

import pytest

from slownet.links.conditions.jitter import SIZE, UNIT, Table, maketable, moments
from slownet.links.conditions.link import Condition
from slownet.model.errors import ConditionError
from slownet.net.plan import layers

FEW = [20.4, 21.1, 20.9, 22.7, 20.5, 35.2, 21.0, 20.6, 20.4, 24.9, 21.3, 20.7]


def digest(table):
    return hashlib.sha256(repr(table).encode()).hexdigest()


def test_a_table_is_maketables_to_the_digit():
    table = maketable(FEW, *moments(FEW))
    places = (0, 1, 341, 342, 1000, 2048, 3000, 3754, 3755, 3900, 4094, 4095)
    assert [table[each] for each in places] == [
        -4038, -4038, -3941, -3941, -3663, -2870, -138, 24702, 24761, 28175, 32743, 32767,
    ]  # fmt: skip
    assert digest(table) == "47e06737044a0dd3839beff63e708903b3bc9905d2f146f354781a3eafaaf8b3"


def test_a_large_sample_with_values_beyond_the_scale():
    generator = random.Random(5)
    sample = [round(generator.lognormvariate(3, 0.5), 2) for _ in range(3000)]
    table = maketable(sample, *moments(sample))
    assert [table[each] for each in (0, 1, 100, 2048, 4000, 4094, 4095)] == [-12444, -12273, -10183, -1893, 21236, 32767, 32767]
    assert digest(table) == "287ad6ac96c0a2c58046a881effa3614bc549d12863e963ec971f49082ec892f"


def test_what_lies_further_than_four_deviations_is_kept():
    sample = [0.020 + 0.0001 * each for each in range(99)] + [0.500]
    table, mean, unit = Table.measured(sample)
    assert unit == pytest.approx((0.500 - mean) / 4)
    back = [mean + unit * value / UNIT for value in table.values]
    assert len(back) == SIZE
    assert (back[0], back[-1]) == (pytest.approx(0.020, abs=unit / UNIT), pytest.approx(0.500, abs=unit / UNIT))
    assert back[SIZE // 2] == pytest.approx(0.025, abs=0.0001)
    assert mean - unit * table.reach == pytest.approx(0.020, abs=unit / UNIT)


def test_nothing_comes_later_than_the_latest_of_the_sample():
    sample = [0.010, 0.011, 0.012] * 10
    table, mean, unit = Table.measured(sample)
    assert mean + unit * max(table.values) / UNIT == pytest.approx(0.012, abs=unit / UNIT)


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ([1.0] * 9, "9 numbers are not a distribution"),
        ([1.0] * 20, "are the same"),
        ([1.0] * 10 + [float("nan")], "11 numbers are not a distribution"),
    ],
)
def test_what_is_no_distribution(sample, message):
    with pytest.raises(ConditionError, match=message):
        Table.measured(sample)


def test_a_condition_takes_it_and_is_still_a_value():
    table, _, _ = Table.measured(FEW)
    condition = Condition.parse(delay_up="1ms", delay_down="9ms", jitter_down="4ms", distribution=table)
    assert condition == Condition.parse(delay_up="1ms", delay_down="9ms", jitter_down="4ms", distribution=Table(table.values))
    assert len({condition, condition.but()}) == 1
    assert str(condition) == "+10 ms RTT (1 ms up, 9 ms down), measured jitter 4.336 ms down"
    assert f"9000000ns 4000000ns 0% distribution {table.name} " in layers(condition, "down")[0].command("eth0")
    assert "1000000ns 0ns 0% loss" in layers(condition, "up")[0].command("eth0")
    assert condition.reversed.jitter_up == 0.004
    with pytest.raises(
        ConditionError, match=r"around a delay of 1 ms: the kernel would cut it at 0: give a delay of at least 1.9"
    ):
        condition.but(delay="1ms", jitter_down="4ms")
