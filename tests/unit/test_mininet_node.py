"""Mininet's nodes are imported on every Python, without a warning, and nothing of it stays behind."""

import subprocess
import sys
from pathlib import Path

import mininet
import pytest

import slownet
from slownet.mininet_node import StrictVersion

LIB = Path(slownet.__file__).parents[1]
CODE = """
import sys
sys.path[:0] = {path}
{later}
import slownet
from mininet.node import OVSSwitch
OVSSwitch.OVSVersion = "3.5.0"
print(OVSSwitch.isOldOVS(), "distutils" in sys.modules)
"""
LATER = """
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "distutils" else real(name, package)
"""


def imported(later=""):
    """Return what the code prints in a Python that sees Mininet and this checkout, but no shim of setuptools."""
    code = CODE.format(path=[str(LIB), str(Path(mininet.__file__).parents[1])], later=later)
    words = [sys.executable, "-I", "-S", "-W", "error", "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_without_a_warning():
    assert imported() == ["False", str(sys.version_info < (3, 12))]


def test_a_python_that_has_no_distutils():
    assert imported(LATER) == ["False", "False"]


@pytest.mark.parametrize(
    ("one", "other", "older"), [("1.9.3", "1.10", True), ("1.10", "1.10", False), ("3.5.0", "1.10", False)]
)
def test_versions(one, other, older):
    assert (StrictVersion(one) < StrictVersion(other)) is older
