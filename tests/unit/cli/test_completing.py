"""What a shell is offered, as Typer's own completion of bash asks for it; nothing is imported to answer."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from slownet import topologies
from slownet.cli import completing
from slownet.cli.app import main
from slownet.containers import store
from slownet.hypotheses.catalogue import discover

EXPERIMENT = """
from slownet import ab, experiment, nothing_of_the_kind

@experiment(topology="two_hosts", vary={"rtt": ["0ms", "5ms"], "loss": ["0%", "1%"]})
def mine(net, rtt, loss):
    "Is it slow?"
"""
VALUES = "rtt=0ms,10ms,40ms,120ms"


def asked(line):
    """Return the variables with which bash asks what to offer at the end of a line."""
    words = line.split(" ")
    return {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1), "_SLOWNET_COMPLETE": "complete_bash"}


def complete(line, cwd, **environment):
    """Return what bash would offer at the end of a line."""
    environment = {**os.environ, **asked(line), **environment}
    command = [sys.executable, "-m", "slownet.cli"]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("a project")
    (folder / "mine.py").write_text(EXPERIMENT)
    (folder / "mine.toml").touch()
    (folder / "data").mkdir()
    for name in ("20260101-120000-mine", "20260102-120000-mine", "20260103-120000-interrupted-at-once"):
        (folder / "runs" / name).mkdir(parents=True)
        if "interrupted" not in name:
            (folder / "runs" / name / "run.json").write_text("{}")
    return folder


LINES = {
    "slownet li": ["list", "live"],
    "slownet doctor ca": ["calibrate"],
    "slownet compare sa": ["save"],
    "slownet compare runs/20260101": ["runs/20260101-120000-mine"],
    "slownet shell comp": ["compose"],
    "slownet run cli": ["client_delay"],
    "slownet run client_delay dat": ["database_delay", "data/"],
    "slownet run mi": ["mine.py", "mine.toml"],
    "slownet run client_delay --vary r": [VALUES],
    "slownet run mine.py --vary ": ["rtt=0ms,5ms", "loss=0%,1%"],
    "slownet run --clock v": ["virtual"],
    "slownet run --resume runs/": ["runs/20260102-120000-mine", "runs/20260101-120000-mine"],
    "slownet show ": ["runs/20260102-120000-mine", "runs/20260101-120000-mine"],
    "slownet why runs/20260101": ["runs/20260101-120000-mine"],
    "slownet why client_de": ["client_delay"],
    "slownet why mine.p": ["mine.py"],
    "slownet why --topology two": ["two_hosts", "two_paths"],
    "slownet why --topology two_hosts --link client-server=LT": ["client-server=LTE"],
    "slownet compare runs/20260101-120000-mine runs/20260102": ["runs/20260102-120000-mine"],
    "slownet compare save ru": ["runs/20260102-120000-mine", "runs/20260101-120000-mine"],
    "slownet reproduce --only word": ["wordpress-latency"],
    "slownet shell two": ["two_hosts", "two_paths"],
    "slownet shell two_hosts --link client-server=LT": ["client-server=LTE"],
    "slownet check m": ["mark", "mine.toml"],
    "slownet check --blind m": ["mine.toml"],
    "slownet init --ci git": ["github", "gitlab"],
}


@pytest.mark.parametrize("line", LINES)
def test_a_line(line, project, monkeypatch, capsys):
    """In this process, as far as others are not there to show that nothing is imported."""
    monkeypatch.chdir(project)
    for name, value in asked(line).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        main([])
    assert capsys.readouterr() == ("".join(f"{each}\n" for each in LINES[line]), "")


@pytest.mark.parametrize("line", ["slownet run mine.py --vary ", "slownet show "])
def test_a_line_in_a_shell(line, project):
    assert complete(line, project) == LINES[line]


def test_images(monkeypatch):
    kept = [SimpleNamespace(names=("shop:1", "shop:2")), SimpleNamespace(names=("db:17",))]
    monkeypatch.setattr(store, "kept", lambda: kept)
    assert completing.images("sh") == ["shop:1", "shop:2"]


def test_any_field_of_a_link_where_no_experiment_says_which(project):
    found = complete("slownet run --vary lo", project)
    assert "loss=" in found
    assert "loss_up=" in found


def test_names_are_those_of_the_modules():
    assert [each.stem for each in completing._own("experiments")] == sorted(discover())
    assert {each.stem for each in completing._own("topologies")} == set(topologies.known())


def test_questions_are_those_of_the_experiments():
    for path in completing._own("experiments"):
        assert completing._question(path).startswith(discover()[path.stem].question[:40])


IMPORTED = """
import json, sys
from slownet.cli import completing
from slownet.cli.app import main
from slownet.containers import store
completing.topologies(""), [completing._question(each) for each in completing._own("experiments")]
print([each for each in sys.modules if each.startswith(("slownet.exp", "slownet.top", "mininet", "numpy", "scipy"))])
"""


def test_nothing_is_imported_to_complete(project):
    done = subprocess.run([sys.executable, "-c", IMPORTED], cwd=project, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
