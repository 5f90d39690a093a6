"""The source archive and the wheel: all that they must hold, and the same bytes from the same sources."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import slownet

CHECKOUT = Path(__file__).parents[2]
IN_THE_WHEEL = ["slownet/topologies/client_web_db.py", "slownet/experiments/client_delay.py"]
"""Of rooms that are folders of the checkout; all that lib/slownet has is looked for besides."""


def files():
    """The files of the repository, with those that are about to be added to it."""
    argv = ["git", "-C", CHECKOUT, "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is not a git repository")
    return [each for each in done.stdout.splitlines() if (CHECKOUT / each).is_file()]


def copied(into):
    for name in files():
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / name, into / name)
    return into


def built(folder, *words, **environment):
    """Run setup.py; return the path of the one file that it makes."""
    argv = [sys.executable, "setup.py", "-q", *words, "--dist-dir", "made"]
    done = subprocess.run(argv, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = (folder / "made").iterdir()
    return made


def copies(tmp_path_factory):
    """Make two copies of the checkout, of different days and umasks."""
    one, two = (copied(tmp_path_factory.mktemp(name)) for name in ("one", "another"))
    for path in filter(Path.is_file, two.rglob("*")):
        os.utime(path, (1_500_000_000, 1_500_000_000))
        path.chmod(path.stat().st_mode & 0o700)
    return one, two


@pytest.fixture
def checkouts(tmp_path_factory):
    """Copies for one test: what a build leaves there is part of the next one."""
    return copies(tmp_path_factory)


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    return [built(each, "sdist") for each in copies(tmp_path_factory)]


def test_the_source_archive_holds_the_repository(archives):
    with tarfile.open(archives[0]) as tar:
        held = {each.name.partition("/")[2]: each for each in tar}
    missing = [each for each in files() if each not in held]
    assert missing == []
    extra = {each for each in held if not (CHECKOUT / each).exists()}
    assert extra <= {"PKG-INFO", "setup.cfg"} | {each for each in extra if "egg-info/" in each}
    assert held["lib/slownet/lab/build/provision"].mode == 0o755


def test_the_source_archive_is_the_same_wherever_it_is_made(archives):
    assert archives[0].name == f"slownet-{slownet.__version__}.tar.gz"
    assert archives[0].read_bytes() == archives[1].read_bytes()


def test_the_wheel_is_the_same_from_the_archive_and_from_a_checkout(archives, checkouts, tmp_path):
    with tarfile.open(archives[0]) as tar:
        tar.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    wheels = [built(each, "bdist_wheel") for each in (unpacked, checkouts[1])]
    assert wheels[0].name == f"slownet-{slownet.__version__}-py3-none-any.whl"
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    with zipfile.ZipFile(wheels[0]) as wheel:
        names = wheel.namelist()
        licences = [each for each in names if each.startswith(f"slownet-{slownet.__version__}.dist-info/licenses/")]
    assert [each for each in IN_THE_WHEEL if each not in names] == []
    assert {Path(each).name for each in licences} == {"LICENSE", *os.listdir(CHECKOUT / "LICENSES")}
    ours = [each.removeprefix("lib/") for each in files() if each.startswith("lib/slownet/")]
    assert [each for each in ours if each not in names] == []


def test_the_version_is_stated_in_one_place():
    assert f"version: {slownet.__version__}\n" in (CHECKOUT / "CITATION.cff").read_text()
    version = re.compile(rf"(?<![0-9.]){re.escape(slownet.__version__)}(?![0-9.])")
    stated = {
        each for each in files() if not each.startswith("tests/") and version.search((CHECKOUT / each).read_text("latin-1"))
    }
    assert stated - {"CHANGELOG.md"} == {"lib/slownet/model/version.py", "CITATION.cff"}


def test_a_wheel_has_its_bundle_and_is_the_same_wherever_it_is_made(checkouts, tmp_path):
    wheels = []
    for number, each in enumerate(checkouts):
        bundle = tmp_path / str(number)
        (bundle / "site" / "key").mkdir(parents=True)
        (bundle / "site" / "key" / "site.tar.xz").write_bytes(b"site")
        (bundle / "site" / "key" / "site.tar.xz").chmod((0o600, 0o664)[number])
        os.utime(bundle / "site" / "key" / "site.tar.xz", (1_600_000_000 + number,) * 2)
        wheels.append(built(each, "bdist_wheel", SLOWNET_BUNDLE=str(bundle)))
    assert wheels[0].name == f"slownet-{slownet.__version__}-py3-none-manylinux_2_17_x86_64.whl"
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    with zipfile.ZipFile(wheels[0]) as wheel:
        (site,) = (each for each in wheel.namelist() if each.endswith("/slownet/bundle/site/key/site.tar.xz"))
        assert wheel.read(site) == b"site"
