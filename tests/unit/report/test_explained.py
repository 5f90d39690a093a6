"""Tests of the words that a page explains where they first stand."""

import re

from slownet.model import glossary
from slownet.report.page_template import WORDS, explained


def test_the_first_of_each_word_is_explained_and_no_other():
    page = explained("<p>Each cell of a boot, and the next cell.</p><p>A cell again, beside T0.</p>")
    marked = re.findall(r'<abbr title="([^"]+)">([^<]+)</abbr>', page)
    assert [word for _, word in marked] == ["cell", "boot", "T0"]
    assert marked[2][0] == glossary.terms()["T0"]
    assert re.sub("<[^>]*>", "", page) == "Each cell of a boot, and the next cell.A cell again, beside T0."


def test_plots_scripts_headings_and_links_stay_as_they_are():
    for kept in ("<svg><text>cell</text></svg>", "<script>let cell</script>", "<h1>Which cell?</h1>", '<a href="#">cell</a>'):
        assert explained(kept) == kept
    assert explained('<td class="cell">1</td>') == '<td class="cell">1</td>'
    assert explained("<p>boots and reboot, two-cell</p>") == "<p>boots and reboot, two-cell</p>"


def test_every_word_has_its_line():
    assert all(glossary.meaning(word) for word in WORDS)
