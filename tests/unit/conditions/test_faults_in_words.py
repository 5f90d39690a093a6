"""Faults as people write them: what is understood, and what is refused before anything breaks."""

import pytest

from slownet import ConditionError, Faults, UnitError
from slownet.links.faults import Cut, Deed, Heal

HOSTS = ("client", "web", "db")
SERVICES = {"redis-db": "redis-db", "redis": "redis-db", "db": "redis-db", "shop-web": "shop-web"}


def test_words():
    faults = Faults.parse(
        {"9s": ["heal", "kill db"], "4.2s": "cut db from web, client", "10s": "start db", "5ms": "cut web to client"}
    )
    assert [(each.at, each.action) for each in faults.steps] == [
        (0.005, Cut(("web",), ("client",), one_way=True)),
        (4.2, Cut(("db",), ("web", "client"))),
        (9.0, Heal()),
        (9.0, Deed("kill", "db")),
        (10.0, Deed("start", "db")),
    ]
    assert str(faults) == (
        "cut web to client at 5 ms; cut db from web, client at 4.2 s; heal at 9 s; kill db at 9 s; start db at 10 s"
    )
    assert faults.to_json()[1] == {"at_s": 4.2, "do": "cut db from web, client"}
    again = Faults.parse({f"{each['at_s']}s": each["do"] for each in faults.to_json() if each["at_s"] != 9.0})
    assert again.steps == (*faults.steps[:2], faults.steps[4])
    assert [(at, len(actions)) for at, actions in faults.together()] == [(0.005, 1), (4.2, 1), (9.0, 2), (10.0, 1)]


def test_a_cut_loses_what_both_send_or_what_one_sends():
    assert Cut(("a", "b"), ("c",)).lost == {("a", "c"), ("b", "c"), ("c", "a"), ("c", "b")}
    assert Cut(("a", "b"), ("c",), one_way=True).lost == {("a", "c"), ("b", "c")}


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ({}, 'faults without a step: write them like {"5s": "cut db from web", "6s": "heal"}'),
        ({"1s": "explode"}, "'explode' is not a fault, step '1s' of the faults: write \"cut HOSTS from HOSTS\""),
        ({"1s": "kill"}, "'kill' is not a fault"),
        ({"1s": "kill a b"}, "'kill a b' is not a fault"),
        ({"1s": "heal a"}, "'heal a' is not a fault"),
        ({"1s": "cut a b"}, "'cut a b' is not a fault"),
        ({"1s": "cut a from b to c"}, "'cut a from b to c' is not a fault"),
        ({"1s": "cut from b"}, "a cut needs hosts on both sides, step '1s' of the faults"),
        ({"1s": "cut a from"}, "a cut needs hosts on both sides"),
        ({"1s": "cut a, b from b"}, "'b' stands on both sides of a cut"),
        ({"1s": "cut a, a from b"}, "a cut names a host twice"),
        ({"1s": 5}, "5 is not a fault"),
        ({"1s": [5]}, "5 is not a fault"),
    ],
)
def test_what_is_no_fault(steps, message):
    with pytest.raises(ConditionError) as caught:
        Faults.parse(steps)
    assert message in str(caught.value)


def test_a_time_that_is_none():
    with pytest.raises(UnitError, match=r"step 'soon' of the faults"):
        Faults.parse({"soon": "heal"})


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ({"1s": "cut dbb from web"}, "no host 'dbb', the faults' step at 1 s: did you mean 'db'?"),
        ({"1s": "heal"}, "nothing is cut that 'heal' could mend, the faults' step at 1 s"),
        ({"1s": "cut db from web", "2s": "cut web, client from db"}, "is cut from"),
        ({"1s": "cut db to web", "2s": "cut web to db", "3s": "cut db to web"}, "db is cut from web already"),
        ({"1s": "cut db from web", "2s": "heal", "3s": "heal"}, "the faults' step at 3 s"),
        ({"1s": "kill nginx"}, "no service 'nginx'"),
        ({"1s": "kill db", "2s": "kill redis"}, "'kill redis', but redis is dead by then, the faults' step at 2 s"),
        ({"1s": "start db"}, "'start db', but db runs by then"),
        ({"1s": "kill db", "2s": "pause db"}, "'pause db', but db does not run by then"),
        ({"1s": "resume db"}, "'resume db', but db is not paused by then"),
        ({"1s": "pause db", "2s": "start db"}, "'start db', but db runs by then"),
    ],
)
def test_what_cannot_happen_to_this_network(steps, message):
    with pytest.raises(ConditionError) as caught:
        Faults.parse(steps).check(HOSTS, SERVICES)
    assert message in str(caught.value)


def test_what_can():
    Faults.parse({
        "1s": "cut db from web", "2s": ["heal", "cut client to db"], "3s": "cut db to client", "4s": ["pause redis", "kill db"],
        "5s": ["start redis-db", "pause shop-web"], "6s": "resume shop-web", "7s": "heal",
    }).check(HOSTS, SERVICES)  # fmt: skip


def test_a_service_that_was_not_given():
    with pytest.raises(ConditionError, match=r"no service 'db', .*: give it: net\.faults\(steps, service\)"):
        Faults.parse({"1s": "kill db"}).check(HOSTS, {})
