import pytest

from slownet import published
from slownet.errors import ExperimentError


def test_client_delay_holds_the_articles_numbers():
    series = published.client_delay()
    assert series["metric"] == "time_per_request_ms"
    assert [tuple(row.values()) for row in series["rows"]] == [
        (0.0, 12.323, 81.15),
        (10.0, 51.825, 19.30),
        (40.0, 173.318, 5.77),
        (120.0, 491.918, 2.03),
    ]
    assert list(series["rows"][0]) == ["rtt_ms", "time_per_request_ms", "requests_per_second"]


def test_database_delay_starts_from_the_same_undelayed_page():
    rows = published.database_delay()["rows"]
    assert [(row["rtt_ms"], row["time_per_request_ms"]) for row in rows] == [
        (0.0, 12.323),
        (10.0, 286.732),
        (40.0, 1099.341),
    ]


def test_an_article_is_found_by_its_id():
    assert published.article("oltp-latency")["rows"][1]["latency_min"] == 210.14
    with pytest.raises(ExperimentError, match="did you mean 'wordpress-latency'"):
        published.article("wordpres-latency")


def test_the_articles_on_nagle_and_on_the_pipeline():
    assert published.nagle_patterns()["rows"] == [{"pattern": "write-write-read", "exchange_ms": pytest.approx(39.683)}]
    assert [row["page_s"] for row in published.nagle_proxy()["rows"]] == [3.0, 40.0]
    assert published.crafted_segments()["metric"] == "delayed_ack_ms"
    assert published.pipeline_ratio() == 16.0
