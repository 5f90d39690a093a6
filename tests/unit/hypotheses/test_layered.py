"""Experiments of the catalogue that need a layer of their own: found by name, and refused in a line while it is not built."""

import json

import pytest

from slownet.hypotheses import catalogue
from slownet.lab.build.layer import NotBuiltError
from slownet.lab.build.project import find as project_of
from slownet.model.errors import ExperimentError, LabError
from slownet.runner import run_request
from slownet.runner.run_request import RunRequest


def test_they_are_found_by_name_and_stay_out_of_what_all_run():
    assert {*catalogue.layered()} == {"routing/failover", "routing/news"}
    assert catalogue.find("routing/news").name == "news"
    assert not {"news", "failover"} & {*catalogue.discover()}
    with pytest.raises(ExperimentError, match="did you mean 'routing/failover'"):
        catalogue.find("routing/failovr")


def test_their_project_has_the_packages_that_they_need():
    for path in catalogue.layered().values():
        assert project_of(path.parent).packages == ("bird2", "frr")


def test_a_layer_that_is_not_built_is_named_with_the_command_that_builds_it(monkeypatch):
    def choose(*given, folder=None, **named):
        asked.append(folder)
        raise NotBuiltError("this project's packages are not in the lab")

    asked = []
    monkeypatch.setattr(run_request, "choose", choose)
    with pytest.raises(LabError) as error:
        RunRequest(experiments=["routing/news"]).plans()
    folder = catalogue.layered()["routing/news"].parent
    assert asked == [folder]
    assert str(error.value) == (
        f"routing/news: programs that it needs are not in the lab: build their layer, once: (cd {folder} && slownet lab build)"
    )
    with pytest.raises(NotBuiltError):  # of the caller's own project
        RunRequest(experiments=["client_delay"]).plans()
    assert asked[1] is None


def test_a_run_of_one_is_resumed_with_its_layer_from_any_folder(tmp_path, monkeypatch):
    def choose(*given, folder=None, **named):
        raise NotBuiltError(str(folder))

    facts = {
        "source": "routing/news",
        "planned": [],
        "boots": [],
        "place": "lab",
        "clock": "virtual",
        "tdf": "inf",
        "cpu": "free",
    }
    (tmp_path / "run.json").write_text(json.dumps(facts))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_request, "choose", choose)
    with pytest.raises(LabError, match=r"routing/news: programs that it needs .*cd .*/examples/routing && slownet lab build"):
        RunRequest(resume=tmp_path).plans()
