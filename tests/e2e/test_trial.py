"""The trial of a kernel that was just built, with this machine's own kernel and with a program that is none."""

import shutil
from pathlib import Path

import pytest

from slownet.lab.build import kernel, parts
from slownet.model.errors import LabError


@pytest.fixture
def attempt(built, tmp_path):
    """Try an executable as if it was just built."""

    def attempt(executable):
        known = kernel.find()
        copy = tmp_path / "linux"
        shutil.copy(executable, copy)
        parts.boot(kernel.Kernel(copy, known.release, known.source))

    return attempt


def test_this_machines_kernel_passes_and_nothing_is_left_behind(attempt, tmp_path):
    attempt(kernel.find().path)
    assert [each.name for each in tmp_path.iterdir()] == ["linux"]


def test_a_kernel_that_does_not_boot_fails_in_one_line(attempt, tmp_path):
    with pytest.raises(LabError, match=r"was built and does not boot: ") as caught:
        attempt(Path("/bin/false"))
    assert len(str(caught.value).splitlines()) == 1
    assert [each.name for each in tmp_path.iterdir()] == ["linux"]
