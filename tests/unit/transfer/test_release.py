"""What a release publishes, with a lab of a few bytes."""

import hashlib
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from slownet import __version__
from slownet.model.errors import LabError
from slownet.transfer import release

CHECKOUT = Path(__file__).parents[3]
CHANGES = "# Changes\n\n## Unreleased\n\n### Added\n- Links of paper.\n\n## 0.0.9\n\n### Fixed\n- Old.\n"
WHEEL, ARCHIVE = f"slownet-{__version__}-py3-none-any.whl", f"slownet-{__version__}.tar.gz"


@pytest.fixture
def folder(built, tmp_path):
    """What `make wheel` leaves."""
    made = tmp_path / "dist"
    made.mkdir()
    (made / WHEEL).write_text("wheel")
    (made / ARCHIVE).write_text("source")
    (tmp_path / "CHANGELOG.md").write_text(CHANGES)
    return made


def complete(folder):
    return release.complete(folder, folder.parent / "CHANGELOG.md")


def test_it_is_wheel_source_lab_notes_and_checksums(folder):
    made = complete(folder)
    names = [each.name for each in made]
    assert re.fullmatch(r"slownet-lab-\w+-[0-9a-f]{16}\.tar", names[2])
    assert [*names[:2], *names[3:]] == [WHEEL, ARCHIVE, "NOTES.md", "SHA256SUMS"]
    assert {each.name for each in folder.iterdir()} == set(names)
    done = subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, [word for name in names[:4] for word in (f"{name}:", "OK")])


def test_the_notes_are_what_has_changed_and_how_to_install_it(folder):
    complete(folder)
    notes = (folder / "NOTES.md").read_text()
    assert notes.startswith(f"# slownet {__version__}\n\n### Added\n- Links of paper.\n\n## Install\n")
    assert "Old." not in notes
    named = re.findall(r"slownet-[\w.-]+\.(?:whl|tar)\b", notes)
    assert all((folder / name).is_file() for name in named)
    assert len(named) == 2
    assert release.notes(f"## {__version__} - 2026-11-25\n\n- Mine.\n\n## Unreleased\n\n- Next.\n") == (
        f"# slownet {__version__}\n\n- Mine.\n"
    )
    assert "### Added" in release.notes((CHECKOUT / "CHANGELOG.md").read_text())


def test_the_lab_is_without_the_layers_of_this_machines_projects(folder, shop):
    lab = complete(folder)[2]
    with tarfile.open(lab) as tar:
        assert {name.partition("/")[0] for name in tar.getnames()} == {"manifest.json", "kernel", "init", "image"}


def test_the_same_sources_and_lab_give_the_same_bytes(folder):
    first = [hashlib.sha256(each.read_bytes()).hexdigest() for each in complete(folder)]
    assert first == [hashlib.sha256(each.read_bytes()).hexdigest() for each in complete(folder)]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda folder: (folder / WHEEL).unlink(),
            rf"no files .*/slownet-{re.escape(__version__)}-\*\.whl: make release, which",
        ),
        (lambda folder: (folder / f"slownet-{__version__}-x.whl").touch(), r"2 files .*\.whl: make release"),
        (lambda folder: (folder / ARCHIVE).unlink(), r"no files .*\.tar\.gz: make release"),
        (lambda folder: (folder / "slownet-0.0.9.tar.gz").touch(), r"slownet-0\.0\.9\.tar\.gz is not part of a release of"),
        (lambda folder: (folder.parent / "CHANGELOG.md").write_text("## 0.0.9\n\n- Old.\n"), r"has no section .* with changes"),
    ],
    ids=["no wheel", "two wheels", "no archive", "another version", "no notes"],
)
def test_a_release_that_would_not_be_whole_is_one_line(folder, change, says):
    change(folder)
    before = sorted(folder.iterdir())
    with pytest.raises(LabError, match=says) as caught:
        complete(folder)
    assert "\n" not in str(caught.value)
    assert sorted(folder.iterdir()) == before


@pytest.mark.skipif(not shutil.which("make"), reason="a machine that was only provisioned has no make")
def test_the_makefile_makes_it_of_a_new_wheel():
    done = subprocess.run(["make", "-n", "release"], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    at = [
        next(number for number, line in enumerate(lines) if word in line)
        for word in ("rm -rf build dist", "--wheel", "--sdist")
    ]
    last = next(number for number, line in enumerate(lines) if "slownet.transfer.release dist" in line)
    assert sorted([*at, last]) == [*at, last]
    assert lines[last + 1] == "cd dist && sha256sum --check --quiet SHA256SUMS"


def test_the_makefile_calls_pip_by_its_python():
    """A script's first line may name a path that is too long, or has a blank in it, or that has moved."""
    text = (CHECKOUT / "Makefile").read_text()
    assert "$(BIN)/python -m pip install" in text
    assert not re.search(r"\$\(BIN\)/pip\b|(?<!-m )\bpip install", text)
