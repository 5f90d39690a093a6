"""Mininet's nodes are imported on every Python, without a warning, and nothing of it stays behind."""

import subprocess
import sys
from pathlib import Path

import mininet
import pytest

import slownet
from slownet.model.mininet_node import StrictVersion

LIB = Path(slownet.__file__).parents[1]
CODE = """
import sys
sys.path[:0] = {path}
{before}
import slownet
from mininet.node import OVSSwitch
OVSSwitch.OVSVersion = "3.5.0"
print(OVSSwitch.isOldOVS(), "distutils" in sys.modules, "setuptools" in sys.modules)
"""
OWN = """
from types import ModuleType
for name in ("distutils", "distutils.version"):
    sys.modules[name] = ModuleType(name)
sys.modules["distutils.version"].StrictVersion = lambda text: [9] if text == "3.5.0" else [10]
"""


def imported(before="", *options):
    """Return what the code prints in a Python that sees Mininet and this checkout."""
    code = CODE.format(path=[str(LIB), str(Path(mininet.__file__).parents[1])], before=before)
    words = [sys.executable, "-I", "-W", "error", *options, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("options", [(), ("-S",)], ids=["with what setuptools puts in its place", "without"])
def test_neither_distutils_nor_its_warning_is_seen(options):
    assert imported("", *options) == ["False", "False", "False"]


def test_the_distutils_of_a_program_stays():
    if "distutils" not in Path(mininet.__file__).with_name("node.py").read_text():
        pytest.skip("this Mininet does not import distutils; Debian's compares versions by itself")
    assert imported(OWN, "-S") == ["True", "True", "False"]


@pytest.mark.parametrize(
    ("one", "other", "older"), [("1.9.3", "1.10", True), ("1.10", "1.10", False), ("3.5.0", "1.10", False)]
)
def test_versions(one, other, older):
    assert (StrictVersion(one) < StrictVersion(other)) is older
