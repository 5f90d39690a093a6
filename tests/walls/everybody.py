"""What the attacks share: a lab that an ordinary user can have."""

import os
import shutil
from pathlib import Path

import pytest

from slownet.lab import cache, parts


@pytest.fixture(scope="module")
def lab_of_all():
    """A cache that an ordinary user can read."""
    assert parts.need()
    folder = Path("/var/tmp", f"slownet-walls-cache-{os.getpid()}")
    (folder / "slownet").mkdir(parents=True)
    for each in ("kernel", "image", "init", "tdf"):
        if (cache.root() / each).is_dir():
            shutil.copytree(cache.root() / each, folder / "slownet" / each, copy_function=link_or_copy)
    yield folder
    shutil.rmtree(folder)


def link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
