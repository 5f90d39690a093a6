"""Rows made of numbers: correct ones are ok, wrong ones are not."""

import json
import math

import pytest
from scipy.stats import binomtest

from slownet.calibration.cases import Case
from slownet.calibration.judge import CONFIDENCE, judge
from slownet.links.ip import IPV4, IPV6

FREE, CHARGED = True, False
TABLE = [round(8192 * each / 100) for each in range(-100, 101)]  # uniform


def case(probe, **fields):
    return Case("group", probe, fields, 1)


def rows(one, numbers, cpu_is_free=FREE):
    return judge([(one, numbers)], cpu_is_free)


def test_a_round_trip_may_be_off_by_what_the_clock_allows():
    link = case("echo", delay="5ms")
    for late_s, free, charged in (
        (0.00004, True, True),
        (0.0002, False, True),
        (0.0004, False, False),
        (-0.0004, False, False),
    ):
        numbers = {"rtt_s": [0.010 + late_s, 0.020]}
        assert [row.ok for row in rows(link, numbers)] == [free]
        assert [row.ok for row in rows(link, numbers, CHARGED)] == [charged]
    (row,) = rows(link, {"rtt_s": [0.01004, 0.5]})
    assert (row.what, row.unit, row.stated) == ("round trip", "ms", 10.0)
    assert row.error == pytest.approx(0.04)


def test_no_reply_is_not_ok():
    (row,) = rows(case("echo", delay="5ms"), {"rtt_s": []})
    assert (row.ok, row.measured, row.error, row.note) == (False, None, None, "nothing arrived")


def test_a_link_that_could_not_be_set_is_not_ok():
    (row,) = judge([(case("echo", delay="5ms"), "the kernel has 7 where 5 was stated")], FREE)
    assert (row.ok, row.note) == (False, "the kernel has 7 where 5 was stated")


def loss(lost, runs, sent=20_000):
    return {"sent": sent, "lost": lost, "runs": runs, "copies": 0}


def test_a_loss_is_ok_if_its_clopper_pearson_interval_contains_the_stated_one():
    link = case("numbers", loss="5%")
    share, _ = rows(link, loss(1000, 950))
    both = 1 - CONFIDENCE**0.5  # Sidak's correction for two rows
    seen = set()
    for lost in (850, 1000, 1149, *range(900, 935), *range(1065, 1100)):  # every value around both edges
        (row, _) = rows(link, loss(lost, 950))
        alone = binomtest(lost, 20_000, 0.05).proportion_ci(CONFIDENCE, "exact")
        wide = binomtest(lost, 20_000, 0.05).proportion_ci(1 - both, "exact")
        assert row.ok == (wide.low <= 0.05 <= wide.high), lost
        assert (row.alone[0] <= row.measured <= row.alone[1]) == (alone.low <= 0.05 <= alone.high), lost
        seen.add((lost > 1000, row.ok, row.alone[0] <= row.measured <= row.alone[1]))
    assert {(side, *inside) for side in (False, True) for inside in ((True, True), (True, False), (False, False))} <= seen
    assert share.ok
    assert not rows(link, loss(1250, 1190))[0].ok  # 6.25 %


def test_losses_in_pairs_are_not_independent():
    _, burst = rows(case("numbers", loss="5%"), loss(1000, 500))
    assert (burst.what, burst.ok) == ("mean burst", False)


def test_a_burst_is_as_long_as_stated_or_not_ok():
    link = case("numbers", loss="5% in bursts of 8")
    share, burst = rows(link, loss(2000, 250, 40_000))
    assert (share.ok, burst.ok) == (True, True)
    assert burst.stated == pytest.approx(8)
    assert burst.low < 8 < burst.high
    _, single = rows(link, loss(2000, 1900, 40_000))
    _, long = rows(link, loss(2000, 180, 40_000))
    assert not single.ok
    assert not long.ok


def test_too_few_bursts_have_no_row():
    assert len(rows(case("numbers", loss="0.1%"), loss(40, 40, 40_000))) == 1


def test_more_random_rows_make_each_interval_wider():
    link, numbers = case("numbers", duplicate="10%"), {"sent": 20_000, "lost": 0, "runs": 0, "copies": 2000}
    (one,) = rows(link, numbers)
    many = judge([(link, numbers)] * 40, FREE)
    assert one.alone == (one.low, one.high) == many[0].alone
    assert many[0].low < one.low < 10 < one.high < many[0].high
    outside = {"sent": 20_000, "lost": 0, "runs": 0, "copies": 2115}  # 2.7 standard deviations
    assert not rows(link, outside)[0].ok
    assert judge([(link, outside)] * 40, FREE)[0].ok


@pytest.mark.parametrize(
    ("probe", "fields", "key"),
    [("damage", {"corrupt": "1%"}, "damaged"), ("early", {"delay": "50ms", "reorder": "1%"}, "early")],
)
def test_single_packets(probe, fields, key):
    assert rows(case(probe, **fields), {"sent": 20_000, key: 210})[0].ok
    assert not rows(case(probe, **fields), {"sent": 20_000, key: 300})[0].ok
    assert not rows(case(probe, **fields), {"sent": 20_000, key: 0})[0].ok


def spread(factor=1.0, shift=0.0):
    sd = factor * 5e-3 / math.sqrt(3)
    quantiles = {"0.1": 0.050 - factor * 0.004 + shift, "0.9": 0.050 + factor * 0.004 + shift}
    return {"came": 10_000, "sd_s": sd, "quantiles_s": quantiles, "table": TABLE}


def test_jitter_is_judged_by_its_table():
    link = case("spread", delay="50ms", jitter="5ms")
    assert [row.what for row in rows(link, spread())] == ["jitter sd", "10% quantile", "90% quantile"]
    assert [row.ok for row in rows(link, spread(1.01))] == [True, True, True]
    assert [row.ok for row in rows(link, spread(0.9))] == [False, False, False]
    assert [row.ok for row in rows(link, spread(shift=0.001))] == [True, False, False]


def test_goodput_is_within_two_percent_of_rate_times_payload_over_frame():
    link = case("transfer", rate="10Mbit")
    for factor, ok in ((1.0, True), (0.985, True), (0.975, False), (1.025, False)):
        (row,) = rows(link, {"bit_s": factor * 10e6 * 1448 / 1514})
        assert row.ok is ok
    assert row.stated == pytest.approx(9.564, abs=0.001)


def test_an_idle_line_takes_a_frame_over_the_rate():
    assert rows(case("crossing", rate="2Mbit"), {"delays_s": [0.006058]})[0].ok
    assert not rows(case("crossing", rate="2Mbit"), {"delays_s": [0.0005]})[0].ok


def test_a_queue_delays_by_its_size_over_the_rate():
    link = case("fill", rate="10Mbit", queue="100 packets")
    full = 100 * 1514 * 8 / 10e6
    for factor, ok in ((1.0, True), (1.04, True), (0.94, False), (1.06, False)):
        assert rows(link, {"sent": 600, "came": 100, "waited_s": factor * full})[0].ok is ok
    assert not rows(link, {"sent": 600, "came": 0, "waited_s": 0.0})[0].ok


def test_lengths_are_exact():
    assert rows(case("kept", delay="200ms", queue="50 packets"), {"sent": 600, "came": 50})[0].ok
    assert not rows(case("kept", delay="200ms", queue="50 packets"), {"sent": 600, "came": 51})[0].ok
    assert rows(case("largest", mtu=1400), {"bytes": 1400})[0].ok
    assert not rows(case("largest", mtu=1400), {"bytes": 1500})[0].ok


def test_a_row_as_json():
    (row,) = rows(case("largest", mtu=1400), {"bytes": 1399})
    record = json.loads(json.dumps(row.to_json(), allow_nan=False))
    assert {key: record[key] for key in ("condition", "stated", "measured", "error", "ok")} == {
        "condition": "mtu 1400", "stated": 1400, "measured": 1399, "error": -1, "ok": False,
    }  # fmt: skip


@pytest.mark.parametrize(("ip", "payload"), [(IPV4, 1448), (IPV6, 1428)], ids=str)
def test_a_goodput_is_that_of_the_versions_segments(ip, payload):
    (row,) = rows(Case("rate", "transfer", {"rate": "2Mbit"}, 1, ip=ip), {"bit_s": 2e6 * payload / 1514})
    assert row.stated == 2 * payload / 1514
    assert row.error == pytest.approx(0, abs=1e-12)
    (small,) = rows(Case("rate", "transfer", {"rate": "2Mbit", "mtu": 1280}, 1, ip=ip), {"bit_s": 1e6})
    assert small.stated == 2 * (1280 - 1500 + payload) / 1294
