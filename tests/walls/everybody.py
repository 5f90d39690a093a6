"""What the attacks share: a lab that an ordinary user can have, with a container's image."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from slownet.lab.build import cache, parts

sys.path.insert(0, str(Path(__file__).parents[1] / "lab"))
import images  # stands beside the lab's tests

HOSTILE = Path(__file__).with_name("hostile_container.c")


@pytest.fixture(scope="module")
def lab_of_all():
    """A cache that an ordinary user can read."""
    assert parts.need()
    folder = Path("/var/tmp", f"slownet-walls-cache-{os.getpid()}")
    (folder / "slownet").mkdir(parents=True)
    for each in ("kernel", "image", "init", "tdf"):
        if (cache.root() / each).is_dir():
            shutil.copytree(cache.root() / each, folder / "slownet" / each, copy_function=link_or_copy)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        program = images.file(images.compiled(HOSTILE, folder / "hostile"), 0o755)
        images.keep("hostile:1", {"/hostile": program, "/bound": images.folder(), "/tmp": images.folder(0o1777)})
    yield folder
    shutil.rmtree(folder)


def link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


STARTS = "import subprocess, sys; subprocess.run([sys.executable, '-c', ''], check=True)"


def starts_python(words):
    """Return whether a user can start this Python again: setpriv starts it from any folder, but the user may not enter that."""
    return subprocess.run([*words, sys.executable, "-c", STARTS], check=False, capture_output=True).returncode == 0
