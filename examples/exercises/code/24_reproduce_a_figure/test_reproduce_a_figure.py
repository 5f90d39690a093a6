"""Judges what can be measured of a reproduced figure; the rubric on the exercise's page has the rest. A mark for each test."""

import csv
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path

import pytest

from slownet import ab
from slownet.hypotheses import file as hypothesis

pytestmark = pytest.mark.tdf("inf")
HANDED_IN = Path("submission")
COLUMNS = ["rtt_ms", "predicted_ms", "measured_ms"]
PAGE, WITHIN = 52_000, 0.05


def points():
    """Return the rows of figure.csv: three numbers each."""
    with (HANDED_IN / "figure.csv").open() as file:
        rows = csv.DictReader(file)
        assert rows.fieldnames == COLUMNS, f"the columns are {rows.fieldnames}, not {COLUMNS}"
        return [tuple(float(row[name]) for name in COLUMNS) for row in rows]


def test_the_distances_are_enough_to_see_a_line_and_where_it_begins():
    distances = [each for each, _, _ in points()]
    assert len(distances) >= 6, f"{len(distances)} distances, not six or more"
    assert all(one < other for one, other in pairwise(distances)), "the distances do not grow"
    assert distances[0] == 0, "no distance is 0"
    assert distances[-1] >= 100, "none is as far as 100 ms"


def test_the_theory_is_a_law_and_not_a_fit():
    rest, *far = points()
    trips = [(predicted - rest[1]) / rtt for rtt, predicted, _ in far]
    assert max(trips) - min(trips) < 0.01, "the prediction does not grow by the same for each ms"
    assert round(trips[0]) >= 1, "it takes no round trip"
    assert abs(trips[0] - round(trips[0])) < 0.01, f"{trips[0]:.2f} is no number of round trips"


def test_theory_and_measurement_agree_or_the_question_was_another():
    for rtt, predicted, measured in points()[1:]:
        assert measured == pytest.approx(predicted, rel=WITHIN), f"at {rtt:g} ms they differ by more than 5 %"


def test_what_was_measured_can_be_measured_again(net, nginx):
    (Path(nginx.root) / "page.html").write_bytes(b"x" * PAGE)
    far = points()[1:]
    for rtt, _, measured in {far[0], far[len(far) // 2], far[-1]}:
        with net.link("client", "switch").set(rtt=f"{rtt}ms"):
            again = ab(net["client"], f"{nginx.url}page.html", requests=5).metrics()["time_per_request_ms"]["mean"]
        assert measured == pytest.approx(again, rel=WITHIN), f"at {rtt:g} ms it takes something else here"


def test_the_experiment_and_the_figure_are_there():
    found = hypothesis.read(HANDED_IN / "experiment.toml")
    assert "rtt" in found.vary, "experiment.toml varies no rtt"
    assert not any(each.open for each in found.predictions), "a prediction is left open"
    assert any(each.kind == "law" for each in found.predictions), "no prediction is a law"
    text = (HANDED_IN / "figure.svg").read_text()
    ElementTree.fromstring(text)
    assert text.count("ms") >= 2, "an axis of figure.svg has no unit: save it with svg.fonttype = 'none'"
