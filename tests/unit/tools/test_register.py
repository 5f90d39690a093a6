"""One register of tools: a file with the decorator is known to hypothesis files, the command line and completion."""

import importlib
import pkgutil
from types import SimpleNamespace

import pytest

from slownet import tools
from slownet.cli import completing
from slownet.hypotheses import file
from slownet.model.errors import ExperimentError
from slownet.tools import register
from slownet.tools.register import TOOLS, Card, card

HYPOTHESIS = """
question = "How many answers a second?"
service = "redis"
tool = "redis-benchmark"

[options]
requests = {}

[conditions]
link = ["client", "switch"]
rtt = ["0ms", "10ms"]

[[prediction]]
claim = "grows"
metric = "requests_per_s"
falling = true
"""


def test_each_decorated_function_is_found_without_its_import():
    decorated = set()
    for found in pkgutil.walk_packages(tools.__path__, "slownet.tools."):
        if ".programs." not in found.name:
            module = importlib.import_module(found.name)
            own = [each for each in vars(module).values() if isinstance(getattr(each, "card", None), Card)]
            decorated |= {(each.card.name, each.__module__, each.__name__) for each in own if each.__module__ == found.name}
    assert decorated == {(name, *place) for name, place in register.own().items()}
    assert {"ab", "curl", "redis-benchmark", "sysbench", "wrk2"} <= {*TOOLS}


@pytest.mark.parametrize(
    ("decorator", "name"),
    [
        ("@tool()", "mine"), ('@tool("my-own", lasts=True)', "my-own"), ('@tool(\n    versions=("http",),\n)', "mine"),
        ('@tool(\n    "my-own",\n    chances={("a", "b"): "c"},\n)', "my-own"),
    ],
)  # fmt: skip
def test_a_decorator_may_have_several_lines(decorator, name, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(f"X = 1\n\n\n{decorator}\ndef mine(host, url):\n    pass\n\n\ndef other():\n    pass\n")
    monkeypatch.setattr(register, "_FILES", tmp_path)
    assert register.own.__wrapped__() == {name: ("slownet.tools.mine", "mine")}


def test_a_decorator_without_parentheses_is_an_error():
    with pytest.raises(TypeError, match=r"write @tool\(\) above mine"):

        @register.tool
        def mine(host, url):
            pass


def test_a_hypothesis_file_knows_a_tool_by_its_decorator_alone(tmp_path):
    (tmp_path / "answers.toml").write_text(HYPOTHESIS.format(1000))
    made = file.read(tmp_path / "answers.toml").experiment()
    assert made.parts[0] is TOOLS["redis-benchmark"]
    assert completing.tools("redis") == ["redis-benchmark"]


@pytest.mark.parametrize("value", ['"many"', "1.5", "0", "true"])
def test_its_types_are_those_of_its_parameters(tmp_path, value):
    (tmp_path / "answers.toml").write_text(HYPOTHESIS.format(value))
    with pytest.raises(ExperimentError, match=r"^requests is .*: write a whole number from 1"):
        file.read(tmp_path / "answers.toml")


class Hosts(dict):
    """A network of these hosts."""

    @property
    def hosts(self):
        return list(self.values())


def host(name, address):
    return SimpleNamespace(name=name, IP=lambda: address)


@pytest.mark.parametrize(
    ("parameters", "options", "called"),
    [
        ("host, url", {}, ("client", "http://web/")), ("host, url", {"from": "near"}, ("near", "http://web/")),
        ("host, address", {}, ("client", "10.0.0.2")), ("host, address", {"to": "near"}, ("client", "10.0.0.3")),
        ("server, client", {}, ("web", "client")), ("server, client", {"from": "near", "to": "web"}, ("near", "web")),
    ],
)  # fmt: skip
def test_what_a_parameter_stands_for(parameters, options, called):
    net = Hosts({each.name: each for each in (host("client", "10.0.0.1"), host("web", "10.0.0.2"), host("near", "10.0.0.3"))})
    service = SimpleNamespace(url="http://web/", host=net["web"])
    tool = eval(f"lambda {parameters}, loads=1: ({parameters}, loads)")
    *bound, loads = card(tool).run(net, service, options | {"loads": 3})
    assert (tuple(getattr(each, "name", each) for each in bound), loads) == (called, 3)


@pytest.mark.parametrize(("name", "needed"), [("fetch", "url"), ("ab", "url"), ("sysbench", "account")])
def test_a_service_of_ones_own_without_what_the_tool_needs_is_one_line(name, needed):
    net = Hosts(client=host("client", "10.0.0.1"))
    with pytest.raises(ExperimentError, match=f"^{name} needs the {needed} of the service, which has none: return an? "):
        card(TOOLS[name]).run(net, SimpleNamespace(), {})


def test_the_address_of_a_database_that_slownet_did_not_start():
    net = Hosts(client=host("client", "10.0.0.1"), db=host("db", "10.0.0.2"))
    made = card(TOOLS["sysbench"])
    noted = Card("sysbench", made.function, services=made.services)
    noted.__dict__["bound"] = ("database",)
    account = noted._value(
        "database", net, SimpleNamespace(url=""), {"to": "db", "user": "me", "password": "x", "database": "shop"}
    )
    assert (account.address, account.user, account.password, account.schema) == ("10.0.0.2", "me", "x", "shop")
