"""One lab for all accounts of a machine: two ordinary users, who can write to nothing but their own homes."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from command_line import SLOWNET

from slownet.lab.host import native

pytestmark = [
    pytest.mark.skipif(not native.lacks(), reason="this machine needs no lab"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two other users"),
]
ANN, BOB = 65_533, 65_534


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(prefix="slownet-system-", dir="/var/tmp") as name:
        os.chmod(name, 0o755)
        yield Path(name)


@pytest.fixture
def system(built, folder):
    """A system cache with this machine's lab."""
    home = folder / "system"
    for each in (built.kernel.path.parent, built.image.path.parent, built.tools):
        shutil.copytree(each, home / each.parent.name / each.name, copy_function=linked)
    return home


def linked(source, target):
    """Copy a file, by a link where that is possible."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)


def start(words, user, folder, system, home=True):
    """Start a command as a user."""
    name = folder / str(user)
    if home and not name.exists():
        name.mkdir(mode=0o700)
        os.chown(name, user, user)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "HOME"))}
    environment = {**kept, "HOME": str(name), "SLOWNET_SYSTEM_CACHE": str(system)}
    argv = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *SLOWNET, *words] if user else [*SLOWNET, *words]
    return subprocess.Popen(argv, cwd="/", env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process):
    out, errors = process.communicate(timeout=300)
    return process.returncode, out, errors


def listing(folder):
    return {path: path.lstat().st_mtime_ns for path in folder.rglob("*")}


def test_two_users_share_a_lab_that_root_put_there(system, folder):
    if finish(start(["--version"], ANN, folder, system))[0]:
        pytest.skip("an ordinary user cannot read this checkout")
    status, out, errors = finish(start(["lab", "build", "--system"], 0, folder, system))
    assert (status, "image" in errors, "kernel" in errors) == (0, False, False), errors
    assert re.search(r"^tdf +\d+ ", out, re.MULTILINE)
    before = listing(system)
    assert {path.parent.name for path in before} >= {"kernel", "image", "init", "tdf"}

    words = ["lab", "exec", "--tdf", "inf", "--", "sh", "-c", "sleep 30; uname -n"]
    both = [start(words, user, folder, system) for user in (ANN, BOB)]
    assert [finish(each) for each in both] == [(0, "lab\n", "")] * 2
    assert listing(system) == before
    left = [path for user in (ANN, BOB) for path in (folder / str(user)).rglob("*") if path.is_file()]
    assert left == []
    status, _, errors = finish(start(["lab", "build", "--system"], ANN, folder, system))
    assert (status, errors) == (
        2,
        f"slownet: cannot write to {system}, --system: run it as root, or set SLOWNET_SYSTEM_CACHE to another folder\n",
    )


def test_who_can_write_nowhere_measures_each_time(system, folder):
    if finish(start(["--version"], ANN, folder, system, home=False))[0]:
        pytest.skip("an ordinary user cannot read this checkout")
    words = ["lab", "exec", "--cpu", "time", "--tdf", "4", "--", "uname", "-n"]
    assert finish(start(words, ANN, folder, system, home=False)) == (0, "lab\n", "")
    assert not (system / "tdf").exists()
