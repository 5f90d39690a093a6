"""Values with a comma: chosen, listed, and refused before anything is measured."""

import pytest

from slownet.hypotheses import value_texts
from slownet.hypotheses.catalogue import find
from slownet.model.errors import ExperimentError
from slownet.runner.run_request import conditions
from slownet.sweep import factors, sweeping

WAYS = ["new", "new, TLS", "new, TLS at once", "new, TLS, name with TTL 0", "pool"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a,b", ["a", "b"]),
        (" a , b ", ["a", "b"]),
        ('"a, b",c', ["a, b", "c"]),
        ('c,"a, b"', ["c", "a, b"]),
        ("a,", ["a", ""]),
        ("", [""]),
        ('"a', ['"a']),
        ('a"b,c', ['a"b', "c"]),
        ('"",a', ["", "a"]),
        ('"a" ,b', ["a", "b"]),
        (",", ["", ""]),
        ('"a"b,c', ['"a"b', "c"]),
    ],
)
def test_a_text_is_split_at_commas_but_for_quoted_ones(text, parts):
    assert value_texts.split(text) == parts


@pytest.mark.parametrize("values", [["a", "b"], WAYS, ["a,b", "c"]])
def test_what_is_shown_is_split_into_the_same(values):
    assert value_texts.split(value_texts.shown(values)) == values


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("new, TLS", ["new, TLS"]),
        ("new,TLS", ["new, TLS"]),
        ("new,pool", ["new", "pool"]),
        ("new, TLS, name with TTL 0", ["new, TLS, name with TTL 0"]),
        ("new,new, TLS,pool", ["new", "new, TLS", "pool"]),
        ('"new",pool', ["new", "pool"]),
        ("pool,new, TLS at once", ["pool", "new, TLS at once"]),
    ],
)
def test_the_longest_known_value_is_meant(text, found):
    assert value_texts.whole("way", value_texts.split(text), WAYS, "pools") == found


@pytest.mark.parametrize("text", ["TLS", "new, TSL", "new, TLS, name", "pol"])
def test_an_unknown_value_is_refused_with_those_that_there_are(text):
    with pytest.raises(ExperimentError) as caught:
        value_texts.whole("way", value_texts.split(text), WAYS, "pools")
    assert caught.value.fix.startswith('choose from new, "new, TLS", "new, TLS at once", "new, TLS, name with TTL 0", pool')


def test_values_without_commas_are_free():
    assert value_texts.whole("rtt", ["3ms", "x"], ["0ms", "10ms"], "any") == ["3ms", "x"]


def test_every_way_of_an_experiment_can_be_chosen_for_a_run_and_a_sweep():
    experiment = find("connection_pool")
    for way in experiment.conditions["way"]:
        assert {each["way"] for each in experiment.cells(conditions([f"way={way}"]))} == {way}
        assert sweeping.factors_of(experiment, factors.parse([f"way={way}"]))["way"] == (way,)
        assert {each["way"] for each in experiment.cells({"way": [way]})} == {way}
    with pytest.raises(ExperimentError, match="connection_pool has no way 'TLS'"):
        experiment.cells(conditions(["way=TLS"]))
