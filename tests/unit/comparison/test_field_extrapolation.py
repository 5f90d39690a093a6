"""A run's law compared with a field whose pages follow it."""

import pytest

from slownet.comparison.compare import compare_field
from slownet.comparison.record import Field
from slownet.comparison.row import DIFFERS, EQUIVALENT, INCONCLUSIVE
from slownet.model.errors import ExperimentError, SlownetError
from slownet.tools.web.request import Page


def field(rtt, server, trips=4.0, count=20, tls=None, length=52_000):
    """Return a field measurement of pages with this round trip and server time; times vary by up to 0.1 ms."""
    pages = []
    for at in range(count):
        off = 0.1 * ((at * 7) % 5 - 2) / 2
        total = server + off + trips * rtt + (tls or 0.0)
        pages.append(Page(at * 0.5, rtt + off / 10, tls, rtt + server + off, total, 200, "OK", None, length))
    return Field({"url": "http://shop.example/"}, tuple(pages))


def verdicts(found):
    return {row.condition: row.verdict for row in found.rows}


def test_a_machine_as_fast_as_the_labs_and_the_same_page(made):
    found = compare_field(made(), field(85.0, 8.6), 0.05)
    # The run's T0 of 9 ms includes four of its own round trips of 0.1 ms.
    assert verdicts(found) == {"RTT 85.00 ms, law": EQUIVALENT, "RTT 85.00 ms, law with the field's T0": EQUIVALENT}
    law, own = found.rows
    assert law.first.mean == pytest.approx(9 + 4 * 84.9)
    assert own.first.mean == pytest.approx(8.6 + 4 * 85)
    assert own.second.mean == pytest.approx(8.6 + 4 * 85)
    assert found.law["field"]["k"]["mean"] == pytest.approx(4)
    assert found.law["field"]["t0_ms"]["mean"] == pytest.approx(8.6)
    assert (found.status, found.notes) == (0, ())


def test_a_slower_machine_and_the_same_page(made):
    found = compare_field(made(), field(85.0, 108.6), 0.05)
    assert [row.verdict for row in found.rows] == [DIFFERS, EQUIVALENT]
    assert found.rows[0].difference.mean == pytest.approx(100.0)
    assert found.status == 1


def test_more_round_trips_than_in_the_lab(made):
    found = compare_field(made(), field(85.0, 8.6, trips=5), 0.05)
    assert [row.verdict for row in found.rows] == [DIFFERS, DIFFERS]
    assert found.rows[1].difference.mean == pytest.approx(85.0)
    assert found.law["field"]["k"]["mean"] == pytest.approx(5)


def test_a_cell_of_the_fields_round_trip_is_compared_directly(made):
    found = compare_field(made(), field(40.1, 8.6), 0.05)
    assert verdicts(found)["rtt 40ms"] == EQUIVALENT
    assert found.rows[0].first.mean == 169.0


def test_a_short_round_trip_says_nothing_about_round_trips(made):
    found = compare_field(made(), field(1.0, 30.0), 0.05)
    assert verdicts(found) == {"RTT 1.000 ms, law": DIFFERS}


def test_a_bent_law_is_interpolated_between_cells(made):
    bent = made({0: 9.0, 10: 49.0, 40: 189.0, 120: 509.0})
    found = compare_field(bent, field(85.0, 28.6), 0.05)
    # The slope is 4 from 40 ms on, and 4.17 from the baseline on.
    assert found.rows[0].first.mean == pytest.approx(189 + 4 * 44.9)
    assert found.rows[1].first.mean == pytest.approx(28.6 + 500 / 120 * 85)
    assert found.rows[0].verdict == EQUIVALENT
    assert found.notes[0].startswith("the run's data deviate significantly from a straight line")
    beyond = compare_field(bent, field(200.0, 28.6), 0.05)
    assert beyond.rows[0].verdict == INCONCLUSIVE  # the law of all cells, whose interval is that of its residuals
    at_a_cell = compare_field(bent, field(40.1, 28.6), 0.05)
    assert at_a_cell.rows[1].first.mean == pytest.approx(189.0)


def test_the_sites_own_time_without_delay(made):
    found = compare_field(made(), field(85.0, 108.6), 0.05, t0="108.6ms")
    assert verdicts(found) == {"RTT 85.00 ms, law with T0 108.6ms": EQUIVALENT}
    assert found.rows[0].first.mean == pytest.approx(108.6 + 340)
    with pytest.raises(SlownetError, match="has no unit, --t0: "):
        compare_field(made(), field(85.0, 108.6), 0.05, t0="108.6")


def test_notes_name_the_weaknesses(made):
    beyond = "200.0 ms is an extrapolation: the longest measured delay is 120.0 ms"
    assert beyond in compare_field(made(), field(200.0, 8.6), 0.05).notes
    few = compare_field(made(), field(85.0, 8.6, count=5), 0.05)
    assert "5 requests are too few for the interval of a round trip: --requests 8 or more" in few.notes
    assert {row.verdict for row in few.rows} == {INCONCLUSIVE}
    short = compare_field(made(), field(85.0, 8.6, length=14_000), 0.05)
    unlike = "the page has 14,000 bytes in the field and 52,000 in the run: slow start takes other round trips"
    assert unlike in short.notes
    unknown = compare_field(made(verified_rtt_ms=None), field(85.0, 8.6), 0.05)
    assert "the run's round trip without delay was not verified: 0 ms is assumed" in unknown.notes


def test_a_tls_handshake_is_left_out(made):
    found = compare_field(made(), field(85.0, 8.6, tls=90.0), 0.05)
    assert found.status == 0
    assert found.notes == ("the field's times are without the TLS handshake, because the run has none",)


def test_a_run_that_says_nothing_about_the_field(made):
    with pytest.raises(SlownetError, match="only one delay was measured, 0 ms"):
        compare_field(made({0: 9.0}), field(85.0, 8.6), 0.05)
    with pytest.raises(
        ExperimentError, match="no metric 'time_per_request_ms', in client_delay: compare the field with a run of ab"
    ):
        compare_field(made(metrics={}), field(85.0, 8.6), 0.05)
    only = compare_field(made({40: 169.0}), field(40.0, 8.6), 0.05)
    assert verdicts(only) == {"rtt 40ms": EQUIVALENT}
    assert only.notes == ("no law: only one delay was measured, 40 ms: measure at two different delays",)


FREE = {"tdf": "inf", "cpu": "free"}


@pytest.mark.parametrize(("off", "is_noted"), [(0.003, False), (0.2, True)])
def test_a_bend_of_microseconds_at_free_cpu_is_not_worth_a_note(made, off, is_noted):
    """Linux may wake a program 50 us late; the numbers repeat, so that any bend is significant."""
    bent = made({0: 9.0, 10: 49.0 + off, 40: 169.0, 120: 489.0}, sd=0.0, clock=FREE)
    assert any("straight line" in note for note in compare_field(bent, field(85.0, 28.6), 0.05).notes) is is_noted
