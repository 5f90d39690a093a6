"""Carrying an edit from one series of patches to another, on a kernel of one file."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "kernels"))  # carry.py is a program as well

import carry
from carry import Side, UnfitError

from slownet.lab.build import kernel
from slownet.lab.build.kernel import Patch

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="carrying merges with git, which this machine lacks")
FROM = "um.c", "".join(f"line {i}\n" for i in range(20))
TO = "um.c", FROM[1].replace("line 3\n", "older 3\n").replace("line 15\n", "older 15\n")


def patch(name, *changes, subject="um: Do it"):
    """A patch of lines of um.c: each change is a line's number, what was there and what comes there."""
    hunks = "".join(f"@@ -{n},1 +{n},1 @@\n-{was}\n+{now}\n" for n, was, now in changes)
    head = f"From: A Person <a@b.invalid>\nSubject: [PATCH] {subject}\n\nWhy.\n\n---\n"
    return Patch(name, f"{head}\n--- a/um.c\n+++ b/um.c\n{hunks}")


@pytest.fixture
def trees(tmp_path):
    for name, (file, text) in {"7": FROM, "6.12": TO}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text(text)
    return {name: tmp_path / name for name in ("7", "6.12")}


@pytest.fixture
def carried(tmp_path, trees):
    """Both series, from the edited one and those before."""

    def run(patches, source, target):
        return carry.carry(tmp_path / "repository", Side("7", trees["7"], source), patches, Side("6.12", trees["6.12"], target))

    return run


def added(series):
    return [
        [line for line in each.text.splitlines() if line.startswith(("+", "-")) and line[:3] not in ("+++", "---")]
        for each in series
    ]


NAME = "0001-um-Do-it.patch"
BEFORE = [patch(NAME, (4, "line 3", "new 3"))]
BY_HAND = [patch(NAME, (4, "older 3", "new 3, as it is done there"))]


def test_a_series_that_was_not_edited_stays_as_it_is(carried):
    first = carried(BEFORE, BEFORE, BY_HAND)
    assert carried(first[0], *first) == first


def test_an_edit_goes_into_the_other_series_beside_what_differs_by_hand(carried):
    edited = [patch(NAME, (4, "line 3", "new 3"), (10, "line 9", "new 9"))]
    _, made = carried(edited, BEFORE, BY_HAND)
    assert added(made) == [["-older 3", "+new 3, as it is done there", "-line 9", "+new 9"]]


def test_a_new_patch_follows_those_that_are_there(carried):
    _, made = carried([*BEFORE, patch("0002-um-More.patch", (10, "line 9", "new 9"), subject="um: More")], BEFORE, BY_HAND)
    assert [each.name for each in made] == [NAME, "0002-um-More.patch"]
    assert added(made)[1] == ["-line 9", "+new 9"]


def test_a_patch_that_is_gone_is_gone(carried):
    more = patch("0002-um-More.patch", (10, "line 9", "new 9"), subject="um: More")
    _, made = carried(BEFORE, [*BEFORE, more], [*BY_HAND, more])
    assert [each.name for each in made] == [NAME]


def test_a_patch_that_the_other_series_leaves_out_stays_out(carried):
    more = patch("0002-um-More.patch", (10, "line 9", "new 9"), subject="um: More")
    _, made = carried([*BEFORE, more], [*BEFORE, more], BY_HAND)
    assert [each.name for each in made] == [NAME]


def test_a_patch_that_does_the_same_there_is_the_newest_ones(carried, tmp_path):
    more = patch("0002-um-More.patch", (11, "line 10", "new 10"), subject="um: More")
    newest, made = carried([*BEFORE, more], BEFORE, BY_HAND)
    assert made[1] == newest[1]
    assert carry.write(made, tmp_path / "stored", newest) == [f"{NAME}.diff", "series"]


def test_the_message_is_the_edited_ones(carried):
    text = BEFORE[0].text.replace("Why.", "Why, in more words.")
    _, made = carried([Patch(NAME, text)], BEFORE, BY_HAND)
    assert "From: A Person <a@b.invalid>\nSubject: [PATCH] um: Do it\n\nWhy, in more words.\n---\n" in made[0].text


def test_the_noise_of_git_is_left_out(carried):
    for series in carried(BEFORE, BEFORE, BY_HAND):
        assert not [line for each in series for line in each.text.splitlines() if line.startswith(("Date:", "index "))]


def test_a_hunk_that_does_not_fit_is_told_and_its_resolution_is_remembered(carried, tmp_path):
    edited = [patch(NAME, (4, "line 3", "newer 3")), patch("0002-um-More.patch", (10, "line 9", "new 9"), subject="um: More")]
    with pytest.raises(
        UnfitError, match=r"(?s)0001-um-Do-it.patch does not fit in um.c:\num.c:4\n<<<<<<<.*new 3, as it is.*newer 3"
    ):
        carried(edited, BEFORE, BY_HAND)
    file = tmp_path / "repository" / "um.c"
    file.write_text(carry.CONFLICT.sub("newer 3, as it is done there\n", file.read_text()))
    _, made = carried(edited, BEFORE, BY_HAND)
    assert added(made) == [["-older 3", "+newer 3, as it is done there"], ["-line 9", "+new 9"]]


def test_a_conflict_that_nobody_mended_is_told_again(carried):
    edited = [patch(NAME, (4, "line 3", "newer 3"))]
    for _ in range(2):
        with pytest.raises(UnfitError):
            carried(edited, BEFORE, BY_HAND)


def test_a_series_can_begin_with_nothing(carried):
    _, made = carried([patch(NAME, (10, "line 9", "new 9"))], [], [])
    assert added(made) == [["-line 9", "+new 9"]]


def test_a_patch_that_does_not_fit_its_own_source_is_told(carried):
    with pytest.raises(UnfitError, match=r"^7/0001-um-Do-it.patch does not fit the source that it is for$"):
        carried([patch(NAME, (10, "something else", "new 9"))], [], [])


def test_writing_a_series_removes_what_it_no_longer_has(tmp_path):
    folder = tmp_path / "7"
    first, second = patch("0001-a.patch"), patch("0002-b.patch")
    assert carry.write([first, second], folder) == ["0001-a.patch", "0002-b.patch"]
    assert carry.write([first], folder) == ["0002-b.patch"]
    assert [each.name for each in folder.iterdir()] == ["0001-a.patch"]


def test_a_series_names_its_sources():
    assert carry.packages("6.12") == r"^linux-source-6\.12$"
    assert carry.packages("7") == "^linux-source-7[.]"


@pytest.fixture
def command(tmp_path, trees, monkeypatch):
    """The command, in a checkout where both series belong together."""
    folder = tmp_path / "linux"
    folder.mkdir()
    carry.write(BEFORE, folder / "7")
    carry.write(BY_HAND, folder / "6.12", BEFORE)
    for words in (["init", "-q"], ["add", "linux"], ["-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", "x"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    monkeypatch.setattr(carry.kernel, "FILES", folder)
    words = [f"--tree={name}={tree}" for name, tree in trees.items()]
    monkeypatch.setattr(sys, "argv", ["carry", *words, "--work", str(tmp_path / "work")])
    return folder


def test_edits_are_carried_one_after_another_and_edits_by_hand_stay(command, capsys):
    for change, by_hand in (((10, "line 9", "new 9"), "by hand"), ((10, "line 9", "newer 9"), "by hand again")):
        carry.write([patch(NAME, (4, "line 3", "new 3"), change)], command / "7")
        file = command / "6.12" / f"{NAME}.diff"
        file.write_text(file.read_text().replace("as it is done there", by_hand))
        assert carry.main() == 0
        (made,) = added(kernel.read_series(command / "6.12"))
        assert made == ["-older 3", f"+new 3, {by_hand}", "-line 9", f"+{change[2]}"]
        file.write_text(file.read_text().replace(by_hand, "as it is done there"))
    capsys.readouterr()


def test_what_does_not_fit_ends_the_command_with_nothing_written(command, capsys):
    carry.write([patch(NAME, (4, "line 3", "newer 3"))], command / "7")
    assert carry.main() == 1
    assert f"{NAME} does not fit in um.c" in capsys.readouterr().err
    assert kernel.read_series(command / "6.12", BEFORE) == BY_HAND
