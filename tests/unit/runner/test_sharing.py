"""How many labs measure an experiment's boots in parallel."""

from types import SimpleNamespace

import pytest

from slownet.lab.run.clock import INF, Clock
from slownet.lab.run.place import Place
from slownet.model.errors import ExperimentError
from slownet.runner.sharing import check_labs, how_many, read_labs

LAB = SimpleNamespace()
CHARGED, FREE = Place(Clock("virtual", 1), {}, parts=LAB), Place(Clock("virtual", INF), {}, parts=LAB)
REAL, NATIVE = Place(Clock("real"), {}, parts=LAB), Place(Clock("real"), {})


@pytest.mark.parametrize(
    ("place", "wanted", "boots", "processors", "labs"),
    [
        (CHARGED, None, 4, 2, 2),
        (CHARGED, None, 3, 16, 3),  # at most one per boot
        (CHARGED, None, 1, 2, 1),
        (CHARGED, None, 0, 2, 0),
        (CHARGED, None, 4, 1, 1),
        (CHARGED, 1, 4, 2, 1),
        (CHARGED, 3, 4, 2, 3),
        (CHARGED, 3, 2, 2, 2),
        (FREE, None, 4, 2, 2),  # a boot's results do not depend on parallel labs
        (FREE, None, 1, 16, 1),
        (FREE, 2, 4, 1, 2),
        (REAL, None, 4, 16, 1),
        (NATIVE, None, 4, 16, 1),
        (NATIVE, None, 0, 16, 0),
    ],
)
def test_how_many(place, wanted, boots, processors, labs):
    assert how_many(wanted, place, boots, processors) == labs


def test_where_labs_do_not_disturb_each_other_any_number_will_do():
    for place in (CHARGED, FREE):
        for wanted in (None, 1, 5):
            check_labs(wanted, place)
    for place in (REAL, NATIVE):
        check_labs(None, place)
        check_labs(1, place)
    with pytest.raises(ExperimentError, match="on the real clock 2 labs would disturb each other, --labs: "):
        check_labs(2, REAL)
    with pytest.raises(ExperimentError, match="2 labs need the place lab, --labs: leave it out, or use --place lab"):
        check_labs(2, NATIVE)


@pytest.mark.parametrize(("text", "labs"), [("auto", None), ("1", 1), ("64", 64)])
def test_as_the_option_is_written(text, labs):
    assert read_labs(text) == labs


@pytest.mark.parametrize("text", ["0", "-1", "two", "", "1.5", "65", "\N{SUPERSCRIPT TWO}"])
def test_what_is_no_number_of_labs_is_one_line(text):
    with pytest.raises(ExperimentError, match=r"invalid number of labs .*, --labs: write a whole number from 1 to 64, or auto"):
        read_labs(text)
