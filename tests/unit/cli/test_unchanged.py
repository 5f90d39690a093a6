"""Which folders a Mininet program has in a lab."""

import pytest

from slownet.cli import unchanged
from slownet.model.errors import LabError


def test_files_that_words_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("a.py", "b.py"):
        (tmp_path / "sub" / name).write_text("")
    words = ["--custom=sub/a.py,sub/b.py", "sub/a.py", "--topo", "linear,3", "/no/such/file", "b.py", "sub", "\0/"]
    assert {str(each) for each in unchanged.files_in(words)} == {"sub/a.py", "sub/b.py"}


@pytest.mark.parametrize("folder", ["/etc", "/usr/share/x", "/opt/slownet", "/"])
def test_a_folder_that_would_hide_the_labs_own_is_one_line(folder):
    with pytest.raises(LabError, match=r"would hide the lab's own folder, .*: move the file to another folder"):
        unchanged.folders([unchanged.Path(folder, "mine.py")])


@pytest.mark.parametrize("folder", ["/tmp", "/root"])
def test_a_program_may_be_in_the_folder_for_temporary_files_or_roots_home(folder):
    path = unchanged.Path(folder, "no-such-program.py")
    assert unchanged.folders([path]) == [path.parent, path.parent]


def test_a_linked_program_brings_the_folder_of_its_file(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "mine.py").write_text("")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "mine.py").symlink_to(tmp_path / "real" / "mine.py")
    assert unchanged.folders([tmp_path / "here" / "mine.py"]) == [tmp_path / "here", tmp_path / "real"]


def test_inner_folders_come_with_outer_ones(tmp_path):
    assert unchanged.outermost([tmp_path / "a" / "b", tmp_path / "a", tmp_path / "ab"]) == [tmp_path / "a", tmp_path / "ab"]
