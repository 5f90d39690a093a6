from statistics import linear_regression

import pytest

from slownet.model.errors import ExperimentError
from slownet.theory import published
from slownet.theory.published import Title


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
    assert published.nagle_patterns()["rows"] == [
        {"cell": {"pattern": "write-write-read"}, "exchange_ms": pytest.approx(39.683)}
    ]
    assert [row["page_s"] for row in published.nagle_proxy()["rows"]] == [3.0, 40.0]
    assert published.crafted_segments()["metric"] == "delayed_ack_ms"
    assert published.sync_pipeline()["rows"] == []


def test_the_download_in_the_units_that_wget_means():
    series = published.download()
    assert [row["cell"] for row in series["rows"]] == [
        {"step": "before", "rate_up": "1Gbit"},
        {"delay_up": "100ms", "queue": "1000 packets"},
        {"delay_up": "100ms", "loss_up": "10%", "seed": "1"},
        {"delay_up": "100ms", "rate_up": "2000kbit"},
        {"step": "removed again", "rate_up": "1Gbit"},
    ]
    assert [row["mib_per_s"] for row in series["rows"]] == pytest.approx([89.0, 13.5, 57.1 / 1024, 233 / 1024, 171.0])


def test_every_published_cell_is_one_of_the_experiments():
    from slownet.hypotheses.catalogue import discover

    for each in discover().values():
        for row in (each.published or {}).get("rows", ()):
            if "cell" in row:
                assert row["cell"] in each.cells(), each.name


def test_the_articles_transactions():
    series = published.oltp()
    assert [row["cell"] for row in series["rows"]] == [{"threads": "10", "rtt": "0.3ms"}, {"threads": "10", "rtt": "10.3ms"}]
    assert [row["latency_min_ms"] for row in series["rows"]] == [10.68, 210.14]
    assert published.oltp_round_trips(series) == pytest.approx(19.946)
    # Little's law gives the article's concurrency; its command has 10 threads.
    assert [row["transactions_per_s"] * row["latency_avg_ms"] / 1000 for row in series["rows"]] == pytest.approx(
        [50, 50], abs=0.03
    )


def test_a_title_in_another_language_stands_beside_an_english_one():
    assert published.title("oltp-latency") == Title("Explore the impact of network latency on transactions")
    assert published.title("nagle-delayed-ack") == Title("The 40 ms network delay problem", "ネットワーク40 ms遅延問題", "ja")
    told = [published.title(name) for name in published.articles()]
    assert all(each.english.isascii() for each in told)
    assert all(bool(each.language) == bool(each.original) for each in told)


def test_the_spdy_white_paper_is_a_straight_line():
    source = published.spdy()
    line = linear_regression(source["rtt_ms"], source["http_ms"])
    off = [time - line.intercept - line.slope * rtt for rtt, time in zip(source["rtt_ms"], source["http_ms"], strict=True)]
    assert max(map(abs, off)) < 0.03 * max(source["http_ms"])
    http, spdy = published.spdy_slopes()
    assert (round(http, 2), round(spdy, 2), round(http / spdy, 2)) == (17.88, 12.26, 1.46)


def test_what_was_published_of_far_databases():
    assert published.database("redis_pipelining")["rows"] == [
        {"cell": {"way": "one by one", "rtt": "250ms"}, "requests_per_s": 4}
    ]
    assert [row["page_s"] for row in published.database("many_queries")["rows"]] == [0.07909, 0.99981]
    with pytest.raises(ExperimentError, match=r"nothing of 'many_query', in databases\.toml: did you mean 'many_queries'"):
        published.database("many_query")


def test_the_rates_of_bbrs_reproduction():
    rows = published.loss_tolerance()["rows"]
    found = [(row["cell"]["congestion"], row["cell"]["loss_up"], row["mbit_per_s"]) for row in rows]
    rates = {
        "cubic": (98.81, 34.14, 5.92, 1.62, 0.61, 0.34),
        "bbr": (95.36, 95.19, 94.94, 85.37, 76.89, 74.56),
    }
    losses = ("0.001%", "0.01%", "0.1%", "1%", "5%", "10%")
    assert found == [(name, *each) for name, of in rates.items() for each in zip(losses, of, strict=True)]


def test_what_was_published_of_windows():
    assert published.initial_window_saves() == pytest.approx(0.1)
    source = published.protocols()["http2_window"]
    assert source["needed_mb"] << 20 == pytest.approx(32 * source["default_bytes"], rel=1e-4)
    rows = published.grpc_unary()["rows"]
    assert [(row["cell"]["message"], row["cell"]["every"], row["call_ms"]) for row in rows] == [
        ("10kB", "10s", 240), ("30kB", "10s", 440), ("100kB", "10s", 650), ("30kB", "0.5s", 240),
    ]  # fmt: skip


def test_what_was_published_of_starlink():
    rows = published.satellite_link()["rows"]
    assert [(row["cell"]["way"], row["cell"]["congestion"], row["mbit_per_s"]) for row in rows] == [
        ("down", "cubic", 20), ("down", "bbr", 120), ("up", "cubic", 5.5), ("up", "bbr", 25),
    ]  # fmt: skip
