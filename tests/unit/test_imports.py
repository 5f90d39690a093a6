"""Commands do not import what they do not need: each of these imports takes a noticeable part of a second."""

import subprocess
import sys

HEAVY = ("numpy", "pandas", "pyarrow", "pydantic", "resvg_py", "scapy", "scipy")
COMMANDS = f"""
import sys
from contextlib import suppress
from slownet.cli.app import main
for words in (["list"], ["run", "client_dealy"], ["lab", "exec", "--tdf", "fast", "--", "true"]):
    with suppress(SystemExit):
        main(words)
    print("imported:", [name for name in {HEAVY} if name in sys.modules])
"""


def test_short_commands_import_nothing_heavy():
    done = subprocess.run([sys.executable, "-c", COMMANDS], capture_output=True, text=True, check=True)
    assert [line for line in done.stdout.splitlines() if line.startswith("imported:")] == ["imported: []"] * 3


def test_a_command_brings_no_other():
    code = """
import sys
from contextlib import suppress
from slownet.cli.app import COMMANDS, main
with suppress(SystemExit):
    main(["lab", "exec", "--tdf", "fast", "--", "true"])
others = {f"slownet.cli.{each.module}" for name, each in COMMANDS.items() if name != "lab"}
print("brought:", others & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "brought: set()\n"


def imported_by(code):
    """Return the modules that are there after these statements in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return {*done.stdout.split()}


def test_an_experiment_brings_no_other():
    found = imported_by("from slownet.hypotheses.catalogue import find; find('client_delay')")
    named = {each for each in found if each.startswith(("slownet.experiments.", "slownet.topologies."))}
    assert named == {"slownet.experiments.client_delay", "slownet.topologies.client_web_db"}


def test_what_measures_imports_nothing_that_is_dear_in_a_lab():
    """Together they were a third of what starting the process of a lab took: OpenSSL alone a tenth."""
    dear = {"hashlib", "tomllib", "optparse", "argparse", "difflib", *HEAVY}
    assert not dear & imported_by("import slownet.runner.inside")


def test_what_measures_does_not_import_what_decides_whether_numbers_repeat():
    assert "slownet.judge.records.repeatability" not in imported_by("import slownet.runner.inside")
