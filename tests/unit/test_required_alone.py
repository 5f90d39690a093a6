"""Everything of the package can be imported, and every error reached, with the packages alone that it requires.

What the extras bring is hidden here, as in an environment that `make run` or `pip install slownet` makes.
"""

import json
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest
from wire import Exchange, ethernet, pcap

import slownet

PACKAGE = Path(slownet.__file__).parent
NAME = re.compile(r"[\w.-]+")
HIDE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)

sys.meta_path.insert(0, Hidden())
"""
IMPORT = """
import importlib, traceback
failed = {}
for name in NAMES:
    try:
        importlib.import_module(name)
    except BaseException:
        failed[name] = traceback.format_exc(limit=-1)
print("failed:", json.dumps(failed))
"""


def required(name="slownet", found=None):
    """Return the names of the distributions that one requires without extras, and they in turn."""
    found = set() if found is None else found
    try:
        lines = distribution(name).requires or ()
    except PackageNotFoundError:  # one for another system or version
        return found
    found.add(normal(name))
    for line in lines:
        other = normal(NAME.match(line)[0])
        if "extra ==" not in line and other not in found:
            required(other, found)
    return found


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def hidden():
    """Return the modules of installed distributions that are not required."""
    needed = required()
    owners = packages_distributions()
    return sorted(module for module, names in owners.items() if not {normal(each) for each in names} & needed)


def run(code):
    start = f"import json\nHIDDEN = set(json.loads({json.dumps(json.dumps(hidden()))}))\n{HIDE}\n"
    return subprocess.run([sys.executable, "-c", start + code], capture_output=True, text=True, timeout=300)


def modules():
    names = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if "programs" in parts or "autograder" in parts or parts[-1] == "__main__" or not all(map(str.isidentifier, parts)):
            continue  # programs for hosts run there, and not here
        names[".".join(("slownet", *parts)).removesuffix(".__init__")] = None
    return list(names)


def test_extras_are_hidden_and_requirements_are_not():
    extras = {"aioquic", "hypothesis", "distributed", "pandas", "sphinx"} & set(packages_distributions())
    assert extras <= set(hidden())
    assert not {"scapy", "numpy", "pytest", "slownet", "pyarrow", "yaml", "jinja2", "mininet"} & set(hidden())


def test_each_module_is_imported_with_the_required_packages_alone():
    names = modules()
    assert len(names) > 500
    done = run(f"NAMES = json.loads({json.dumps(json.dumps(names))})\n{IMPORT}")
    line = next(line for line in done.stdout.splitlines() if line.startswith("failed: "))
    assert json.loads(line.removeprefix("failed: ")) == {}


def test_a_damaged_capture_is_one_line_without_aioquic(tmp_path):
    (tmp_path / "a.pcap").write_bytes(pcap([*((at, ethernet(data)) for at, data in Exchange().frames), (1, bytes(4))]))
    done = run(f"from slownet.cli.app import main; main(['field', 'trace', {str(tmp_path / 'a.pcap')!r}])")
    assert (done.returncode, done.stderr) == (0, "")
    assert "damaged frame 4" in done.stdout


@pytest.mark.parametrize(
    ("code", "line"),
    [
        (
            f"from slownet.links.packets.connections import connections as read; from pathlib import Path; "
            f"folder = Path({str(Path(__file__).parent / 'links' / 'packets' / 'data')!r}); "
            "read(folder / 'tls13.pcap', folder / 'tls13.keys', 'TCP')",
            r"TLS and QUIC of a capture cannot be read: aioquic[\w.]* is not installed, .*tls13\.pcap: pip install aioquic",
        ),
        (
            "from slownet.links.packets.connections import connections as read; from pathlib import Path; "
            f"folder = Path({str(Path(__file__).parent / 'links' / 'packets' / 'data')!r}); "
            "read(folder / 'quic.pcap', folder / 'quic.keys', 'QUIC')",
            r"TLS and QUIC of a capture cannot be read: aioquic[\w.]* is not installed, .*quic\.pcap: pip install aioquic",
        ),
    ],
)
def test_what_needs_a_package_names_it(code, line):
    done = run(
        f"from slownet.model.errors import SlownetError\ntry:\n    {code}\nexcept SlownetError as error:\n    print(error)"
    )
    assert re.fullmatch(line, done.stdout.strip()), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["hunt", "client_delay"], "hypothesis"),
        (["sweep", "client_delay", "--vary", "rtt=0:2:1ms", "--cluster", "tcp://127.0.0.1:1", "--out", "x"], "distributed"),
    ],
)
def test_a_command_that_needs_an_extra_names_it(tmp_path, words, line):
    done = run(f"import os; os.chdir({str(tmp_path)!r}); from slownet.cli.app import main; main({words!r})")
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert line in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
