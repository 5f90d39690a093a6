"""How many labs share the cells of an experiment, and who measures what."""

from types import SimpleNamespace

import pytest

from slownet.errors import ExperimentError
from slownet.lab.clock import INF, Clock
from slownet.lab.place import Place
from slownet.sweep.sharing import check_labs, how_many, read_labs, share

LAB = SimpleNamespace()
CHARGED, FREE = Place(Clock("virtual", 1), {}, parts=LAB), Place(Clock("virtual", INF), {}, parts=LAB)
REAL, NATIVE = Place(Clock("real"), {}, parts=LAB), Place(Clock("real"), {})


@pytest.mark.parametrize(
    ("place", "wanted", "cells", "beside", "processors", "labs"),
    [
        (CHARGED, None, 4, 1, 2, 2),
        (CHARGED, None, 4, 1, 16, 4),
        (CHARGED, None, 1, 1, 2, 1),
        (CHARGED, None, 0, 1, 2, 0),
        (CHARGED, None, 4, 2, 2, 1),
        (CHARGED, None, 12, 3, 16, 5),
        (CHARGED, None, 4, 5, 2, 1),
        (CHARGED, None, 4, 1, 1, 1),
        (CHARGED, 1, 4, 1, 2, 1),
        (CHARGED, 3, 4, 2, 2, 3),
        (CHARGED, 3, 2, 1, 2, 2),
        (FREE, None, 4, 1, 16, 1),
        (FREE, 2, 4, 1, 1, 2),
        (REAL, None, 4, 1, 16, 1),
        (NATIVE, None, 4, 1, 16, 1),
        (NATIVE, None, 0, 1, 16, 0),
    ],
)
def test_how_many(place, wanted, cells, beside, processors, labs):
    assert how_many(wanted, place, cells, beside, processors) == labs


def test_cells_of_unknown_cost_go_round():
    assert share([0, 1, 2, 3, 4], 2, {}) == [[0, 2, 4], [1, 3]]
    assert share([7, 6, 5], 1, {}) == [[7, 6, 5]]
    assert share([], 0, {}) == []


def test_known_costs_are_balanced_and_the_order_kept():
    assert share([0, 1, 2, 3], 2, {0: 1.0, 1: 1.0, 2: 1.0, 3: 3.0}) == [[3], [0, 1, 2]]
    assert share([3, 2, 1, 0], 2, {0: 4.0, 1: 3.0, 2: 2.0, 3: 1.0}) == [[3, 0], [2, 1]]


def test_a_cell_of_unknown_cost_counts_as_the_mean_of_the_others():
    assert share([0, 1, 2], 2, {0: 6.0, 1: 2.0}) == [[0], [1, 2]]


@pytest.mark.parametrize("cells", range(1, 12))
@pytest.mark.parametrize("labs", range(1, 5))
def test_every_cell_has_one_lab_and_every_lab_a_cell(cells, labs):
    shares = share(list(range(cells)), min(labs, cells), {0: 5.0, 3: 0.5})
    assert sorted(cell for each in shares for cell in each) == list(range(cells))
    assert all(shares)


def test_where_labs_do_not_disturb_each_other_any_number_will_do():
    for place in (CHARGED, FREE):
        for wanted in (None, 1, 5):
            check_labs(wanted, place)
    for place in (REAL, NATIVE):
        check_labs(None, place)
        check_labs(1, place)
    with pytest.raises(ExperimentError, match="on the real clock 2 labs would disturb each other, --labs: "):
        check_labs(2, REAL)
    with pytest.raises(ExperimentError, match="in place there are no 2 labs, --labs: leave it out, or take --place lab"):
        check_labs(2, NATIVE)


@pytest.mark.parametrize(("text", "labs"), [("auto", None), ("1", 1), ("64", 64)])
def test_as_the_option_is_written(text, labs):
    assert read_labs(text) == labs


@pytest.mark.parametrize("text", ["0", "-1", "two", "", "1.5", "65", "\N{SUPERSCRIPT TWO}"])
def test_what_is_no_number_of_labs_is_one_line(text):
    with pytest.raises(ExperimentError, match=r"unclear number of labs .*, --labs: write a whole number from 1 to 64, or auto"):
        read_labs(text)
