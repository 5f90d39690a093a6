from dataclasses import replace
from pathlib import Path

import pytest

from slownet.lab.build import layer
from slownet.lab.build.image import Image
from slownet.lab.build.layer import Layer
from slownet.lab.build.parts import Parts
from slownet.lab.build.project import Project
from slownet.model.errors import LabError

IMAGE = Image(Path("image.squashfs"), "base", {"bash": "5.2", "nginx": "1.26"}, 100)
PROJECT = Project(Path("/p/pyproject.toml"), ("jq",), ("flask",))


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_the_key_follows_everything_that_the_layer_is_made_of(tmp_path, monkeypatch):
    first = layer.key(PROJECT, IMAGE.key)
    others = [
        layer.key(replace(PROJECT, packages=("jq", "redis")), IMAGE.key),
        layer.key(replace(PROJECT, requirements=("flask>=3",)), IMAGE.key),
        layer.key(replace(PROJECT, constraints=("flask<4",)), IMAGE.key),
        layer.key(replace(PROJECT, packages=("jq", "flask"), requirements=()), IMAGE.key),
        layer.key(PROJECT, "newer"),
    ]
    (tmp_path / "recipe").write_text("#!/bin/sh\n")
    monkeypatch.setattr(layer, "INSTALL", tmp_path / "recipe")
    others.append(layer.key(PROJECT, IMAGE.key))
    assert len({first, *others}) == 7


def test_the_key_is_that_of_any_project_with_the_same_needs():
    other = Project(Path("/q/slownet.toml"), ("jq",), ("flask",), shares=(Path("/q/dist"),))
    assert layer.key(other, IMAGE.key) == layer.key(PROJECT, IMAGE.key)


def test_a_layer_that_was_not_built_is_one_line():
    assert layer.find(PROJECT, IMAGE) is None
    with pytest.raises(LabError) as error:
        Parts(None, IMAGE, None).with_layer(PROJECT)
    assert str(error.value) == "this project's packages are not in the lab, /p/pyproject.toml: slownet lab build"


def test_who_needs_nothing_gets_no_layer():
    parts = Parts(None, IMAGE, None)
    assert parts.with_layer(None) is parts
    assert parts.with_layer(replace(PROJECT, packages=(), requirements=())) is parts
    assert (parts.description, parts.versions, parts.built) == (IMAGE.description, IMAGE.versions, 100)


def test_a_layer_is_in_the_facts():
    added = Layer(Path("layer.squashfs"), "abc", ["jq", "flask"], {"jq": "1.7", "flask (Python)": "3.1"}, 200)
    parts = Parts(None, IMAGE, None, added)
    assert parts.description == "Debian 13 (trixie), base, layer abc (jq, flask)"
    assert parts.versions == {**IMAGE.versions, "jq": "1.7", "flask (Python)": "3.1"}
    assert parts.built == 200


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("jq_1.7.1-6+deb13u4_amd64.deb", ("jq", "1.7.1-6+deb13u4")),
        ("redis_5%3a8.0.2-3_all.deb", ("redis", "5:8.0.2-3")),
    ],
)
def test_versions_of_debian_packages(name, version):
    assert layer._version(Path(name)) == version


@pytest.mark.parametrize("text", ["flask>=3", "flask >= 3", "flask>=3 ; python_version > '3'", "flask>=3 --hash=sha256:00"])
def test_names_of_requirements(text):
    assert layer._name(text) == "flask>=3"


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("E: Unable to locate package nosuch\nE: setup failed", "Unable to locate package nosuch"),
        ("E: Package 'x' has no installation candidate", "Package 'x' has no installation candidate"),
        ("E: Unable to locate package x\nW: Failed to fetch http://mirror", None),
    ],
)
def test_apt_names_the_package_unless_the_network_is_the_reason(tmp_path, monkeypatch, log, line):
    def fail(packages, status, into, where):
        where.write_text(log)
        raise LabError("fetching Debian packages failed")

    monkeypatch.setattr(layer.subprocess, "run", lambda *words, **options: type("Done", (), {"returncode": 0}))
    monkeypatch.setattr(layer.debian, "download_missing", fail)
    with pytest.raises(LabError) as error:
        layer._debian_packages(PROJECT, IMAGE, tmp_path, tmp_path / "log")
    wanted = f"{line}, /p/pyproject.toml: correct `packages`; nothing unfinished was kept"
    assert str(error.value) == (wanted if line else "fetching Debian packages failed")
