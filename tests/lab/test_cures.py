"""The caches and the connections that cure distance, each with the real servers."""

import json

import pytest

from slownet.model.errors import ToolError
from slownet.net.tool import run
from slownet.reproductions.cured import OBJECT_CACHE, CuredSite
from slownet.services.memcached import Memcached
from slownet.services.varnish import Varnish
from slownet.services.wordpress import ROOT, WordPress
from slownet.tools.ab import ab
from slownet.topologies import ClientEdgeWebDb

TOPOLOGY = ClientEdgeWebDb


@pytest.fixture(scope="module")
def cured(net, tmp_path_factory):
    with CuredSite(net, tmp_path_factory.mktemp("cures")) as running:
        yield running


@pytest.fixture(scope="module")
def memcached(net, tmp_path_factory):
    with Memcached(net["web"], tmp_path_factory.mktemp("memcached")) as running:
        yield running


def headers(host, url):
    """What a reader's own program gets."""
    shown = run(host, ["wget", "-q", "-S", "-O", "/dev/null", url]).stderr.splitlines()
    return {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in shown)}


def selects_of_a_page(site):
    before = int(site.mariadb.status("Com_select"))
    page = site.nginx.get()[1]
    return int(site.mariadb.status("Com_select")) - before, page


# ---- Varnish ----


def test_a_page_through_varnish_is_a_hit_the_second_time(net, cured, tmp_path):
    with (
        WordPress(net, tmp_path, mariadb=cured.mariadb) as site,
        Varnish(net["web"], tmp_path, behind=site.nginx.socket) as varnish,
    ):
        first, before = headers(net["client"], varnish.url), int(cured.mariadb.status("Com_select"))
        second, after = headers(net["client"], varnish.url), int(cured.mariadb.status("Com_select"))
        assert (first["x-cache"], second["x-cache"]) == ("miss", "hit")
        assert (len(first["x-varnish"].split()), len(second["x-varnish"].split())) == (1, 2)  # and the request that filled it
        assert after == before
        assert varnish.get().body == site.nginx.get()[1]


def test_varnish_serves_what_it_has_when_the_server_behind_it_is_gone(net, cured, tmp_path):
    with WordPress(net, tmp_path, mariadb=cured.mariadb) as site:
        varnish = Varnish(net["web"], tmp_path, behind=site.nginx.socket).start()
        kept = varnish.get().body
    try:
        assert varnish.get().body == kept
        assert varnish.get("/?p=1").status == 503
    finally:
        varnish.stop()


def test_a_cache_on_the_readers_side_spares_the_long_cable(net, cured):
    with cured.cured("varnish near the reader") as url, net.link("near", "far").set(rtt="40ms"):
        assert url.startswith(f"http://{net['edge'].IP()}:")
        before = int(cured.mariadb.status("Com_select"))
        assert ab(net["client"], url, requests=5).time_per_request_ms < 40
        assert int(cured.mariadb.status("Com_select")) == before


def test_connections_to_a_cache_can_be_kept(net, cured):
    with cured.cured("varnish") as url:
        assert ab(net["client"], url, requests=10, keep_alive=True).kept_alive == 10


# ---- the object cache ----


def test_the_object_cache_saves_queries_and_changes_no_page(net, cured, memcached, tmp_path):
    with WordPress(net, tmp_path, mariadb=cured.mariadb) as plain:
        selects, page = selects_of_a_page(plain)
    variables = {"SLOWNET_MEMCACHED": memcached.address}
    with WordPress(net, tmp_path, mariadb=cured.mariadb, drop_ins=[OBJECT_CACHE], variables=variables) as site:
        hits = memcached.count("get_hits")
        fewer, same = selects_of_a_page(site)
        assert (fewer, same) == (1, page)  # the one that asks for the server's mode, on every new connection
        assert selects >= 15
        assert memcached.count("get_hits") > hits
        assert not (ROOT / "wp-content" / OBJECT_CACHE.name).exists()  # only this PHP sees it
        memcached.ask("flush_all")
        assert site.nginx.get()[1] == page


def test_pages_go_on_when_the_object_cache_dies(net, cured, tmp_path):
    with Memcached(net["edge"], tmp_path) as cache:
        variables = {"SLOWNET_MEMCACHED": cache.address}
        site = WordPress(net, tmp_path, mariadb=cured.mariadb, drop_ins=[OBJECT_CACHE], variables=variables).start()
    try:
        status, page = site.nginx.get()
        assert (status, len(page)) == (200, site.page_length)
    finally:
        site.stop()


DROP_IN = """
function is_multisite() { return false; }
function wp_suspend_cache_addition() { return false; }
require $argv[1];
wp_cache_init();
wp_cache_add_non_persistent_groups(['counts']);
"""


@pytest.fixture
def page(net, memcached):
    """What a page gets from the object cache, in a PHP of its own; the cache is empty at first."""

    def values(code):
        words = [
            "env",
            f"SLOWNET_MEMCACHED={memcached.address}",
            "php",
            "-d",
            "error_reporting=-1",
            "-d",
            "display_errors=stderr",
        ]
        done = run(net["web"], [*words, "-r", f"{DROP_IN} echo json_encode([{code}]);", "--", str(OBJECT_CACHE)])
        assert done.stderr == ""
        return json.loads(done.stdout)

    memcached.ask("flush_all")
    return values


def test_what_one_page_keeps_another_finds(page):
    own = "wp_cache_get('a'), wp_cache_set('a', false), wp_cache_get('a', '', false, $f), $f"
    assert page(own) == [False, True, False, True]
    # What is there, though it is false, is there.
    other = "wp_cache_get('a', '', false, $f), $f, wp_cache_get('b', '', false, $g), $g"
    assert page(other) == [False, True, False, False]


def test_adding_replacing_and_deleting_see_other_pages(page):
    assert page("wp_cache_set('a', 0)") == [True]
    code = "wp_cache_add('a', 1), wp_cache_replace('b', 1), wp_cache_replace('a', 5), wp_cache_add('b', 7)"
    assert page(code) == [False, False, True, True]
    assert page("wp_cache_get_multiple(['a', 'b', 'c'])") == [{"a": 5, "b": 7, "c": False}]
    assert page("wp_cache_delete('a'), wp_cache_get('a')") == [True, False]
    assert page("wp_cache_get('a'), wp_cache_delete('a')") == [False, False]


def test_numbers_rise_and_fall_for_every_page(page):
    assert page("wp_cache_set('n', 5), wp_cache_incr('n', 2), wp_cache_get('n')") == [True, 7, 7]
    assert page("wp_cache_get('n'), wp_cache_decr('n', 9), wp_cache_incr('none')") == [7, 0, False]
    assert page("wp_cache_get('n') + 1") == [1]


def test_groups_are_apart_and_local_ones_stay_on_their_page(page):
    code = "wp_cache_set('k', 1, 'one'), wp_cache_set('k', 2, 'two'), wp_cache_set('k', 3, 'counts')"
    read = "wp_cache_get('k', 'one'), wp_cache_get('k', 'two'), wp_cache_get('k', 'counts')"
    assert page(f"{code}, {read}") == [True, True, True, 1, 2, 3]
    assert page(read) == [1, 2, False]
    assert page(f"wp_cache_flush(), {read}") == [True, False, False, False]
    assert page(read) == [False, False, False]


def test_an_object_from_the_cache_is_nobody_elses(page):
    change = "($o = (object) ['n' => 1]) && wp_cache_set('o', $o), ($o->n = 2), (wp_cache_get('o')->n = 3)"
    assert page(f"{change}, wp_cache_get('o')->n") == [True, 2, 3, 1]


def test_what_is_forced_comes_from_the_server(page):
    """Another client empties the cache while a page is made."""
    other = "($m = new Memcached) && $m->addServer(...explode(':', getenv('SLOWNET_MEMCACHED')))"
    code = f"{other}, wp_cache_set('f', 1), $m->flush(), wp_cache_get('f'), wp_cache_get('f', '', true), wp_cache_get('f')"
    assert page(code) == [True, True, True, 1, False, False]


def test_long_and_odd_keys_are_kept_for_as_long_as_they_say(page):
    assert page("wp_cache_set(str_repeat('long key ', 99), 'x', 'g', 31 * 86400), wp_cache_set('short', 'y', 'g', 1)") == [
        True,
        True,
    ]
    read = "wp_cache_get(str_repeat('long key ', 99), 'g'), wp_cache_get('short', 'g')"
    assert page(f"usleep(2100000), {read}") == [None, "x", False]


# ---- persistent connections ----


def test_persistent_connections_are_made_once(net, cured, tmp_path):
    def added(site, pages=5):
        before = int(cured.mariadb.status("Connections"))
        for _ in range(pages):
            assert site.nginx.get()[0] == 200
        return int(cured.mariadb.status("Connections")) - before - 1  # the second question's own

    with WordPress(net, tmp_path, mariadb=cured.mariadb) as site:
        assert added(site) == 5
    with WordPress(net, tmp_path, mariadb=cured.mariadb, persistent=True) as site:
        assert added(site) == 0


# ---- faults ----


def test_memcached_that_is_gone_is_one_line(net, tmp_path):
    service = Memcached(net["web"], tmp_path, port=11999)
    with pytest.raises(ToolError, match="Connection refused"):
        service.ask("stats")
