"""What an experiment uses, by which its clock is chosen: its parts, and what its file and the files beside it import."""

import textwrap
from functools import partial
from pathlib import Path

import pytest

from slownet.hypotheses.catalogue import discover, find
from slownet.hypotheses.uses import has_containers, lasting
from slownet.model.errors import ExperimentError
from slownet.tools.ab import ab
from slownet.tools.register import TOOLS, card
from slownet.tools.wrk import wrk

CHECKOUT = Path(__file__).parents[3]
LASTING = {
    "bufferbloat": "under_load",
    "congestion_control": "iperf3",
    "coordinated_omission": "wrk",
    "fairness": "competing",
    "loss_tolerance": "iperf3",
    "overload": "constant_rate",
    "packet_loss": "iperf3",
    "queue_sizing": "competing",
    "satellite_link": "iperf3",
}
"""The experiments whose tools work for a stated time, which have no exact clock unless it is asked for."""
IN_BROWSERS = {
    "examples/browser/bandwidth_or_delay.py": "browse",
    "examples/browser/first_paint.py": "browse",
    "examples/browser/page_in_browser.py": "browse",
    "examples/browser/throttled.py": "browse",
    "examples/browser/wordpress_in_browser.py": "browse",
}


@pytest.fixture
def file(tmp_path, monkeypatch):
    """`file(text, name)` returns the names of a file of a user's after it was run."""
    monkeypatch.syspath_prepend(tmp_path)

    def file(text, name="mine"):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        names = {"__name__": name, "__file__": str(tmp_path / f"{name}.py")}
        exec(compile((tmp_path / f"{name}.py").read_text(), names["__file__"], "exec"), names)
        return names

    return file


@pytest.mark.parametrize(
    ("imports", "name"),
    [
        ("from slownet import iperf3, ping", "iperf3"), ("from slownet.tools import wrk", "wrk"),
        ("from slownet import browse", "browse"),
        ("from slownet.tools.wrk import wrk2\nTABLE = {'long': wrk2}", "wrk2"),
        ("from slownet.tools.under_load import under_load", "under_load"),
        ("from slownet import ab, ping", ""), ("from slownet import WordPress, ab", ""), ("import math, slownet", ""),
    ],
)  # fmt: skip
def test_a_tool_that_lasts_is_found_by_what_the_file_imports(file, imports, name):
    assert lasting(file(f"{imports}\n\n\ndef measure(net):\n    pass\n")["measure"]) == name


def test_any_tool_of_a_table_in_a_module_is_found(file):
    names = file(
        "from slownet.tools import steady\n\ndef measure(net):\n    return steady.LOADS['oha'](net['client'], 'http://web/')\n"
    )
    assert lasting(names["measure"]) in {"constant_rate", "oha", "wrk2"}


def test_a_tool_of_a_file_beside_it_is_found_and_of_one_elsewhere_is_not(file, tmp_path, monkeypatch):
    file("from slownet import iperf3\n\ndef load(net):\n    return iperf3(net['server'], net['client'])\n", "beside_it")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/far_away.py").write_text("from slownet import iperf3\n\ndef load(net):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    assert lasting(file("from beside_it import load\n\ndef measure(net):\n    return load(net)\n")["measure"]) == "iperf3"
    assert not lasting(file("from far_away import load\n\ndef measure(net):\n    return load(net)\n", "other")["measure"])


@pytest.mark.parametrize("part", [partial(wrk, seconds=3), [{"a": wrk}], wrk])
def test_a_tool_that_lasts_is_found_in_what_holds_it(part):
    assert lasting(ab, part) == "wrk"


@pytest.mark.parametrize("part", [ab, None, {"a": [1]}, print, "wrk"])
def test_others_are_not(part):
    assert not lasting(part)


def test_a_service_that_is_a_container_is_found(file):
    text = "{}\n\n\ndef served(net, folder):\n    pass\n"
    assert has_containers(file(text.format("from slownet import Container"))["served"])
    assert not has_containers(file(text.format("from slownet import Nginx"), "other")["served"])


def test_of_the_experiments_those_with_a_load():
    assert {name: found for name, each in sorted(discover().items()) if (found := lasting(*each.parts))} == LASTING


@pytest.mark.parametrize("path", IN_BROWSERS)
def test_of_the_examples_those_in_a_browser(path):
    assert lasting(*find(str(CHECKOUT / path)).parts) == IN_BROWSERS[path]


def test_each_tool_states_whether_it_lasts():
    """The time that its caller states is the parameter `seconds`; a browser takes long for any load."""
    stated = {name for name, tool in TOOLS.items() if card(tool).lasts}
    assert stated == {name for name, tool in TOOLS.items() if "seconds" in card(tool).options} | {"browse"}


def test_a_hypothesis_names_its_tool(tmp_path):
    text = """
question = "How many?"
tool = "{}"
[conditions]
link = ["client", "switch"]
rtt = ["0ms", "10ms"]
[[prediction]]
says = "many"
claim = "law"
metric = "rtt_ms"
round_trips = 1
"""
    for tool in ("iperf3", "ping"):
        (tmp_path / f"{tool}.toml").write_text(text.format(tool))
    assert [lasting(*find(str(tmp_path / f"{tool}.toml")).parts) for tool in ("iperf3", "ping")] == ["iperf3", ""]


@pytest.mark.parametrize("name", ["mine", "mine.py:question"])
def test_an_experiment_that_is_a_file_here_is_to_be_named_by_it(name, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ExperimentError, match=rf"^no experiment '{name}': name the file: mine\.py$"):
        find(name)


def test_a_folder_is_no_experiment(tmp_path, monkeypatch):
    (tmp_path / "hunts/mine").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ExperimentError, match=r"^no experiment 'hunts/mine': it is a folder: name an experiment or its file"):
        find("hunts/mine")
