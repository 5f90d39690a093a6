"""The real site on the real network: what the experiments rest on."""

import re

import pytest

from slownet.model.errors import ServiceError
from slownet.services.wordpress import WordPress
from slownet.theory.slow_start import round_trips
from slownet.tools.ab import ab


@pytest.fixture(scope="module")
def site(net, tmp_path_factory):
    with WordPress(net, tmp_path_factory.mktemp("services")) as running:
        yield running


def test_the_front_page_is_as_long_as_the_articles(net, site):
    page = ab(net["client"], site.url, requests=3).facts()
    assert abs(page["document_length"] - 52_000) <= 2_000
    assert round_trips(page["document_length"], until="close", header_bytes=page["header_length"]) == 4


def test_the_page_comes_from_the_database(net, site):
    assert site.queries_per_page() >= 15
    assert b"<html" in site.nginx.get("/")[1]


def test_every_page_asks_the_database_the_same_number_of_times(site):
    assert len({site.queries_per_page() for _ in range(3)}) == 1


def test_the_database_is_reached_over_the_switch(net, site):
    connected = net["db"].cmd("ss -Htn state established,time-wait '( sport = :3306 )'")
    capture = net["db"].cmd("cat /proc/net/dev")
    ab(net["client"], site.url, requests=1)
    after = net["db"].cmd("cat /proc/net/dev")
    assert packets(after) > packets(capture) + 20, connected


def packets(text):
    return int(re.search(r"db-eth0:\s+\d+\s+(\d+)", text).group(1))


def test_a_database_that_cannot_start_shows_its_last_words(net, tmp_path):
    from slownet.services.mariadb import MariaDB

    with MariaDB(net["web"], tmp_path / "one"):
        other = MariaDB(net["web"], tmp_path / "two")
        with pytest.raises(ServiceError) as caught:
            other.start()
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("mariadb ")
    assert any("bind" in line.lower() or "in use" in line.lower() for line in lines[1:])
