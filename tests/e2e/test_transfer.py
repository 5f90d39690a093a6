"""`slownet lab export`, `import` and `key` with this machine's own lab."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import wheels
from command_line import SLOWNET, ran

from slownet.lab.host import native

CHECKOUT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not native.lacks(), reason="this machine needs no lab")


@pytest.fixture
def folder():
    """A folder for a gigabyte, which goes at once: pytest keeps its own for three sessions."""
    with tempfile.TemporaryDirectory(prefix="slownet-transfer-") as name:
        yield Path(name)


def slownet(*words, cwd, **environment):
    return ran([*SLOWNET, *words], cwd=cwd, env={**os.environ, **environment}, text=True)


def test_a_lab_moves_as_a_file_and_boots_where_nothing_was_built(built, folder):
    done = slownet("lab", "export", "lab.tar", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.match(r"exported  lab\.tar, \d+\.\d MB: kernel, init, image", done.stdout)
    other = {"XDG_CACHE_HOME": str(folder / "cache")}

    with open(folder / "lab.tar", "rb") as whole, open(folder / "half.tar", "wb") as half:
        half.write(whole.read(os.path.getsize(folder / "lab.tar") // 2))
    done = slownet("lab", "import", "half.tar", cwd=folder, **other)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert re.match(r"slownet: .*half\.tar: export or copy it again; nothing was imported\n", done.stderr)
    done = slownet("lab", "info", cwd=folder, **other)
    assert "not built: slownet lab build" in done.stdout
    (folder / "half.tar").unlink()

    done = slownet("lab", "import", "lab.tar", cwd=folder, **other)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("imported  kernel, init, image")
    done = slownet("lab", "exec", "--tdf", "inf", "--", "uname", "-n", cwd=folder, **other)
    assert (done.returncode, done.stdout, done.stderr) == (0, "lab\n", "")


def test_the_key_needs_no_lab(folder):
    keys = {slownet("lab", "key", cwd=folder, XDG_CACHE_HOME=name).stdout for name in (str(folder), "")}
    assert len(keys) == 1
    (bare,) = keys
    assert re.fullmatch(rf"{os.uname().machine}-[0-9a-f]{{16}}\n", bare)
    (folder / "slownet.toml").write_text('packages = ["jq"]\n')
    assert slownet("lab", "key", cwd=folder).stdout not in ("", bare)
    (folder / "slownet.toml").write_text("packages = 3\n")
    done = slownet("lab", "key", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


@pytest.mark.long
def test_a_wheel_with_the_kernel_needs_neither_compiler_nor_kernel(built, folder):
    bundle = folder / "bundle"
    subprocess.run([sys.executable, "-m", "slownet.transfer.bundle", bundle], check=True)
    assert "linux-source-" in (bundle / "SOURCES").read_text()
    assert (bundle / "site").exists() == (built.image.site_key is not None)
    environment = {**os.environ, "SLOWNET_BUNDLE": str(bundle)}
    made = []
    for name in ("one", "two"):
        source = wheels.copied(folder / name)
        argv = [sys.executable, "setup.py", "-q", "bdist_wheel", "--dist-dir", folder / f"{name}.made"]
        subprocess.run(argv, cwd=source, env=environment, check=True, capture_output=True)
        made += (folder / f"{name}.made").glob("*-py3-none-manylinux*_x86_64.whl")
    assert made[0].read_bytes() == made[1].read_bytes()
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-deps"]
    subprocess.run([*pip, "--target", folder / "packages", made[0]], check=True)

    images = folder / "cache" / "slownet" / "image"
    images.mkdir(parents=True)
    (images / built.image.key).symlink_to(built.image.path.parent)
    programs = folder / "bin"  # a machine's, without a compiler
    programs.mkdir()
    for name in ("setpriv", "taskset"):
        (programs / name).symlink_to(shutil.which(name))
    other = {"XDG_CACHE_HOME": str(folder / "cache"), "PYTHONPATH": str(folder / "packages"), "PATH": str(programs)}
    done = slownet("lab", "info", cwd=folder, **other)
    assert (done.returncode, done.stderr) == (0, "")
    done = slownet("lab", "exec", "--tdf", "inf", "--", "uname", "-r", cwd=folder, **other)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{built.kernel.release}\n", "")
    assert not [each for each in (folder / "cache" / "slownet").iterdir() if each.name in ("kernel", "init")]
