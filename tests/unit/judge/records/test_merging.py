"""Tests of merging the facts that several labs report about one run."""

from slownet.judge.records.run_json import merge_facts


def test_what_agrees_is_put_together():
    known = {"experiment": "x", "settings": {"a": "1"}}
    assert merge_facts(known, {"settings": {"a": "1"}, "openvswitch": "3.5"}) == {**known, "openvswitch": "3.5"}
    assert merge_facts(known, {"settings": {"b": "2"}})["settings"] == {"a": "1", "b": "2"}
    assert known == {"experiment": "x", "settings": {"a": "1"}}


def test_what_was_told_first_stays_and_all_is_kept():
    first = merge_facts({}, {"service": {"page_length": 1, "deep": {"er": [1]}}, "openvswitch": "3.5"})
    second = merge_facts(first, {"service": {"page_length": 2, "deep": {"er": [1, 2]}}, "openvswitch": "3.5"})
    assert second["service"] == {"page_length": 1, "deep": {"er": [1]}}
    assert second["contradicted"] == {"service.page_length": [1, 2], "service.deep.er": [[1], [1, 2]]}
    third = merge_facts(second, {"service": {"page_length": 3}})
    assert third["contradicted"]["service.page_length"] == [1, 2, 3]
    assert third["contradicted"]["service.deep.er"] == [[1], [1, 2]]
    assert merge_facts(third, {"service": {"page_length": 2}}) == third


def test_a_fact_that_changes_its_kind_is_a_contradiction_too():
    assert merge_facts({"a": {"b": 1}}, {"a": None})["contradicted"] == {"a": [{"b": 1}, None]}
