"""The wide kernel, built: its list of names, its record, and that it costs no more than the base kernel."""

import json
import os
import subprocess
import sys

import pytest

from slownet.lab.build import kernel
from slownet.lab.build.kernel import NAMES, WIDE
from slownet.lab.run import missing_features

HEAD = """\
# What the wide kernel has beyond the base one: a module a line, and what else it is called. WRITE=1 make test-wide writes it.
"""


@pytest.fixture(scope="module")
def built():
    base, wide = kernel.find(), kernel.find(WIDE)
    assert base
    assert wide, "slownet lab build --kernel wide"
    return base, wide


def test_the_list_of_names_is_what_the_wide_kernel_has_beyond_the_base_one(built):
    base, wide = built
    there = set(base.modules.values())
    lines = wide.path.with_name(kernel.MODULES).read_text().splitlines(keepends=True)
    text = HEAD + "".join(line for line in lines if line.split()[0] not in there)
    path = kernel.FILES / NAMES
    if os.environ.get("WRITE"):
        path.write_text(text)
    assert path.read_text() == text
    assert missing_features.wide_modules()["rtnl-link-wireguard"] == "wireguard"


def test_a_run_says_which_kernel_it_had_and_a_resumed_one_keeps_it(built, tmp_path):
    words = [sys.executable, "-m", "slownet.cli", "run", str(tmp_path / "two_pings.py"), "--runs", str(tmp_path)]
    file = tmp_path / "two_pings.py"
    file.write_text(
        "from slownet import ClientWebDb, experiment, ping\n\n\n"
        "@experiment(topology=ClientWebDb, vary={'rtt': ['0ms', '10ms']})\n"
        "def two_pings(net, rtt):\n"
        "    '''How long does a ping take?'''\n"
        "    net.link('client', 'switch').set(rtt=rtt)\n"
        "    return ping(net['client'], net['web'].IP(), count=2)\n"
    )
    subprocess.run([*words, "--kernel", "wide", "--repeat", "1"], check=True, capture_output=True)
    (folder,) = (each for each in tmp_path.iterdir() if each.is_dir() and (each / "run.json").is_file())
    facts = json.loads((folder / "run.json").read_text())
    assert facts["kernel"] == built[1].description
    again = subprocess.run([*words[:4], "--resume", str(folder)], capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert json.loads((folder / "run.json").read_text())["kernel"] == built[1].description
