"""Values of variables and what a project mounts: where they are not written, and when they go."""

import json
import os

import ordinary_user
import pytest

from slownet.compose import handover, project_images
from slownet.compose.project_topology import Compose
from slownet.lab.run.caller import Given, disguised, without_values
from slownet.lab.run.clock import Clock
from slownet.lab.run.place import Place
from slownet.model.errors import ComposeError, LabError
from slownet.runner import compose_project
from slownet.runner.boot_store import identity
from slownet.runner.where import Where
from slownet.sweep import sweeping
from slownet.sweep.spec import Spec

SECRET = "pass word 4711"
TEXT = """
services:
  web:
    image: shop:1
    environment: {PASSWORD: "pass word 4711"}
    volumes: ["./data:/data:ro", "./one.conf:/etc/one:ro"]
    secrets: [key, inline]
secrets: {key: {file: ./key}, inline: {environment: PASSWORD}}
"""


def test_records_have_the_names_of_variables_alone(monkeypatch):
    monkeypatch.setenv("FROM_HERE", SECRET)
    given = Given.read([f"TOKEN={SECRET}", "FROM_HERE"], [])
    assert given.to_json() == {"env": ["TOKEN", "FROM_HERE"], "shares": []}
    place = Place(Clock("virtual"), {"kernel": "k", "versions": {}}, given=given)
    monkeypatch.setattr(identity, "code", lambda source: "c1")
    said = identity.circumstances("client_delay", place)
    assert SECRET not in json.dumps(said)
    assert list(said["given"]["env"]) == ["TOKEN", "FROM_HERE"]


def test_a_resumed_run_has_the_values_of_this_process(monkeypatch):
    monkeypatch.setenv("TOKEN", "new")
    assert Given.from_json({"env": ["TOKEN"], "shares": []}).env == {"TOKEN": "new"}
    assert Given.from_json({"env": {"TOKEN": "old"}, "shares": []}).env == {"TOKEN": "new"}  # of an older version
    monkeypatch.delenv("TOKEN")
    line = r"^TOKEN was set for the run and its value was not saved, --resume: export it, or add --env TOKEN=VALUE$"
    with pytest.raises(LabError, match=line):
        Given.from_json({"env": ["TOKEN"]})


def test_a_mistake_does_not_print_the_value():
    with pytest.raises(LabError) as error:
        Given.read([f"={SECRET}"], [])
    assert str(error.value) == "a variable without a name, --env: write NAME or NAME=VALUE"


@pytest.mark.parametrize(
    ("argv", "recorded"),
    [
        (["run", "x", "--env", f"A={SECRET}", "--env", "B"], ["run", "x", "--env", "A", "--env", "B"]),
        (["run", f"--env=A={SECRET}", "--env=B"], ["run", "--env=A", "--env=B"]),
        (["run", "--vary", "rtt=1ms", "--env", "A=b=c"], ["run", "--vary", "rtt=1ms", "--env", "A"]),
    ],
)
def test_a_recorded_command_line(argv, recorded):
    assert without_values(argv) == recorded


def test_a_sweep_keeps_names_and_asks_for_values_again(tmp_path, monkeypatch):
    monkeypatch.delenv("TOKEN", raising=False)
    spec = Spec("client_delay", where=Where(env=(f"TOKEN={SECRET}",)))
    assert spec.to_json()["where"]["env"] == ["TOKEN"]
    monkeypatch.setattr(sweeping.sweep_samples, "read_header", lambda directory: {"spec": spec.to_json()})
    again = sweeping._resumed(tmp_path, Spec(""))
    assert again.where.env == ("TOKEN",)
    with pytest.raises(LabError, match=r"^the variable TOKEN is not set, --env: write TOKEN=VALUE, or export it$"):
        again.where.with_values()
    assert sweeping._resumed(tmp_path, Spec("", where=Where(env=("TOKEN=x",)))).where.env == ("TOKEN=x",)
    monkeypatch.setenv("TOKEN", "exported")
    assert again.where.with_values().env == ("TOKEN=exported",)


def test_a_disguise_tells_values_apart():
    assert disguised("A=1") == disguised("A=1") != disguised("A=2")
    assert "1" * 8 not in disguised("1" * 8)


@pytest.fixture
def composed(tmp_path, monkeypatch):
    """A project's topology, its folder and a run directory."""
    monkeypatch.setattr(handover, "_taken", {})
    monkeypatch.setattr(project_images, "need", lambda project: {})
    folder, run = tmp_path / "project", tmp_path / "run"
    for each in (folder, folder / "data", run):
        each.mkdir()
    (folder / "compose.yaml").write_text(TEXT)
    (folder / "key").write_text(SECRET)
    (folder / "one.conf").write_text("one")
    (folder / "one.conf").chmod(0o644)
    monkeypatch.setenv("PASSWORD", SECRET)
    return Compose(folder / "compose.yaml"), folder, run


def secrets_in(folder):
    return [path for path in folder.rglob("*") if path.is_file() and SECRET in path.read_text()]


def test_what_a_project_was_given_ends_with_the_run(composed):
    topology, _, run = composed
    facts = compose_project.hand_over(topology, run)
    assert SECRET not in json.dumps(facts)
    assert len(secrets_in(run)) == 3
    compose_project.end(run)
    assert list(run.iterdir()) == []
    compose_project.end(run)  # fine to call twice


def test_a_finished_run_goes_on_with_the_same_project_and_no_other(composed):
    topology, folder, run = composed
    facts = {"compose": compose_project.hand_over(topology, run)}
    compose_project.end(run)
    compose_project.take_again(topology, run, facts)
    assert len(secrets_in(run)) == 3
    compose_project.end(run)
    (folder / "one.conf").write_text("two")
    with pytest.raises(
        ComposeError, match=r"^the project, its images or the files that it mounts are not what the run was given"
    ):
        compose_project.take_again(topology, run, facts)
    assert list(run.iterdir()) == []


def test_a_link_in_the_place_of_the_folder_is_not_followed(composed, tmp_path):
    _, folder, run = composed
    (run / "compose").symlink_to(folder)
    compose_project.end(run)
    assert (folder / "key").read_text() == SECRET


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_another_user_reads_nothing_of_it(composed):
    topology, _, run = composed
    compose_project.hand_over(topology, run)
    for each in (*run.parents, run):
        if str(each).startswith("/tmp/"):
            each.chmod(0o755)
    key = next((run / "compose" / "files").iterdir())

    def attempt(path):
        try:
            return path.read_text()
        except PermissionError:
            return None

    assert ordinary_user.call(lambda: [attempt(each) for each in (key, run / "compose" / "projects.json")]) == [None, None]
