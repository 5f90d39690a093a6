"""What an experiment has around it: the caller's for a file of their own, and what --env and --share add."""

import sys

import pytest

from slownet.lab.run.caller import Given
from slownet.lab.run.lab import NOTHING, Share
from slownet.model.errors import LabError
from slownet.runner import lab_environment
from slownet.runner.job import Job
from slownet.runner.lab_environment import ExperimentFolder


@pytest.fixture
def around(tmp_path, monkeypatch):
    """around(source, given) -> the surroundings of a run, called from a folder of its own."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path / "site"), *(each for each in sys.path if "python3" in each)])
    (tmp_path / "site").mkdir()
    monkeypatch.setenv("SHOP_QUERIES", "6")
    monkeypatch.setenv("LC_ALL", "C")

    def of(source, given=None, is_exact=False):
        directory = tmp_path / "runs" / "x"
        directory.mkdir(parents=True, exist_ok=True)
        recorded = Given.from_json(given.to_json() if given else None)
        own = ExperimentFolder(None, directory, str(source), recorded)
        return lab_environment.of(own, Job([], lab=2), is_exact)

    return of


def test_a_file_of_ones_own_has_what_a_test_has(around, tmp_path):
    (tmp_path / "mine").mkdir()
    found = around(tmp_path / "mine" / "mine.py")
    shares = [(each.path, each.writable) for each in found.shares]
    assert shares[0] == (tmp_path / "mine", False)
    assert (tmp_path / "here", False) in shares
    assert (tmp_path / "site", False) in shares
    run = tmp_path / "runs" / "x"
    assert shares[-4:] == [(run, False), (run / "raw-2", True), (run / "captures-2", True), (run / "services-2", True)]
    assert all(path.is_dir() for path, _ in shares[-4:])
    assert found.cwd == tmp_path / "here"
    assert found.path[:2] == [str(tmp_path / "here"), str(tmp_path / "site")]
    assert found.env["SHOP_QUERIES"] == "6"
    assert not {"LC_ALL", "PATH", "HOME", "PYTHONPATH"} & set(found.env)


def test_the_projects_own_measure_the_same_everywhere(around, tmp_path):
    found = around("client_delay")
    run = tmp_path / "runs" / "x"
    assert [each.path for each in found.shares] == [run, run / "raw-2", run / "captures-2", run / "services-2"]
    assert (dict(found.env), found.cwd, list(found.path)) == ({}, None, [])


def test_on_the_exact_clock_nothing_depends_on_the_date_or_on_other_boots(around, tmp_path):
    found = around("client_delay", is_exact=True)
    run = tmp_path / "runs" / "x"
    assert found.directory == "/opt/slownet/run"
    assert [(each.path, each.at, each.only) for each in found.shares] == [
        (run, "/opt/slownet/run", NOTHING),
        (run / "raw-2", "/opt/slownet/run/raw", NOTHING),
        (run / "captures-2", "/opt/slownet/run/captures", NOTHING),
        (run / "services-2", "/opt/slownet/run/services", NOTHING),
    ]
    assert lab_environment.inside(Job([], boot=3, lab=2), True) == Job([], boot=3, lab=1)
    assert lab_environment.inside(Job([], boot=3, lab=2), False) == Job([], boot=3, lab=2)


def test_on_the_exact_clock_a_file_has_the_variables_that_its_code_names(around, tmp_path, monkeypatch):
    monkeypatch.setenv("SHOP_WIDTH", "7")
    monkeypatch.setenv("OTHER", "8")
    (tmp_path / "mine" / "shop").mkdir(parents=True)
    (tmp_path / "mine" / "mine.py").write_text('import os\nQUERIES = int(os.environ.get("SHOP_QUERIES", "1"))\n')
    (tmp_path / "mine" / "shop" / "pages.py").write_text("from os import environ\nWIDTH = environ['SHOP_WIDTH']\n")
    (tmp_path / "site" / "site.py").touch()
    named = {"SHOP_QUERIES": "6", "SHOP_WIDTH": "7"}
    assert dict(around(tmp_path / "mine" / "mine.py", is_exact=True).env) == named
    asked = around(tmp_path / "mine" / "mine.py", Given({"OTHER": "8"}), is_exact=True)
    assert dict(asked.env) == {**named, "OTHER": "8"}
    assert {"OTHER", "SHOP_QUERIES"} <= set(around(tmp_path / "mine" / "mine.py").env)


def test_both_have_what_the_caller_adds(around, tmp_path, monkeypatch):
    monkeypatch.setenv("SHOP_QUERIES", "7")  # as `with_given` does; the record has the name alone
    given = Given({"SHOP_QUERIES": "7"}, [Share(tmp_path / "site", writable=True)])
    for source in ("client_delay", tmp_path / "mine.toml"):
        found = around(source, given)
        assert found.env["SHOP_QUERIES"] == "7"
        assert [each.writable for each in found.shares if each.path == tmp_path / "site"] == [True]


def test_the_options(tmp_path, monkeypatch):
    monkeypatch.setenv("SET", "a=b")
    given = Given.read(["SET", "EMPTY=", "PAIR=c=d"], [str(tmp_path), f"{tmp_path.parent}:rw", str(tmp_path.parent)])
    assert given.env == {"SET": "a=b", "EMPTY": "", "PAIR": "c=d"}
    assert [each.text for each in given.shares] == [str(tmp_path), str(tmp_path.parent)]  # the last word counts
    given = Given.read([], [str(tmp_path), f"{tmp_path.parent}:rw"])
    assert [each.writable for each in given.shares] == [False, True]
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.setenv("PAIR", "other")
    given = Given.read(["SET", "EMPTY=", "PAIR=c=d"], [str(tmp_path)])
    assert Given.from_json(given.to_json()) == Given({"SET": "a=b", "EMPTY": "", "PAIR": "other"}, given.shares)
    assert not Given.from_json(None)


@pytest.mark.parametrize(
    ("env", "share", "said"),
    [
        (["UNSET_HERE"], [], "the variable UNSET_HERE is not set, --env: write UNSET_HERE=VALUE"),
        (["=x"], [], "a variable without a name, --env: write NAME or NAME=VALUE"),
        ([], ["/nowhere"], "/nowhere is not a folder"),
        ([], ["/usr:rw"], "/usr would hide the lab's own folder"),
    ],
)
def test_mistakes_are_one_line(env, share, said, monkeypatch):
    monkeypatch.delenv("UNSET_HERE", raising=False)
    with pytest.raises(LabError) as error:
        Given.read(env, share)
    assert said in str(error.value)
