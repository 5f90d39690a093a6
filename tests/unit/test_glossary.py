"""Tests of the glossary: each term has a meaning, and is found by any of its names."""

import pytest

from slownet.model import glossary


def test_each_term_has_a_sentence():
    found = glossary.terms()
    assert len(found) > 30
    assert all(meaning.endswith((".", "`slownet sweep`")) and "|" not in meaning for meaning in found.values())
    assert list(found) == sorted(found, key=str.casefold)


@pytest.mark.parametrize(
    ("word", "term"),
    [
        ("T0", "T0"), ("t0", "T0"), ("cells", "cell"), ("RTT", "round trip (RTT)"), ("round trips", "round trip (RTT)"),
        ("tool", "service, tool"), ("verified rtt", "verified RTT"), ("TDF", "TDF"),
    ],
)  # fmt: skip
def test_a_term_is_found_by_its_names(word, term):
    assert glossary.meaning(word) == (term, glossary.terms()[term])


def test_other_words_are_not_found():
    assert glossary.meaning("wormhole") is None
    assert glossary.meaning("") is None
