"""Which experiments are judged together."""

from slownet.judge.claim import all_of, any_of, bound, law, more_round_trips, not_
from slownet.judge.claim.requirements import related

ALONE = [bound("time_ms", at_most=1), all_of(law("time_ms", round_trips=2), not_(bound("time_ms", at_most=2)))]


def more(of):
    return more_round_trips("time_ms", at_least=2, of=of)


class Own:
    """A user's kind of claim."""

    def judge(self, run, siblings=()):
        raise NotImplementedError


def test_experiments_whose_claims_name_no_other_one_are_alone():
    assert related({"a": ALONE, "b": [], "c": ALONE}) == [["a"], ["b"], ["c"]]


def test_a_claim_that_names_another_experiment_joins_both_and_what_these_are_joined_with():
    assert related({"a": ALONE, "b": [more("d")], "c": ALONE, "d": ALONE}) == [["a"], ["b", "d"], ["c"]]
    assert related({"a": [more("b")], "b": [more("c")], "c": [], "d": []}) == [["a", "b", "c"], ["d"]]
    assert related({"a": [more("c")], "b": [more("c")], "c": []}) == [["a", "b", "c"]]


def test_it_is_found_inside_other_claims():
    assert related({"a": [any_of(*ALONE, not_(all_of(more("b"))))], "b": []}) == [["a", "b"]]


def test_an_experiment_that_does_not_run_joins_nothing():
    assert related({"a": [more("z")], "b": [more("z")]}) == [["a"], ["b"]]


def test_a_kind_of_claim_that_is_not_slownets_may_ask_for_any_run():
    assert related({"a": ALONE, "b": [all_of(Own())], "c": ALONE}) == [["a", "b", "c"]]
