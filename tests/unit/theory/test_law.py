import math

import pytest

from slownet.model.errors import SlownetError, UnitError
from slownet.theory.law import Law, fit
from slownet.theory.stats import Summary, from_error, from_moments, t_quantile

ARTICLE = [(0, 12.323), (10, 51.825), (40, 173.318), (120, 491.918)]


def within(mean, half):
    return Summary(mean, mean - half, mean + half, 100)


def test_two_points_give_the_line_through_them():
    law = fit([(0.0, within(12.323, 0.0)), (10.0, within(51.825, 0.0))])
    assert law.k.mean == pytest.approx(3.9502, rel=1e-14)
    assert law.k.low == law.k.mean == law.k.high
    assert law.t0.mean == pytest.approx(12.323, rel=1e-14)
    assert law.at(40.0).mean == pytest.approx(170.331, rel=1e-14)
    assert law.residuals == pytest.approx((0, 0), abs=1e-12)


def test_two_points_pass_their_intervals_on():
    law = fit([(0.0, within(12.323, 0.3)), (10.0, within(51.825, 0.4))])
    assert law.k.mean == pytest.approx(3.9502)
    # hypot(0.3, 0.4) / 10, with t for Satterthwaite's (9 + 16)**2 / (81 / 99 + 256 / 99) = 183.6 degrees, not 99
    assert law.k.half_width == pytest.approx(0.05 * t_quantile(99 * 625 / 337) / t_quantile(99))
    assert law.t0.half_width == pytest.approx(0.3)
    assert law.at(20.0).mean == pytest.approx(91.327)
    assert law.at(20.0).half_width == pytest.approx(math.hypot(0.3, 0.8), rel=0.01)


def test_exact_points_off_the_line_get_the_interval_of_their_residuals():
    law = fit((delay, within(time, 0.0)) for delay, time in ARTICLE)
    assert law.k.mean == pytest.approx(3.99800676056338)
    assert law.k.half_width == pytest.approx(0.03772698915282528)
    assert law.t0.mean == pytest.approx(12.430712676056345)
    assert law.t0.half_width == pytest.approx(2.3935091361666077)
    assert law.at(60).mean == pytest.approx(252.31111830985915)
    assert law.at(60).half_width == pytest.approx(1.89575774273878)
    assert law.residuals == pytest.approx([-0.1077127, -0.5857803, 0.9670169, -0.2735239], abs=1e-6)


def test_the_bend_takes_no_more_confidence_than_what_lasts():
    """The last of 30 looks would need a t of 305 (99.999 %, 2 degrees); the bend is the same at all, so 9.9 (99 %) does."""
    sure = [(delay, from_moments(time, 0.1, 30, 1 - 1e-5)) for delay, time in ARTICLE]
    look, once = fit(sure, 0.99).k, fit((delay, time.at_confidence(0.99)) for delay, time in sure).k
    assert (look.confidence, look.mean) == (1 - 1e-5, pytest.approx(once.mean))
    assert look.half_width == pytest.approx(once.half_width, rel=1e-9)  # the bend is wider than the noise of the last look
    assert fit(sure).k.half_width == pytest.approx(once.half_width * t_quantile(2, 1 - 1e-5) / t_quantile(2, 0.99), rel=0.02)


def test_a_law_without_its_bend_and_without_its_noise():
    law = fit((delay, within(time, 0.1)) for delay, time in ARTICLE)
    assert law.bent
    noise, stays = law.straight().k, law.endless().k
    assert noise.mean == stays.mean == law.k.mean
    slopes = [(delay - 42.5) / 8875 for delay in law.delays]
    squares = [slope * slope for slope in slopes]
    df = 99 * sum(squares) ** 2 / sum(square * square for square in squares)
    assert noise.half_width == pytest.approx(math.sqrt(sum(squares)) * 0.1 * t_quantile(df) / t_quantile(99))
    assert noise.half_width < stays.half_width < law.k.half_width
    exact = fit((delay, within(time, 0.0)) for delay, time in ARTICLE)
    assert exact.endless().k.half_width == pytest.approx(exact.k.half_width)
    assert exact.straight().k.half_width == 0
    assert fit((delay, within(9 + 4 * delay, 0.1)) for delay in (0, 10, 40)).endless().k.half_width == 0
    assert law.furthest == (pytest.approx(0.97, abs=0.005), 40)


def test_exact_points_on_the_line_give_an_exact_law():
    law = fit((delay, within(9.1 + 21.05 * delay, 0.0)) for delay in (0, 0.1, 10, 40, 120))
    assert law.k.mean == pytest.approx(21.05, rel=1e-13)
    assert law.k.low == law.k.mean == law.k.high
    assert law.at(40).low == law.at(40).high


def test_weights_follow_the_intervals():
    halves = (0.1, 0.2, 0.2, 0.4)
    law = fit((delay, within(time, half)) for (delay, time), half in zip(ARTICLE, halves, strict=True))
    assert law.t0.mean == pytest.approx(12.33362208)
    assert law.k.mean == pytest.approx(4.00411703)
    weighted = sum(weight * off * off for weight, off in zip(law.weights, law.residuals, strict=True))
    # The sums of the shares and of the squared slopes by hand: w (1 - w / 5.75 - w (d - m)**2 / 1881.5...), w = 4, 1, 1, 1/4.
    middle = sum(w * d for w, d in zip(law.weights, law.delays, strict=True)) / sum(law.weights)
    spread = sum(w * (d - middle) ** 2 for w, d in zip(law.weights, law.delays, strict=True))
    total, slopes = sum(law.weights), [w * (d - middle) / spread for w, d in zip(law.weights, law.delays, strict=True)]
    share = sum(w - w * w / total - w * w * (d - middle) ** 2 / spread for w, d in zip(law.weights, law.delays, strict=True))
    scatter = math.sqrt(weighted / share * sum(slope * slope for slope in slopes))  # residuals; 0.00306 is propagated
    assert law.k.half_width == pytest.approx(t_quantile(2) * scatter)


def test_wide_points_on_the_line_keep_their_own_width():
    law = fit([(0, within(10, 1)), (10, within(50, 1)), (20, within(90, 1))])
    assert law.k.mean == pytest.approx(4)
    assert law.k.half_width == pytest.approx(math.sqrt(2) / 20 * t_quantile(198) / t_quantile(99))
    assert not law.bent


def test_a_point_without_an_interval_leaves_two_points_undecided():
    unknown = Summary(51.825, -math.inf, math.inf, 1)
    assert not fit([(0, within(12.323, 0.3)), (10, unknown)]).k.known
    three = fit([(0, within(12, 0.3)), (10, unknown), (20, within(92, 0.3))])
    assert three.k.mean == pytest.approx(4.0)
    assert three.k.known  # from the residuals


def test_the_toluca_company():
    """Kutner, Nachtsheim, Neter and Li, "Applied linear statistical models", 1.6 and 2.1: hours against lot size."""
    lots = (80, 30, 50, 90, 70, 60, 120, 80, 100, 50, 40, 70, 90, 20, 110, 100, 30, 50, 90, 110, 30, 90, 40, 80, 70)
    hours = (
        399, 121, 221, 376, 361, 224, 546, 352, 353, 157, 160, 252, 389, 113, 435, 420, 212, 268, 377, 421, 273, 468, 244, 342,
        323,
    )  # fmt: skip
    law = fit((lot, from_moments(hour, None, 1)) for lot, hour in zip(lots, hours, strict=True))
    assert (law.t0.mean, law.k.mean) == (pytest.approx(62.37, abs=0.005), pytest.approx(3.5702, abs=5e-5))
    assert (law.k.low, law.k.high) == (pytest.approx(2.85, abs=0.005), pytest.approx(4.29, abs=0.005))
    assert (law.k.error, law.t0.error) == (pytest.approx(0.3470, abs=5e-5), pytest.approx(26.18, abs=0.005))


def test_the_lack_of_fit_of_the_bank_accounts():
    """Neter, Kutner and others, "Applied linear statistical models", the bank example: F = 14.80 with 4 and 5 degrees."""
    accounts = {75: (28, 42), 100: (112, 136), 125: (160, 150), 150: (152,), 175: (156, 124), 200: (124, 104)}
    within = math.sqrt(1148 / 5)  # the pure error that all groups share
    points = tuple(from_error(sum(g) / len(g), within / math.sqrt(len(g)), len(g), 5 / 6) for g in accounts.values())
    law = Law(tuple(map(float, accounts)), points, tuple(float(len(group)) for group in accounts.values()))
    assert (law.t0.mean, law.k.mean) == (pytest.approx(50.7225, abs=1e-4), pytest.approx(0.48670, abs=1e-5))
    found = law.lack_of_fit()
    assert (found.df, found.within) == (4, pytest.approx(5, rel=0.06))  # exactly 5 under equal variances
    assert found.f == pytest.approx(14.80, abs=0.005)
    assert found.p == pytest.approx(0.006, abs=0.002)
    assert law.bent


def test_exact_points_off_the_line_do_not_fit_and_on_it_do():
    bent = fit((delay, within(time, 0.0)) for delay, time in ARTICLE).lack_of_fit()
    assert (bent.f, bent.p) == (math.inf, 0.0)
    assert bent.worst == pytest.approx(0.5857803 / 51.825)
    straight = fit((delay, within(9.1 + 21.05 * delay, 0.0)) for delay in (0, 10, 40, 120)).lack_of_fit()
    assert (straight.f, straight.p) == (0.0, 1.0)
    assert math.isnan(fit([(0, within(1, 0)), (1, within(2, 0))]).lack_of_fit().p)


def test_a_law_predicts_another_place():
    law = fit([(0.0, within(9.0, 0.0)), (10.0, within(49.0, 0.0)), (120.0, within(489.0, 0.0))])
    page = law.predict(T0="12.3ms", rtt="85ms")
    assert page.mean == pytest.approx(12.3 + 4 * 85)
    assert law.predict(12.3, 85).mean == page.mean
    noisy = fit([(0.0, within(9.0, 0.3)), (10.0, within(49.0, 0.4))])
    assert noisy.predict(12.3, 85).half_width == pytest.approx(85 * noisy.k.half_width)
    with pytest.raises(UnitError, match="has no unit"):
        law.predict(T0="12.3", rtt="85ms")
    with pytest.raises(SlownetError, match=r"rtt is -1 ms, in a prediction: give 0 or more"):
        law.predict(T0=1, rtt=-1)


def test_theory_predicts_between_the_cells_of_a_bent_law():
    law = fit((delay, within(time, 0.1)) for delay, time in ARTICLE)
    assert law.bent
    assert law.k.low < 4 < law.k.high
    scatter = math.sqrt(sum(each * each for each in law.residuals) / 2)
    at = law.predict(12.323, 40, 4)  # at the delay of a cell: its own residual
    assert at.mean == pytest.approx(173.318)
    ends = (12.323 + 160 - scatter, 173.318 + scatter + math.sqrt(2) * 0.1)
    assert (at.low, at.high) == pytest.approx(ends, rel=1e-4)
    assert law.predict(12.323, 25, 4).mean == pytest.approx((51.825 + 173.318) / 2)
    assert law.predict(10, 0, 4).mean == 10
    assert law.predict(12.323, 121, 4) == law.predict(12.323, 121)
    assert law.predict(12.323, 40, 5) == law.predict(12.323, 40)
    straight = fit((delay, within(9 + 4 * delay, 0.1)) for delay in (0, 10, 40))
    assert straight.predict(12, 25, 4) == straight.predict(12, 25)


def test_the_law_at_another_confidence():
    points = [(delay, from_moments(9 + 4 * delay, 0.5, 20)) for delay in (0.0, 10.0)]
    usual = fit(points).k
    surer = fit((delay, time.at_confidence(0.99)) for delay, time in points).k
    assert surer.half_width / usual.half_width == pytest.approx(t_quantile(38, 0.99) / t_quantile(38))


def test_one_delay_makes_no_law():
    with pytest.raises(SlownetError) as caught:
        fit([(10.0, within(51.0, 1)), (10.0, within(52.0, 1))])
    assert str(caught.value) == "only one delay was measured, 10 ms: measure at two different delays"
    with pytest.raises(SlownetError, match="no delay was measured"):
        fit([])
