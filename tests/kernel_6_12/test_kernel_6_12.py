"""The kernel of Debian 13 itself, to which a machine falls back where the patches do not fit a newer one, and labs on it."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from slownet.errors import SlownetError
from slownet.lab import cache, kernel

CHECKOUT = Path(__file__).parents[2]
SOURCES = "^linux-source-6.12$"
IN_LAB = ["test_network.py", "test_services.py", "test_seeds.py", "test_capture.py", "test_teardown.py"]
LIMIT_S = 3600


@pytest.fixture(scope="module")
def environment():
    """One whose cache holds that kernel where labs look for theirs, and beside it all that this machine's has."""
    usual = cache.root()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(usual / "linux-6.12"))
        try:
            cache.make("kernel", kernel._key(), partial(kernel._build, sources=SOURCES))
        except SlownetError as error:
            pytest.fail(str(error), pytrace=False)
        for name in ("image", "init"):
            link = cache.root() / name
            if not link.exists():
                link.symlink_to(usual / name)
        yield dict(os.environ)


def run(environment, *words):
    done = subprocess.run(
        [sys.executable, *words], cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-5000:]
    return done.stdout


def test_labs_run_on_it(environment):
    assert run(environment, "-m", "slownet.cli", "lab", "exec", "--", "uname", "-r").startswith("6.12.")


@pytest.mark.parametrize("tdf", ["inf", "auto"])
def test_the_smoke_tests_of_the_lab_pass_on_it(environment, tdf):
    files = [f"tests/lab/{each}" for each in IN_LAB]
    words = ["lab", "exec", "--tdf", tdf, "--", "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    assert " passed" in run(environment, "-m", "slownet.cli", *words)


def test_the_clocks_are_right_on_it(environment):
    assert " passed" in run(environment, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/e2e/test_lab_clock.py")
