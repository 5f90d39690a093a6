"""Synthetic traces against the statistics that they are drawn from, with margins that were fixed before they were drawn."""

import itertools
from statistics import fmean, median, quantiles

import pytest

from slownet.links.conditions.impairment import Chance
from slownet.links.conditions.link import Condition
from slownet.links.traces import synthetic
from slownet.model.errors import TraceError, UnitError

LONG = "8h"
MARGIN_MS, MARGIN = 2.0, 0.05


@pytest.fixture(scope="module")
def trace():
    return synthetic.starlink(1, length=LONG, step="1s")


def by_satellite(trace):
    """The steps of each satellite: at, round trip in ms, rate in Mbit/s, loss."""
    steps, at = [], 0.0
    for rtt, piece in zip(trace.rtts(), trace.down.pieces, strict=True):
        steps.append((round(at, 6), 1000 * rtt, piece.rate / 1e6, piece.loss))
        at += piece.seconds
    return [list(group) for _, group in itertools.groupby(steps, lambda step: (step[0] + 3) // 15)]


def test_a_satellite_leaves_at_huston_s_seconds_of_a_minute(trace):
    satellites = by_satellite(trace)
    assert {each[0][0] % 60 for each in satellites[1:]} == {12, 27, 42, 57}
    assert all(len({rate for _, _, rate, _ in each}) == 1 for each in satellites)
    assert len({each[0][2] for each in satellites}) == len(satellites) == 8 * 240 + 1


def test_round_trips_are_those_of_michel(trace):
    rtts = [
        step[1] for each in by_satellite(trace) for step in each[1:]
    ]  # without spikes, which last for less than 1 % of the time
    assert quantiles(rtts) == pytest.approx([40, 50, 60], abs=MARGIN_MS)
    assert min(rtts) == pytest.approx(20, abs=MARGIN_MS)


def test_jitter_spikes_and_shifts_are_those_of_huston(trace):
    satellites = [each for each in by_satellite(trace) if len(each) > 5]
    differences = [abs(b[1] - a[1]) for each in satellites for a, b in itertools.pairwise(each[1:])]
    assert fmean(differences) == pytest.approx(6.7, rel=MARGIN)
    spikes = [each[0][1] - median(step[1] for step in each[1:]) for each in satellites[1:]]
    assert fmean(spikes) == pytest.approx(40 + (1 - 0.693) * 6.7, abs=MARGIN_MS)
    least = [min(step[1] for step in each[1:]) for each in satellites]
    assert max(abs(b - a) for a, b in itertools.pairwise(least)) == pytest.approx(50, rel=MARGIN)


def test_losses_are_at_changes_of_satellites_and_at_most_kassem_s(trace):
    satellites = by_satellite(trace)
    assert not any(loss for each in satellites for _, _, _, loss in each[1:])
    losses = [each[0][3] for each in satellites[1:]]
    assert max(losses) == pytest.approx(0.5, rel=MARGIN)
    assert max(losses) <= 0.5


def test_rates_are_those_of_huston_with_ookla_s_medians(trace):
    rates = [each[0][2] for each in by_satellite(trace)]
    assert median(rates) == pytest.approx(116.77, rel=MARGIN)
    assert (min(rates), max(rates)) == (pytest.approx(10, abs=5), pytest.approx(370, rel=MARGIN))
    assert min(rates) >= 10
    assert {piece.rate for piece in trace.up.pieces} == {18.17e6}


def test_what_has_no_source_is_stated():
    steady = synthetic.starlink(1, length="1min", loss="0.1%", vary_rate=False)
    assert {piece.rate for piece in steady.down.pieces} == {116.77e6}
    assert min(piece.loss for piece in steady.up.pieces) == 0.001
    assert len(steady.up.pieces) == 600
    assert [piece.seconds for piece in synthetic.starlink(1, length="30s", step="15s").up.pieces][:3] == [12, 0.1, 14.9]


def test_lte_is_that_of_opensignal():
    trace = synthetic.mobile("lte", 1, handover_every="20s", length=LONG)
    cells, gaps = trace.down.pieces[::2], trace.down.pieces[1::2]
    rates = [each.rate / 1e6 for each in cells]
    assert fmean(rates) == pytest.approx(21.3, rel=MARGIN)
    assert (min(rates), max(rates)) == (pytest.approx(12.1, rel=MARGIN), pytest.approx(32.9, rel=MARGIN))
    assert {each.rate for each in trace.up.pieces[::2]} == {6.3e6}
    rtts = [1000 * each for each in trace.rtts()]
    assert (min(rtts), max(rtts)) == (pytest.approx(44.1, abs=1), pytest.approx(66.4, abs=1))
    interruptions = [1000 * each.seconds for each in gaps]
    assert (min(interruptions), max(interruptions)) == (pytest.approx(30, abs=1), pytest.approx(80, abs=1))
    assert fmean(interruptions) == pytest.approx(55, rel=MARGIN)
    assert {each.rate for each in gaps} == {0}
    assert {round(each.seconds + gap.seconds, 9) for each, gap in zip(cells, gaps, strict=True)} == {20}


def test_5g_is_that_of_the_itu_and_a_seamless_handover_loses():
    trace = synthetic.mobile("5G", 1, handover_every="10s", length="1min", lossless=False)
    assert {(each.rate, each.loss) for each in trace.down.pieces} == {(1e8, 0), (1e8, 1)}
    assert {round(each, 9) for each in trace.rtts()} == {0.008}
    assert all(0.05 <= each.seconds <= 0.15 for each in trace.up.pieces[1::2])
    states = list(itertools.islice(trace.schedule().states(Condition()), 3))
    assert [state.condition.loss_down for state in states] == [None, Chance(1.0), None]


@pytest.mark.parametrize(
    "drawn", [synthetic.starlink, lambda seed: synthetic.mobile("LTE", seed, handover_every="15s")], ids=["starlink", "LTE"]
)
def test_the_seed_decides(drawn):
    assert drawn(7) == drawn(7)
    assert drawn(7) != drawn(8)


def test_both_directions_are_played_in_step():
    trace = synthetic.starlink(1, length="15s")
    first, *_, turn = itertools.islice(trace.schedule().states(Condition()), 121)
    assert (first.at, turn.at) == (0, pytest.approx(12))
    assert turn.condition.loss_up == turn.condition.loss_down != first.condition.loss_up
    assert (turn.condition.rate_up, turn.condition.rtt) == (18.17e6, pytest.approx(trace.rtts()[120]))


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (
            lambda: synthetic.starlink(1, length="8000h"),
            "a length of 8000h, synthetic trace: give more than 0 s, and at most a week",
        ),
        (
            lambda: synthetic.starlink(1, spike="20s"),
            "a step of 100ms, or a spike of 20s, trace of Starlink: give more than 0 s, and less than 12s",
        ),
        (
            lambda: synthetic.mobile("LTF", 1, handover_every="9s"),
            "no mobile network 'LTF', trace of a mobile network: did you mean",
        ),
        (
            lambda: synthetic.mobile("5G", 1, handover_every="100ms"),
            "a handover every 100ms, trace of a mobile network: give more than 0.15s",
        ),
    ],
)
def test_mistakes_are_one_line(make, line):
    with pytest.raises(TraceError) as error:
        make()
    assert str(error.value).startswith(line)


def test_lengths_have_units():
    with pytest.raises(UnitError):
        synthetic.starlink(1, length="60")
