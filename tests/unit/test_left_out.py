"""slownet works without each of its features: they are not imported before they are asked for.

`slownet.reproductions` is a floor below the experiments of the articles, whose servers and clients it has: it is left out with
them, or not at all. Nothing else needs it.
"""

import subprocess
import sys
import tempfile

import pytest

FEATURES = ("api", "calibration", "classroom", "comparison", "compose", "costs", "hunt", "live", "sweep", "transfer", "waits")
EDGES = {
    "comparison": {"slownet.api.compared"},
    "compose": {"slownet.hypotheses.commanded", "slownet.hypotheses.composed", "slownet.hypotheses.project_tools"},
    "waits": {
        "slownet.api.accounted", "slownet.api.measured_cures", "slownet.cli.why_cures", "slownet.costs.inside",
        "slownet.report.account_figure", "slownet.report.account_section", "slownet.report.flame",
    },
}  # fmt: skip
"""Modules of other rooms that are nothing without the feature; they are imported when it is used."""
CODE = """
import importlib, pkgutil, sys
from contextlib import suppress

FEATURE = "slownet." + sys.argv[1]


class LeftOut:
    def find_spec(self, name, path=None, target=None):
        if name == FEATURE or name.startswith(FEATURE + "."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, LeftOut())
import slownet
from slownet.cli.app import main

failed = set()
for each in pkgutil.walk_packages(slownet.__path__, "slownet."):
    if each.name.startswith((FEATURE, "slownet.tools.programs")) or each.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(each.name)
    except ModuleNotFoundError:
        failed.add(each.name)
print("need it:", *sorted(failed))
for words in map(str.split, sys.argv[2:]):
    status = 0
    try:
        status = main(words)
    except SystemExit as end:
        status = end.code
    print("status:", words, status or 0)
"""


COMMANDS = ("list", "--help", "run --help")


def without(feature, *commands):
    """Return what a process prints without a feature, and the modules that need it; all commands end with status 0."""
    code = [sys.executable, "-c", CODE, feature, *commands]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(code, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    (needing,) = [line for line in lines if line.startswith("need it:")]
    assert [line for line in lines if line.startswith("status:") and not line.endswith(" 0")] == []
    assert len([line for line in lines if line.startswith("status:")]) == len(commands)
    return done.stdout, set(needing.split()[2:])


@pytest.mark.parametrize("feature", FEATURES)
def test_slownet_works_without_it(feature):
    printed, needing = without(feature, *COMMANDS)
    assert needing == EDGES.get(feature, set())
    assert "client_delay" in printed


def test_only_experiments_need_what_reproductions_have():
    _, needing = without("reproductions", *COMMANDS[1:])
    assert needing == set()
