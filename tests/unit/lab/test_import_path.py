"""The folders of sys.path that a lab gets."""

import sys
import sysconfig
from types import ModuleType

from slownet.lab import native
from slownet.lab.caller import import_path
from slownet.lab.import_path import FILE, extend


def test_relative_folders_are_whole_ones(tmp_path, monkeypatch):
    here, beside = tmp_path / "tests", tmp_path / "helpers"
    here.mkdir()
    beside.mkdir()
    monkeypatch.setattr(sys, "path", ["../helpers", "", str(beside), ".", "missing"])
    assert import_path(here) == [beside, here, beside, here]


def test_an_editable_package_is_in_the_folder_that_its_finder_names(tmp_path, monkeypatch):
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    finder = ModuleType("__editable___project_1_finder")
    finder.MAPPING = {
        "project": str(project / "project"),
        "other": str(elsewhere / "src"),
        "project.part": str(elsewhere / "part"),
    }
    for folder in (project, elsewhere):
        folder.mkdir()
    monkeypatch.setitem(sys.modules, finder.__name__, finder)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert import_path(tmp_path) == [tmp_path, project]


def test_a_thread_may_import_something_while_editable_packages_are_looked_for(tmp_path, monkeypatch):
    class Importing(str):
        """A module's name, during whose test another module is imported."""

        def startswith(self, *args):
            monkeypatch.setitem(sys.modules, "imported_by_another_thread", ModuleType("imported_by_another_thread"))
            return super().startswith(*args)

    monkeypatch.setitem(sys.modules, Importing("looked_at"), ModuleType("looked_at"))
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert import_path(tmp_path) == [tmp_path]


def test_programs_of_a_lab_import_from_there_after_their_own_packages(tmp_path, monkeypatch):
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(sys, "path", ["/own"])
    monkeypatch.delenv(native.INSIDE, raising=False)
    extend(["/a b", "/own"])
    assert (sys.path, list(tmp_path.iterdir())) == (["/own", "/a b"], [])
    monkeypatch.setenv(native.INSIDE, "inf")
    extend(["/a b", "/ü", "/import os\n", "/blank ", "/venv/lib/python3.11/site-packages"])
    assert (tmp_path / FILE).read_text(encoding="utf-8").splitlines() == ["/a b", "/ü"]
