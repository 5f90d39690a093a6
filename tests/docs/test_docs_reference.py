"""The reference is complete: what is generated has everything of its kind, and what is written by hand has nothing missing."""

import json
import re
import sys
from pathlib import Path

import pytest
from blocks import DOCS, pages

import slownet
from slownet.links.conditions.link import WORDS

CHECKOUT = DOCS.parent
sys.path.insert(0, str(DOCS / "_ext"))
sys.path.insert(0, str(DOCS))

import figures  # noqa: E402  # from the folders above
import slownet_docs  # noqa: E402
from slownet_docs import api, commands, conditions, tables  # noqa: E402

FIGURES = json.loads((DOCS / "figures/figures.json").read_text())


def test_every_public_name_is_on_one_page():
    made = api.pages()
    text = "\n".join(page() for name, page in made.items() if name != "api-modules") + tables.drawn()
    for name in slownet.__all__:
        assert len(re.findall(rf"^(?:\.\. auto\w+:: slownet\.|## ){name}$", text, re.MULTILINE)) == 1 + (
            api.group_of(name) != "topologies"
        ), name


def test_every_generated_page_is_included_somewhere():
    text = "".join(path.read_text() for path in pages())
    assert [name for name in slownet_docs.PAGES if f"_generated/{name}.md" not in text] == []


def test_every_command_has_a_section():
    text = commands.page()
    names = [name for name, _ in commands.tree()]
    assert {"slownet run", "slownet lab build", "slownet compare save", "slownet help"} <= set(names)
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == names
    assert "`--tdf N|inf|auto`" in text


def test_every_field_of_a_condition_says_what_the_kernel_gets():
    text = conditions.page()
    assert re.findall(r"^### (\w+)$", text, re.MULTILINE) == list(WORDS)
    sections = dict(zip(WORDS, re.split(r"^### \w+$", text, flags=re.MULTILINE)[1:], strict=True))
    assert "up:   tc qdisc replace dev DEV root handle 51: netem limit 100000 delay 5000000ns" in sections["rtt"]
    assert "down:" not in sections["delay_up"]
    assert [name for name, section in sections.items() if "tc qdisc" not in section] == list(conditions.OTHERWISE)


def test_every_environment_variable_is_described():
    found = {
        name
        for path in (CHECKOUT / "lib/slownet").rglob("*")
        if path.suffix in (".py", ".php", "") and path.is_file()
        for name in re.findall(r"\bSLOWNET_[A-Z0-9_]*[A-Z0-9]\b", path.read_text())
    }
    own = {name for name in found if name not in tables.NO_READER}
    assert own - tables.VARIABLES.keys() == set()
    assert {name for name in tables.VARIABLES if name.startswith("SLOWNET_")} - own - {"SLOWNET_OHA"} == set()


def test_a_field_of_run_json_that_is_not_described_is_found():
    facts = {
        "experiment": "mine",
        "claims": [{"verdict": "supported", "mood": "good"}],
        "versions": {"nginx": "1"},
        "weather": 1,
    }
    assert tables.undescribed(facts) == ["claims.mood", "weather"]


@pytest.mark.parametrize("name", FIGURES)
def test_numbers_and_texts_are_of_the_same_run(name):
    text = (DOCS / f"figures/{name}.txt").read_text()
    assert text.startswith(f"{name}\n")
    verdicts = re.findall(r"^(supported|refuted|inconclusive|not judged) ", text, re.MULTILINE)
    assert verdicts == FIGURES[name]["verdicts"]
    if "k" in FIGURES[name]:
        slope = re.search(r"law: T\(d\) = ([\d.]+) ms \+ ([\d.]+) d", text)
        assert float(slope[1]) == pytest.approx(float(FIGURES[name]["t0_ms"]), rel=0.01)
        assert float(slope[2]) == pytest.approx(float(FIGURES[name]["k"]), rel=0.01)


def test_every_picture_is_on_a_page():
    text = "".join(path.read_text() for path in pages())
    assert [path.name for path in (DOCS / "figures").glob("*.svg") if f"figures/{path.name})" not in text] == []


SHOWN = f"""mine
{"A long answer " * 11}
that goes on.
condition   ms   ratio
rtt 0ms    1.0    1.00
rtt 0ms: 1 outlier of time_ms, kept
supported    It is so
records /tmp/runs/1
"""


def test_what_a_run_printed_is_folded_for_a_page():
    lines = list(figures.folded(SHOWN))
    assert lines[0] == "mine"
    assert max(map(len, lines)) <= figures.WIDTH
    assert " ".join(line.strip() for line in lines[1:-3]) == f"{'A long answer ' * 11}that goes on."
    assert lines[-3:] == ["condition   ms   ratio", "rtt 0ms    1.0    1.00", "supported    It is so"]


def test_the_checkout_is_where_these_tests_think():
    assert Path(figures.__file__).parent == DOCS
