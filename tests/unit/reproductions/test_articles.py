import pytest

from slownet.hypotheses.catalogue import discover
from slownet.model.errors import ExperimentError
from slownet.reproductions import articles
from slownet.reproductions.articles import ARTICLES, BEYOND, LONGEST, grouped, longest_first, select
from slownet.theory import published


def test_every_article_has_its_experiments():
    assert list(ARTICLES) == list(published.articles())
    named = [name for names in ARTICLES.values() for name in names]
    assert len(named) == len(set(named))
    assert set(named) <= set(discover())
    assert set(LONGEST) <= set(discover())


def test_what_belongs_to_no_article_is_beyond_them():
    assert grouped(["mine", "download", "cures", "client_delay"]) == {
        "wordpress-latency": ["client_delay"],
        "tc-download": ["download"],
        BEYOND: ["cures", "mine"],
    }


def test_without_a_choice_all_are_selected_in_the_articles_order():
    names = ["cures", "nagle_proxy", "client_delay", "oltp"]
    assert select(names, []) == ["client_delay", "oltp", "nagle_proxy", "cures"]


def test_todays_protocols_are_selected_only_if_asked_for():
    names = list(discover())
    assert set(articles.OF_PROTOCOLS) <= set(names)
    assert set(names) - set(select(names, [])) == set(articles.OF_PROTOCOLS)
    assert set(select(names, [], every=True)) == set(names)
    assert select(names, [articles.PROTOCOLS]) == list(articles.OF_PROTOCOLS)
    assert select(names, ["handshakes", "oltp"]) == ["oltp", "handshakes"]


def test_an_article_selects_its_experiments_and_an_experiment_itself():
    names = list(discover())
    assert select(names, ["wordpress-latency"]) == ["client_delay", "database_delay"]
    assert select(names, ["oltp", "wordpress-latency", "client_delay"]) == ["client_delay", "database_delay", "oltp"]


@pytest.mark.parametrize(
    ("only", "fix"),
    [("wordpres-latency", "did you mean 'wordpress-latency'"), ("clientdelay", "did you mean 'client_delay'"),
     ("xyz", "choose from coordinated-omission, nagle-delayed-ack, oltp-latency, tc-download, wordpress-latency")],
)  # fmt: skip
def test_an_unknown_article_is_one_line(only, fix):
    with pytest.raises(ExperimentError, match=f"no article '{only}', --only: {fix}"):
        select([name for names in ARTICLES.values() for name in names], [only])


def test_the_longest_come_first_and_the_unknown_before_them():
    names = ["crafted_segments", "overload", "mine", "handshakes", "oltp"]
    assert longest_first(names) == ["mine", "overload", "oltp", "crafted_segments", "handshakes"]
