"""For all tests that need no lab."""

import re
import subprocess
from importlib.util import find_spec

import pytest

OF_DEVELOPERS = {
    "aiohttp": ("aiohttp",),
    "colour": ("colour",),
    "distributed": ("slownet.sweep.cluster",),
    "hypothesis": ("hypothesis", "fuzzing", "slownet.hunt"),
    "prometheus_client": ("prometheus_client",),
}
"""Packages of the extra "dev", and what imports them: a machine that was only provisioned, as by Vagrant, has none of them."""
LACKING = [name for name in OF_DEVELOPERS if not find_spec(name)]
ABSENT = "|".join(re.escape(module) for name in LACKING for module in OF_DEVELOPERS[name])
NEEDS = re.compile(rf"^ *(?:from|import) (?:{ABSENT})\b", re.MULTILINE)

# The name of a module that has moved would leave out nothing, which only a machine without these packages shows.
assert all(find_spec(module) for modules in OF_DEVELOPERS.values() for module in modules if module.startswith("slownet."))


def pytest_report_header():
    """Say what is left out."""
    return f"tests that need {', '.join(LACKING)} are left out: pip install -e '.[dev]' brings it" if LACKING else None


def pytest_ignore_collect(collection_path):
    """Leave out the files that could not be imported."""
    return True if LACKING and collection_path.suffix == ".py" and NEEDS.search(collection_path.read_text()) else None


@pytest.fixture(autouse=True)
def no_system_cache(monkeypatch):
    """What this machine's system cache holds is not seen."""
    monkeypatch.setenv("SLOWNET_SYSTEM_CACHE", "")


@pytest.fixture
def canned(tmp_path):
    """canned(out, err="", status=0) returns a host where every program prints these texts and ends with this status."""

    class Canned:
        name = "here"

        def __init__(self, out, err="", status=0):
            self.argv = []
            self.status = str(status)
            (tmp_path / "out").write_text(out)
            (tmp_path / "err").write_text(err)

        def IP(self):  # noqa: N802
            return "127.0.0.1"

        def popen(self, argv, **options):
            self.argv.append(argv)
            script = 'cat "$1"; cat "$2" >&2; exit "$3"'
            words = ["sh", "-c", script, "sh", str(tmp_path / "out"), str(tmp_path / "err"), self.status]
            return subprocess.Popen(words, start_new_session=True, **options)

    return Canned
