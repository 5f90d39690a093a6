"""The folders of sys.path that a lab gets."""

import json
import subprocess
import sys
import sysconfig
from importlib.machinery import EXTENSION_SUFFIXES
from types import ModuleType

from slownet.lab.host import native
from slownet.lab.run import import_path as module
from slownet.lab.run.caller import import_path
from slownet.lab.run.import_path import FILE, extend


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


def installed(folder, name, url, files):
    metadata = folder / f"{name}-1.dist-info"
    metadata.mkdir(parents=True)
    for each in files:
        (folder / each).parent.mkdir(exist_ok=True, parents=True)
        (folder / each).write_text(f"NAME = '{name}'\n")
    (metadata / "METADATA").write_text(f"Name: {name}\nVersion: 1\n")
    if url:
        (metadata / "direct_url.json").write_text(json.dumps({"url": url, "dir_info": {}}))
    (metadata / "RECORD").write_text(
        "".join(f"{each},sha256=x,1\n" for each in [*files, "../../../bin/x", f"{name}-1.dist-info/RECORD"])
    )


def test_programs_import_packages_from_files_of_this_machine_and_none_from_an_index(tmp_path, monkeypatch):
    packages, lab = tmp_path / "venv/lib/python3.11/site-packages", tmp_path / "lab"
    lab.mkdir()
    own_suffix = EXTENSION_SUFFIXES[0]
    installed(packages, "shop", "file:///home/a/shop", ["shop/__init__.py", "shop/part/__init__.py", f"shop/_fast{own_suffix}"])
    installed(packages, "single", "file:///home/a/single-1.tar.gz", ["single.py", "__pycache__/single.cpython-311.pyc"])
    installed(packages, "of_an_index", None, ["of_an_index/__init__.py"])
    installed(packages, "of_git", "https://git.example/file:x", ["of_git/__init__.py"])
    installed(
        packages, "compiled", "file:///home/a/c.whl", ["compiled/__init__.py", "compiled/_c.cpython-32-x86_64-linux-gnu.so"]
    )
    installed(packages, "slownet", "file:///home/a/slownet.whl", ["slownet/__init__.py"])
    for name, text in {"cut": '{"url": "file:///a', "odd": '["file:"]', "other": '{"dir": "file:"}'}.items():
        installed(packages, name, None, [f"{name}.py"])
        (packages / f"{name}-1.dist-info/direct_url.json").write_text(text)
    monkeypatch.setattr(module, "LOCAL", tmp_path / "links")
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(lab))
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setenv(native.INSIDE, "inf")
    extend([str(packages), "/code"])
    assert (lab / FILE).read_text(encoding="utf-8").splitlines() == ["/code", str(tmp_path / "links")]
    assert sorted(each.name for each in (tmp_path / "links").iterdir()) == [
        "shop", "shop-1.dist-info", "single-1.dist-info", "single.py",
    ]  # fmt: skip
    program = "import shop.part, single, importlib.metadata as all; print(shop.part.NAME, single.NAME, all.version('shop'))"
    environment = {"PYTHONPATH": str(tmp_path / "links")}
    assert subprocess.check_output([sys.executable, "-c", program], env=environment, text=True) == "shop single 1\n"
