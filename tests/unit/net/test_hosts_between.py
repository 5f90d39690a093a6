"""Why two hosts do not reach each other: a way through other hosts carries nothing, as hosts do not forward."""

from types import SimpleNamespace

import pytest

from slownet.model.errors import NetworkError
from slownet.net.reach import _silence, why_silent


class Plain:
    """A node of Mininet's behaviour."""

    __module__ = "mininet.node"

    def __init__(self, name):
        self.name, self.interfaces = name, []

    def intfList(self):  # noqa: N802
        return self.interfaces


class Router(Plain):
    """A node of a user's own class."""

    __module__ = "own"


def network(*links, routers=()):
    nodes = {}
    for pair in links:
        ends = [nodes.setdefault(name, (Router if name in routers else Plain)(name)) for name in pair.split("-")]
        one, other = (SimpleNamespace(node=each) for each in ends)
        link = SimpleNamespace(intf1=one, intf2=other)
        for end in (one, other):
            end.link = link
            end.node.interfaces.append(end)
    return nodes


def why(first, last, nodes):
    return why_silent(nodes[first], nodes[last], [each for name, each in nodes.items() if not name.startswith("s")])


def test_a_host_between_two_others_is_named():
    said = why("client", "price", network("client-web", "web-price"))
    assert said == "web is between them and is a host, which does not forward: put a switch there, with a link to each"


def test_several_are_named_in_the_order_of_the_way():
    said = why("a", "e", network("a-b", "b-s1", "s1-c", "c-e"))
    assert said == "b and c are between them and are hosts, which do not forward: put a switch in the place of each"


@pytest.mark.parametrize(
    "nodes",
    [
        network("a-s1", "s1-b"),
        network("a-s1", "b-s2"),
        network("a-r", "r-b", routers=["r"]),
        network("a-h", "h-b", "a-s1", "s1-s2", "s2-b"),
    ],
    ids=["a switch", "no way", "a router of an own class", "also a longer way through switches"],
)
def test_what_has_another_reason_says_nothing_of_hosts(nodes):
    assert why("a", "b", nodes) == ""


def test_the_error_has_the_reason_or_asks_for_the_links():
    nodes = network("client-web", "web-price", "other-s1")
    hosts = list(nodes.values())
    error = _silence(nodes["price"], nodes["client"], hosts, 30, "Three")
    assert isinstance(error, NetworkError)
    assert str(error).startswith("price does not answer client after 30 s, Three: web is between them and is a host")
    assert str(_silence(nodes["other"], nodes["client"], hosts, 30, "Three")).endswith("Three: is the topology connected?")
