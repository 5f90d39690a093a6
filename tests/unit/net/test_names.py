"""The choice of unused names."""

import pytest

from slownet.net.unique_names import machine_name


@pytest.mark.parametrize(
    ("name", "taken", "expected"),
    [
        ("s1", [], "s1"),
        ("s1", ["s2", "s11", "s11-eth1", "xs1"], "s1"),
        ("s1", ["s1"], "s1~2"),
        ("s1", ["s1-eth7"], "s1~2"),
        ("s1", ["s1", "s1~2-eth1", "s1~3"], "s1~4"),
        ("leafswitch", ["leafswitch"], "leafsw~2"),
        ("leafswitch", ["leafswitch", *(f"leafsw~{n}" for n in range(2, 10))], "leafs~10"),
    ],
)
def test_a_switch_gets_a_name_that_leaves_room_for_its_ports(name, taken, expected):
    assert machine_name(name, taken) == expected
