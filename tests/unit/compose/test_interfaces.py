"""Names, order and hardware addresses of a service's interfaces, as Docker Engine and compose choose them."""

import pytest

from slownet.compose import reader
from slownet.compose.model import Interface, of_json
from slownet.model.errors import ComposeError


@pytest.fixture
def interfaces(tmp_path):
    def interfaces(networks, declared, more=""):
        text = f"name: shop\nservices: {{a: {{image: x, networks: {networks}{more}}}}}\nnetworks: {declared}\n"
        (tmp_path / "compose.yaml").write_text(text)
        found = reader.read([tmp_path / "compose.yaml"], machine={})
        assert of_json(found.to_json()) == found
        return found["a"].interfaces

    return interfaces


def named(found):
    return {each.name: each.network for each in found}


ORDERS = {
    "by name": ("[front, back]", "{front: , back: }", ["back", "front"]),
    "by the engine's name": ("[front, back]", "{front: {name: all}, back: }", ["front", "back"]),
    "an external one keeps its name": ("[z, back]", "{z: {external: true}, back: }", ["back", "z"]),
    "gw_priority": ("{b: {gw_priority: -1}, c: , d: {gw_priority: 1}}", "{b: , c: , d: }", ["d", "c", "b"]),
    "internal ones later": ("[a, b]", "{a: {internal: true}, b: }", ["b", "a"]),
    "as a text": ("[a, b]", "{a: {internal: 'true'}, b: }", ["b", "a"]),
    "IPv6 first": ("[a, b]", "{a: , b: {enable_ipv6: true}}", ["b", "a"]),
    "priority has no effect": ("{a: , b: {priority: 1000}}", "{a: , b: }", ["a", "b"]),
    "gw_priority before internal": ("{a: {gw_priority: 1}, b: }", "{a: {internal: true}, b: }", ["a", "b"]),
}


@pytest.mark.parametrize("case", ORDERS)
def test_the_order(case, interfaces):
    networks, declared, order = ORDERS[case]
    assert named(interfaces(networks, declared)) == {f"eth{number}": name for number, name in enumerate(order)}


def test_a_service_in_the_default_network_alone(tmp_path):
    (tmp_path / "compose.yaml").write_text("services: {a: {image: x}}\n")
    assert reader.read([tmp_path / "compose.yaml"], machine={})["a"].interfaces == (Interface("default", "eth0"),)


def test_stated_names_are_left_out_of_the_numbers(interfaces):
    found = interfaces("{a: {interface_name: lan0}, b: , c: {interface_name: eth0}}", "{a: , b: , c: }")
    assert named(found) == {"lan0": "a", "eth1": "b", "eth0": "c"}
    assert [each.name for each in found] == ["lan0", "eth1", "eth0"]


def test_the_service_address_is_that_of_the_network_with_the_highest_priority(interfaces):
    both = "{a: , b: }"
    of_service = ", mac_address: '02:00:00:00:00:01'"
    assert [each.mac for each in interfaces("{a: , b: {priority: 1}}", both, of_service)] == ["", "02:00:00:00:00:01"]
    assert [each.mac for each in interfaces("[b, a]", both, of_service)] == ["02:00:00:00:00:01", ""]
    own = "{a: {mac_address: 02-00-00-00-00-0A}, b: {mac_address: '02:00:00:00:00:0b'}}"
    assert [each.mac for each in interfaces(own, both)] == ["02:00:00:00:00:0a", "02:00:00:00:00:0b"]


WRONG = {
    "too long": ("{a: {interface_name: sixteen_letters_}}", "'sixteen_letters_' is not an interface's name"),
    "loopback": ("{a: {interface_name: lo}}", "'lo' is not an interface's name"),
    "twice": ("{a: {interface_name: x0}, b: {interface_name: x0}}", "two interfaces are called 'x0'"),
    "no address": ("{a: {mac_address: '02:00'}}", "'02:00' is not an Ethernet address"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_one_line(case, interfaces):
    networks, what = WRONG[case]
    with pytest.raises(ComposeError, match=what):
        interfaces(networks, "{a: , b: }")
