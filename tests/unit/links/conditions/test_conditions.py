import pytest

from slownet.links.conditions import profiles as conditions
from slownet.links.conditions.link import Condition
from slownet.links.conditions.profiles import TABLE, find
from slownet.model.errors import ConditionError, nearest


def test_names_are_found_in_any_case():
    assert find("PL-FR") == find("pl-fr") == Condition.parse(rtt="40ms")
    assert find("none") == Condition()


@pytest.mark.parametrize(
    ("name", "rtt_ms", "up", "down"), [("DSL", 50, 384e3, 1.5e6), ("LTE", 70, 12e6, 12e6), ("GEO", 629, 3e6, 18.75e6)]
)
def test_some_rows(name, rtt_ms, up, down):
    row = find(name)
    assert (row.rtt, row.rate_up, row.rate_down) == (pytest.approx(rtt_ms / 1000), up, down)


def test_every_row_can_be_and_says_where_it_is_from():
    for row in TABLE:
        assert isinstance(row.condition, Condition)
        assert row.source
    assert len({row.name.lower() for row in TABLE}) == len(TABLE) == len(conditions._ROWS)


def test_the_nearest_name():
    with pytest.raises(ConditionError, match="no condition 'LET': did you mean 'LTE'"):
        find("LET")
    assert nearest("Shopp", ["Shop", "shop"]) == nearest("Shpo", ["Shop", "sh"]) == "did you mean 'Shop'?"
    assert nearest("shpo", ["Shop", "shop"]) == "did you mean 'shop'?"
