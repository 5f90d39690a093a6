"""What a measurement is known by."""

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import pytest

from slownet.lab.run.caller import Given
from slownet.lab.run.clock import INF, Clock
from slownet.lab.run.place import Place
from slownet.runner.boot_store import identity

MINE = """
from slownet import TwoHosts, experiment
import {helper}


@experiment(topology=TwoHosts, vary={{"rtt": ["0ms"]}})
def mine(net, rtt):
    \"\"\"What?\"\"\"
    from {late} import value
    return {{"time_ms": value()}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An experiment with a module that it imports, one that it imports later, and one that it does not import."""
    names = [f"{each}_{abs(hash(str(tmp_path)))}" for each in ("helper", "late", "other")]
    for name in names:
        (tmp_path / f"{name}.py").write_text("import json\n\n\ndef value():\n    return 1.0\n")
    (tmp_path / "mine.py").write_text(MINE.format(helper=names[0], late=names[1]))
    identity.code.cache_clear()
    monkeypatch.syspath_prepend(str(tmp_path))
    yield SimpleNamespace(path=tmp_path, names=names, source=str(tmp_path / "mine.py"))
    identity.code.cache_clear()


def code(folder):
    identity.code.cache_clear()
    return identity.code(folder.source)


def test_the_code_is_the_file_what_it_imports_and_slownets_own(folder):
    found = identity.sources(folder.source)
    assert {"mine.py", *folder.names[:2]} <= found.keys()
    assert folder.names[2] not in found
    assert {
        "slownet.runner.inside",
        "slownet.net.network",
        "slownet.topologies.two_hosts",
    } <= found.keys()
    assert not {"slownet.tools.wrk", "tools/browser/actions.js"} & found.keys(), "it uses neither"
    assert "reproductions/programs/page.php" not in found
    assert "reproductions/programs/page.php" in identity.sources("many_queries"), "it is read by its package's name"
    assert "slownet.reproductions.programs.row_mover" in identity.sources("sync_pipeline"), "hosts run it"
    assert not {"json", "numpy"} & found.keys()
    assert not [name for name in found if name.startswith(("slownet.cli", "slownet.sweep", "slownet.report"))]


WITH_A_TOOL = """
question = "How many answers a second?"
service = "redis"
tool = "redis-benchmark"

[options]
requests = 1000

[conditions]
link = ["client", "switch"]
rtt = ["0ms", "10ms"]

[[prediction]]
claim = "grows"
metric = "requests_per_s"
falling = true
"""


def test_the_tool_of_a_hypothesis_file_belongs_to_it(tmp_path):
    (tmp_path / "pipeline.toml").write_text(WITH_A_TOOL)
    found = identity.sources(str(tmp_path / "pipeline.toml"))
    assert "slownet.tools.redis_benchmark" in found
    assert "slownet.tools.wrk" not in found


def test_of_an_import_of_the_package_all_public_names_count(folder):
    (folder.path / "mine.py").write_text(f"import slownet\n{MINE.format(helper=folder.names[0], late=folder.names[1])}")
    assert {"slownet.tools.wrk", "slownet.services.redis", "tools/browser/actions.js"} <= identity.sources(folder.source).keys()


def test_a_change_of_any_of_it_is_another_measurement(folder):
    found = [code(folder)]
    for name in ("mine", *folder.names):
        path = folder.path / f"{name}.py"
        path.write_text(path.read_text() + "\n# changed\n")
        found.append(code(folder))
    assert found[4] == found[3], "it does not import the last one"
    assert len(set(found)) == 4


NESTED = """
import one
try:
    import two
except ImportError:
    import three
else:
    from four import value
finally:
    import five
for each in ():
    import six
else:
    import seven
while False:
    import eight
with open("x"):
    import nine
match 1:
    case 2:
        import ten
if True:
    pass
elif False:
    import eleven
class Mine:
    import twelve
    async def measure(self):
        async with self:
            from . import thirteen
"""


def test_imports_are_found_wherever_a_file_has_them(tmp_path):
    (tmp_path / "nested.py").write_text(NESTED)
    assert set(identity._imports(tmp_path / "nested.py", "mine")) == {
        *("one", "two", "three", "four", "four.value", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
        *("mine", "mine.thirteen"),
    }


def test_a_package_of_another_environment_is_installed_too(tmp_path, monkeypatch):
    """It belongs to the lab's image or layer, and to import it may do anything."""
    name = f"elsewhere_{abs(hash(str(tmp_path)))}"
    other = tmp_path / "lib" / "python3" / "site-packages"
    (other / name).mkdir(parents=True)
    (other / name / "__init__.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(str(other))
    assert identity._spec(name) is None
    assert identity._spec(f"{name}.inner") is None


def place(**others):
    parts = SimpleNamespace(
        kernel=SimpleNamespace(path=Path("/cache/kernel/k1/linux")),
        image=SimpleNamespace(key="i1"),
        layer=SimpleNamespace(key="l1"),
    )
    return dataclasses.replace(Place(Clock("virtual", INF), {}, parts=parts), **others)


CHANGED = {
    "tdf": place(clock=Clock("virtual", 4)),
    "clock": place(clock=Clock("real")),
    "charge": place(clock=Clock("virtual", 1, counter="process")),
    "kernel": place(
        parts=SimpleNamespace(**{**vars(place().parts), "kernel": SimpleNamespace(path=Path("/cache/kernel/k2/linux"))})
    ),
    "image": place(parts=SimpleNamespace(**{**vars(place().parts), "image": SimpleNamespace(key="i2")})),
    "layer": place(parts=SimpleNamespace(**{**vars(place().parts), "layer": None})),
    "memory": place(megabytes=2048),
    "environment": place(given=Given({"QUERIES": "6"})),
}


@pytest.mark.parametrize("changed", CHANGED)
def test_other_circumstances_are_another_measurement(changed, monkeypatch):
    monkeypatch.setattr(identity, "code", lambda source: "c1")
    before = identity.prefix(identity.circumstances("client_delay", place()))
    assert identity.prefix(identity.circumstances("client_delay", place())) == before
    assert identity.prefix(identity.circumstances("client_delay", CHANGED[changed])) != before


def test_a_unit_is_a_cell_with_its_repetition_and_blocks():
    cell = {"rtt": "1ms", "loss": "0%"}
    assert identity.unit("p", cell, 1, 2) == identity.unit("p", {"loss": "0%", "rtt": "1ms"}, 1, 2)
    others = [("q", cell, 1, 2), ("p", {**cell, "rtt": "2ms"}, 1, 2), ("p", cell, 2, 2), ("p", cell, 1, 1)]
    assert len({identity.unit("p", cell, 1, 2), *(identity.unit(*each) for each in others)}) == 5
