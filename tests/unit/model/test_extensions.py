"""Packages that extend slownet, as far as no network is needed; tests/e2e/test_extensions.py runs one."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from slownet.model import extensions
from slownet.model.errors import ExperimentError

TESTS = Path(__file__).parents[2]


@pytest.fixture
def package(monkeypatch):
    monkeypatch.syspath_prepend(TESTS)
    return importlib.import_module("added_package")


@pytest.fixture
def on_path(monkeypatch):
    """`on_path(folder)` makes the modules of a folder importable until the end of the test."""
    before = set(sys.modules)

    def on_path(folder):
        extensions._added.cache_clear()
        monkeypatch.syspath_prepend(folder)
        return folder

    yield on_path
    extensions._added.cache_clear()
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "mine":
            del sys.modules[name]


def test_a_package_adds_one_of_each_by_its_rows(package, on_path, tmp_path):
    from slownet.hypotheses import file as hypothesis
    from slownet.hypotheses import specs

    on_path(package.write(tmp_path))
    (tmp_path / "page.toml").write_text(package.HYPOTHESIS)
    experiment = hypothesis.read(tmp_path / "page.toml").experiment()
    assert experiment.cells() == [{"rtt": "0ms"}, {"rtt": "100ms"}]
    assert [type(each).__name__ for each in experiment.judged_by] == ["costs_at_most"]
    lane = specs.topology("lane")
    assert sorted(lane.hosts()) == ["far", "near"]
    assert specs.link("near-far=pigeon", lane) == ("near", "far", ["pigeon"])
    assert specs.condition(["pigeon"]) == specs.condition(["rtt=700ms"])


def test_its_tool_is_known_at_every_door(package, on_path, tmp_path):
    from slownet.cli import completing
    from slownet.hypotheses import composed
    from slownet.tools.register import TOOLS, card

    on_path(package.write(tmp_path))
    (tmp_path / "compose.yaml").write_text("name: shop\nservices:\n  web: {image: shop:1}\n")
    made = composed.make([tmp_path / "compose.yaml"], {}, "dial", "http://web:8080/", {"pauses": "3"})
    assert made.parts[0] is TOOLS["dial"]
    assert completing.tools("di") == ["dial"]
    assert (card(TOOLS["dial"]).names, card(TOOLS["dial"]).services) == (("from", "pauses"), ("pages",))
    with pytest.raises(ExperimentError, match=r"^dial has no option 'pausse'.*'pauses'"):
        composed.make([tmp_path / "compose.yaml"], {}, "dial", "http://web:8080/", {"pausse": "3"})
    (tmp_path / "page.toml").write_text(package.HYPOTHESIS + '\n[options]\npauses = "three"\n')
    from slownet.hypotheses import file as hypothesis

    with pytest.raises(ExperimentError, match=r"^pauses is 'three'.*: write a whole number from 1"):
        hypothesis.read(tmp_path / "page.toml")


def test_its_condition_is_known_at_every_door(package, on_path, tmp_path):
    from slownet.cli import completing
    from slownet.compose import extension
    from slownet.links.conditions import profiles
    from slownet.links.conditions.schedule import Schedule
    from slownet.model.errors import ConditionError
    from slownet.report.grid import Factor, named

    assert completing.links("near-far=pig") == []
    on_path(package.write(tmp_path))
    far = profiles.find("pigeon")
    assert str(far) == "+700 ms RTT"
    assert completing.links("near-far=pig") == ["near-far=pigeon"]
    assert extension.parse({extension.NAMED: "pigeon", "loss": "1%"}) == far.but(loss="1%")
    assert [step.action for track in Schedule.parse({"0s": "pigeon"}).tracks for step in track.steps] == [far]
    with pytest.raises(ConditionError, match=r"^no condition 'pigeno': .*'pigeon'"):
        profiles.find("pigeno")
    # A map of a sweep marks the conditions that lie between its values.
    rtt, loss = Factor("rtt", ("0ms", "1400ms"), (0.0, 1400.0)), Factor("loss", ("0%", "1%"), (0.0, 1.0))
    assert ("pigeon", 0.5, 0.0) in named(rtt, loss)


def test_its_claim_has_its_sentence_in_reports(package, on_path, tmp_path):
    from slownet.judge.claim import KINDS, judge_all
    from slownet.judge.records.result import gather
    from slownet.report.words import claim_sentence

    on_path(package.write(tmp_path))
    samples = [
        {"cell": {"rtt": rtt}, "status": "ok", "metrics": {"dial_ms": {"mean": mean, "sd": 0.1, "n": 100}}}
        for rtt, mean in (("0ms", 12.0), ("100ms", 212.0))
    ]
    run = gather(samples, {"clock": "virtual", "tdf": "inf"})
    (found,) = judge_all([KINDS["costs_at_most"]("dial_ms", {"rtt": "100ms"}, 250)], run)
    assert (found.verdict, found.kind, found.text) == ("supported", "costs_at_most", "200.00 (199.97 to 200.03) measured")
    assert claim_sentence(found, run) == "A page costs at most 250 ms more"


def test_a_lab_sees_its_code_and_its_metadata_and_nothing_else(package, on_path, tmp_path):
    from slownet.lab.run import place

    package.write(tmp_path)
    (tmp_path / "other").mkdir()
    on_path(tmp_path)
    assert [(each.path, each.at, each.writable) for each in place.extension_shares()] == [
        (tmp_path / "mine-1.0.dist-info", "/opt/slownet/added/mine-1.0.dist-info", False),
        (tmp_path / "mine", "/opt/slownet/added/mine", False),
    ]
    assert place.extensions_on_path({"PYTHONPATH": "/a"}) == {"PYTHONPATH": "/a:/opt/slownet/added"}


def test_an_unknown_name_suggests_the_nearest_of_all(package, on_path, tmp_path):
    from slownet.topologies import find

    with pytest.raises(ExperimentError, match=r"^no topology 'lnae'(?!.*lane)"):
        find("lnae")
    on_path(package.write(tmp_path))
    with pytest.raises(ExperimentError, match=r"^no topology 'lnae'.*'lane'"):
        find("lnae")


def test_the_projects_own_names_stay_its_own(package, on_path, tmp_path):
    from slownet.tools.register import TOOLS, own

    found = TOOLS["ab"]
    on_path(package.write(tmp_path, "[slownet.tools]\nab = mine.dial:dial\ndial = mine.dial:dial\n"))
    assert TOOLS["ab"] is found
    assert list(TOOLS) == [*own(), "dial"]
    assert len(TOOLS) == len(own()) + 1


EXPERIMENT = """
from mine.lane import Lane
from slownet import experiment


@experiment(topology=Lane, vary={"rtt": ["0ms", "9ms"]})
def far(net, rtt):
    \"\"\"How far is it?\"\"\"
"""


def test_an_experiment_is_found_by_its_name_and_listed(package, on_path, tmp_path, capsys):
    from slownet.cli import list as listing
    from slownet.hypotheses import catalogue

    on_path(package.write(tmp_path, "[slownet.experiments]\nfar = mine.far:far\noltp = mine.far:far\n", far=EXPERIMENT))
    assert catalogue.find("far").cells() == [{"rtt": "0ms"}, {"rtt": "9ms"}]
    assert catalogue.find("oltp").name == "oltp"  # the project's own
    assert "far" not in catalogue.discover()
    listing.show()
    assert "\nfar " in capsys.readouterr().out
    with pytest.raises(ExperimentError, match=r"^no experiment 'fra': .*'far'"):
        catalogue.find("fra")


@pytest.mark.parametrize(
    ("row", "line"),
    [
        ("near = mine.far:far", "the experiment is named 'far', 'near' of slownet.experiments: give both one name"),
        (
            "near = mine.lane:Lane",
            "a type is not an experiment, 'near' of slownet.experiments: name a function with @experiment",
        ),
    ],
)
def test_a_row_that_is_no_experiment_of_that_name_is_one_line(package, on_path, tmp_path, row, line):
    from slownet.hypotheses import catalogue

    on_path(package.write(tmp_path, f"[slownet.experiments]\n{row}\n", far=EXPERIMENT))
    with pytest.raises(ExperimentError) as error:
        catalogue.find("near")
    assert error.value.line == line


def test_a_package_that_cannot_be_imported_is_one_line(package, on_path, tmp_path):
    from slownet.links.conditions.profiles import find

    on_path(package.write(tmp_path, pigeon="1 / 0"))
    with pytest.raises(ExperimentError) as error:
        find("pigeon")
    assert error.value.line == (
        "mine.pigeon:PIGEON cannot be imported: ZeroDivisionError: division by zero, 'pigeon' of slownet.conditions: "
        "fix or uninstall mine"
    )


def test_a_row_that_names_no_package_is_one_line(package, on_path, tmp_path):
    on_path(package.write(tmp_path, "[slownet.topologies]\nlane = nobodys.lane:Lane\n"))
    with pytest.raises(ExperimentError) as error:
        extensions.folders()
    where = f"'lane' of slownet.topologies in {tmp_path}/mine-1.0.dist-info"
    assert error.value.line == f"there is no package 'nobodys', {where}: name one: a folder of modules"
    (tmp_path / "nobodys.py").touch()
    importlib.invalidate_caches()
    with pytest.raises(ExperimentError, match=r"^'nobodys' is not a package"):
        extensions.folders()


def test_packages_without_such_rows_cost_no_import():
    """Every command in a lab looks for packages."""
    code = "import sys; from slownet.model.extensions import folders; print(folders(), 'importlib.metadata' in sys.modules)"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[] False\n"
