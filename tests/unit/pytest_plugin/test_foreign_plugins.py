"""Plugins of pytest that a lab cannot import, because they are compiled for another Python: they are left out by name."""

import json
import os
import sys
from importlib import metadata

import pytest

from slownet.lab.run import pytest_inside as inside
from slownet.pytest_plugin import missing, session

OTHER = "cpython-39-x86_64-linux-gnu.so"
WARN = "import sys; print('imported', file=sys.stderr)\n"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A function that puts a distribution on sys.path: its name, its modules, its compiled files, requirements and plugins."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv(inside.LEFT_OUT, "")
    monkeypatch.setenv(inside.SESSION, json.dumps({"test": inside._test, "path": [str(tmp_path)]}))
    inside._contents.cache_clear()  # names mean other distributions in each test
    inside.with_plugins.cache_clear()

    def install(name, modules, compiled=(), requires=(), plugins=()):
        info = tmp_path / f"{name.replace('-', '_')}-1.dist-info"
        info.mkdir()
        lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1", *(f"Requires-Dist: {each}" for each in requires)]
        (info / "METADATA").write_text("\n".join(lines) + "\n")
        if plugins:
            (info / "entry_points.txt").write_text("\n".join(["[pytest11]", *(f"{each} = {each}_plugin" for each in plugins)]))
        for file, text in modules.items():
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).write_text(text)
        for file in compiled:
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).touch()
        (info / "RECORD").write_text("".join(f"{file},,\n" for file in (*modules, *compiled)))

    return install


def left_out():
    options = inside.without_foreign()
    foreign = json.loads(os.environ[inside.LEFT_OUT])
    assert options == [word for name in foreign for word in ("-p", f"no:{name}")]
    return foreign


def test_one_that_requires_what_is_compiled_for_another_python(installed):
    installed("green-light", {"green/__init__.py": "from green import _light\n"}, [f"green/_light.{OTHER}"])
    installed("between", {"between.py": "import green\n"}, requires=["green_light>=1; python_version > '3'"])
    installed("pytest-between", {"between_plugin.py": "import between\n"}, requires=["Between"], plugins=["between"])
    assert list(left_out()) == ["between"]
    assert not {"green", "between", "between_plugin"} & set(sys.modules), "pytest is to rewrite a plugin when it is imported"
    why = missing.left_out()
    assert why.startswith("pytest's plugin between is left out in the lab: the lab has no module 'green._light': ")
    assert "_light.cpython-39-x86_64-linux-gnu.so is compiled for Python 3.9, and the lab has Python 3." in why
    assert 'write dependencies = ["' in why


def test_one_that_imports_its_package_late(installed):
    modules = {"late/__init__.py": "from late import _native\n", "late_plugin.py": "def pytest_configure(): import late\n"}
    installed("late", modules, [f"late/_native.{OTHER}"], plugins=["late"])
    assert left_out() == {"late": missing.left_out().partition(": ")[2]}
    assert "_native" in missing.left_out()


def test_one_that_does_without_its_compiled_module_stays(installed):
    quick = "try:\n    from quick import _native\nexcept ImportError:\n    _native = None\n"
    installed("quick", {"quick/__init__.py": quick, "quick_plugin.py": "import quick\n"}, [f"quick/_native.{OTHER}"])
    installed("pytest-quick", {}, requires=["quick", "quick[more]; extra == 'more'", "absent"], plugins=["quick"])
    assert left_out() == {}


def test_one_of_this_python_is_not_even_tried(installed, capfd):
    suffix = inside.EXTENSION_SUFFIXES[0]
    installed("plain", {"plain_plugin.py": WARN}, plugins=["plain"])
    installed("both", {"both_plugin.py": WARN}, [f"both/_c.{OTHER}", f"both/_c{suffix}"], plugins=["both"])
    assert left_out() == {}
    assert "imported" not in capfd.readouterr().err


def test_one_that_the_session_leaves_out_is_not_even_tried(installed, monkeypatch, capfd, tmp_path):
    handed = {"test": inside._test, "path": [str(tmp_path)], "blocked": ["late"]}
    monkeypatch.setenv(inside.SESSION, json.dumps(handed))
    installed("late", {"late_plugin.py": f"{WARN}from late import _native\n"}, [f"late/_native.{OTHER}"], plugins=["late"])
    assert left_out() == {}
    assert "imported" not in capfd.readouterr().err


def test_one_of_the_image_is_not_looked_at(installed, monkeypatch):
    """What it requires is found in the image first, and is compiled for the image's Python."""
    monkeypatch.setenv(inside.SESSION, json.dumps({"test": inside._test, "path": ["/elsewhere"]}))
    monkeypatch.setattr(inside, "_contents", lambda name: pytest.fail(f"looked at {name}"))
    installed("late", {"late_plugin.py": "from late import _native\n"}, [f"late/_native.{OTHER}"], plugins=["late"])
    assert left_out() == {}


def test_one_that_requires_itself_ends(installed):
    installed("a", {"a_plugin.py": ""}, requires=["b"], plugins=["a"])
    installed("b", {}, requires=["a"])
    assert left_out() == {}


def test_slownets_own_plugin_and_what_it_requires_are_not_looked_at(installed, monkeypatch):
    """It is loaded in any case; to read what its libraries consist of took a second of each session."""
    looked = []
    monkeypatch.setattr(inside, "_contents", lambda name: looked.append(name) or (frozenset(), frozenset()))
    installed("another", {"another_plugin.py": ""}, plugins=["another"])
    inside.without_foreign()
    assert "another" in looked
    assert "slownet" not in looked


@pytest.mark.parametrize(("outside", "options"), [([], ["-p", "no:own"]), (["own"], []), (None, ["-p", "no:own"])])
def test_one_that_the_image_has_for_itself_is_left_out_unless_the_session_has_it_too(installed, monkeypatch, outside, options):
    installed("of-the-image", {"own_plugin.py": ""}, plugins=["own"])
    handed = {"test": inside._test, "path": ["/elsewhere"]} | ({} if outside is None else {"plugins": outside})
    monkeypatch.setenv(inside.SESSION, json.dumps(handed))
    assert [each for each in paired(inside.without_unwanted()) if each[1] == "no:own"] == list(paired(options))


def paired(words):
    return list(zip(words[::2], words[1::2], strict=True))


def test_one_of_the_session_is_never_unwanted(installed):
    installed("theirs", {"theirs_plugin.py": ""}, plugins=["theirs"])
    assert "no:theirs" not in inside.without_unwanted()


def test_pytest_gets_the_distributions_with_plugins_and_others_get_all(installed, monkeypatch):
    """Only those of the session are rewritten, and a program that asks by itself finds what is there."""
    installed("theirs", {"theirs_plugin.py": ""}, plugins=["theirs"])
    installed("plain", {"plain.py": ""})
    monkeypatch.setattr(metadata, "distributions", metadata.distributions)
    inside.find_plugins_once()
    asked = "import importlib.metadata\nnames = [each.name for each in importlib.metadata.distributions()]"
    names = {}
    for module in ("pluggy._manager", "_pytest.config", "another"):
        space = {"__name__": module}
        exec(asked, space)
        names[module] = space["names"]
    assert names["_pytest.config"] == ["theirs"]
    assert {"theirs", "pytest-cov"} <= set(names["pluggy._manager"])
    assert "plain" not in names["pluggy._manager"]
    assert {"theirs", "plain", "pytest"} <= set(names["another"])
    assert {each.name for each in metadata.entry_points(group=inside.GROUP)} >= {"theirs", "pytest_cov"}


def test_whether_the_session_has_it_is_asked_where_it_began(pytestconfig, monkeypatch):
    manager = pytestconfig.pluginmanager
    monkeypatch.setitem(manager._name2plugin, "unwanted", None)  # as by `-p no:unwanted`
    handed = json.loads(session.environment(pytestconfig, {}, None)[inside.SESSION])
    plugins = metadata.entry_points(group=inside.GROUP)
    assert set(handed["plugins"]) == {each.name for each in plugins if manager.has_plugin(each.name)}
    assert {"xdist", "pytest_cov"} <= set(handed["plugins"])
    assert "unwanted" in handed["blocked"]
    assert "capturemanager" not in handed["blocked"]
