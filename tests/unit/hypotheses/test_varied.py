"""Values of conditions as `slownet run --vary` and `slownet sweep --vary` read them."""

import pytest

from slownet.hypotheses.experiment import Experiment, once
from slownet.model.errors import ExperimentError, UnitError
from slownet.runner.run_request import conditions
from slownet.sweep import sweeping
from slownet.sweep.factors import Design
from slownet.topologies import find


@pytest.fixture
def page():
    return Experiment("page", "How long?", lambda net, rtt: None, find("client_web_db"), {"rtt": ["0ms", "40ms"]})


def test_spaces_around_names_and_values_are_left_out():
    assert conditions([" rtt = 0ms, 10ms ", "loss=1%"]) == {"rtt": ["0ms", "10ms"], "loss": ["1%"]}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["rtt=10ms", "rtt=20ms"], "the condition 'rtt' is given twice, --vary: give all its values at once"),
        (["rtt=10ms,"], "an empty value in '10ms,', --vary rtt"),
        (["rtt=,10ms"], "an empty value"),
        (["rtt"], "invalid condition 'rtt', --vary"),
        (["=10ms"], "invalid condition '=10ms', --vary"),
    ],
)
def test_what_is_unclear_is_one_line(texts, message):
    with pytest.raises(ExperimentError, match=message):
        conditions(texts)


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        (("10ms", "10ms"), ("10ms",)),
        (("0.01s", "10ms", "10.0 ms", "20ms"), ("0.01s", "20ms")),
        (("0ms", "none", "10000us", "10ms"), ("0ms", "none", "10000us")),
    ],
)
def test_values_that_are_equal_are_measured_once(page, texts, kept):
    assert once("rtt", texts) == kept
    assert [cell["rtt"] for cell in page.cells({"rtt": texts})] == list(kept)
    assert [cell["rtt"] for cell in sweeping.cells_of(page, {"rtt": texts}, Design())] == list(kept)


def test_other_conditions_are_texts_and_equal_only_as_such():
    assert once("version", ("1", "01", "1")) == ("1", "01")


@pytest.mark.parametrize("text", ["10", "10xs", "-5ms", "\u22125ms", "1e2ms", "inf", "10ms 20ms", "10\u00b5s"])
def test_a_value_that_cannot_be_read_names_its_condition(page, text):
    for read in (page.cells, lambda chosen: sweeping.cells_of(page, chosen, Design())):
        with pytest.raises(UnitError, match=r", --vary rtt: "):
            read({"rtt": [text]})
    page.vary = {"rtt": [text]}
    with pytest.raises(UnitError, match=", rtt of page: "):
        page.cells()


def test_a_range_among_values_is_answered_with_its_form(page):
    with pytest.raises(UnitError, match="a range is from:to:step, such as 0:100:10ms"):
        page.cells({"rtt": ["0:40:10ms"]})


@pytest.mark.parametrize("space", ["", " ", "\u00a0", "\u202f"])
def test_a_space_before_a_unit_may_be_one_that_does_not_break(page, space):
    assert page.cells({"rtt": [f"10{space}ms"]}) == [{"rtt": f"10{space}ms"}]
