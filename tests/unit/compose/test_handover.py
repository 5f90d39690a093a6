"""Projects reach the place where they run, with the files that they mount."""

import pytest

from slownet.compose import handover, reader
from slownet.compose.project_topology import Compose
from slownet.lab.host import native
from slownet.model.errors import ComposeError

TEXT = """
services:
  web:
    image: shop:1
    volumes: ["./data:/data:ro", "./one.conf:/etc/one:ro"]
    configs: [{source: text, target: /etc/text, mode: 0400}]
    secrets: [key]
configs: {text: {content: hello}}
secrets: {key: {file: ./key}}
"""


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "compose.yaml").write_text(TEXT)
    (folder / "data").mkdir()
    (folder / "key").write_text("secret")
    (folder / "one.conf").write_text("one")
    (folder / "one.conf").chmod(0o640)
    return reader.read([folder / "compose.yaml"], machine={})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(handover, "_taken", {})
    return tmp_path / "handed"


def test_a_project_and_its_files_come_back(project, folder):
    name = handover.key(["compose.yaml"], [])
    handover.write(folder, {name: project})
    assert handover.find(name) is None
    handover.use(folder)
    assert handover.find(name) == (project, folder)
    assert handover.projects(folder) == [project]
    assert folder.stat().st_mode & 0o777 == 0o700  # it may hold secrets
    text, key = (handover.content(each, folder) for each in project["web"].contents)
    assert (text.read_text(), key.read_text()) == ("hello", "secret")  # a container gives them owners and modes


def test_a_key_is_the_same_whatever_the_order_of_profiles():
    assert handover.key(["a.yaml"], ["x", "y"]) == handover.key(["a.yaml"], ["y", "x"])
    assert handover.key(["a.yaml", "b.yaml"], []) != handover.key(["b.yaml", "a.yaml"], [])


def test_mounted_folders_are_shared_and_single_files_copied(project, folder, monkeypatch):
    handover.write(folder, {"": project})
    data, one = (each.source for each in project["web"].volumes)
    (share,) = handover.shares([project])
    assert (str(share.path), share.writable, share.at.startswith(handover.AT)) == (data, False, True)
    copy = handover.place_of(one, folder)
    assert (copy.parent, copy.read_text(), copy.stat().st_mode & 0o777) == (folder / "files", "one", 0o640)
    monkeypatch.delenv(native.INSIDE, raising=False)
    assert str(handover.place_of(data, folder)) == data
    monkeypatch.setenv(native.INSIDE, "real")
    assert str(handover.place_of(data, folder)) == share.at


def test_a_lab_says_what_was_wrong_on_the_host(folder, monkeypatch):
    handover.write(folder, {handover.key(["compose.yaml"], []): ComposeError("what", "where", "fix")})
    assert handover.projects(folder) == []
    monkeypatch.setenv(native.INSIDE, "inf")
    monkeypatch.setenv(handover.VARIABLE, str(folder))
    with pytest.raises(ComposeError, match="what, where: fix"):
        Compose("compose.yaml")


def test_a_lab_does_not_read_files_itself(folder, monkeypatch):
    monkeypatch.setenv(native.INSIDE, "inf")
    monkeypatch.delenv(handover.VARIABLE, raising=False)
    with pytest.raises(ComposeError, match=r"a lab cannot read compose files, compose\.yaml: state it as the topology"):
        Compose("compose.yaml")
