"""Tests native mode as users run it: root by sudo on Debian's own kernel."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from machine import SHARED

CHECKOUT = Path(__file__).parents[2]
sys.path.append(str(CHECKOUT / "tests" / "lab"))

from stock_sysctls import RECORD, read, without_states  # noqa: E402

from slownet.net.network import FIRST_SEND_BUFFER  # noqa: E402

EXPERIMENT = "tests/stock_kernel/few_pages.py"
SMOKE = ["tests/lab/test_native.py", "tests/lab/test_plugin_in_place.py"]
CLAIMS = "tests/vagrant/users.py"
AGREE = 0.03
# A hanging guest ends the session; how long a job takes depends on this machine.
LIMIT_S = 3600


def law_of(json_text):
    """Return the facts of a run and its verdict on the law."""
    (run,) = json.loads(json_text)["runs"]
    (verdict,) = run["claims"]
    return run, verdict


def test_it_is_debians_kernel(guest, kernel):
    done = guest.run("uname -r && cat /proc/version", LIMIT_S)
    release, version = done.output.splitlines()
    assert release == kernel.release
    assert "Debian" in version


def test_root_by_sudo_lacks_nothing_there(guest):
    program = "from slownet.lab.host import native; print(native.lacks())"
    assert guest.run(f"sudo /opt/slownet/venv/bin/python -c '{program}'", LIMIT_S).output == "[]\n"
    assert guest.run(f"/opt/slownet/venv/bin/python -c '{program}'", LIMIT_S).output == "['root']\n"
    modules = {line.split()[0] for line in guest.run("cat /proc/modules", LIMIT_S).output.splitlines()}
    assert {"sch_netem", "sch_htb", "openvswitch"} <= modules


def test_the_record_of_its_settings_is_what_a_new_namespace_has(guest):
    """Of which hosts in labs are to have all: where Debian's kernel changes, write RECORD_SYSCTLS=1 before `make`."""
    settings = guest.run("sudo unshare --net sh -c 'sysctl -a 2>/dev/null'", LIMIT_S).output
    if os.environ.get("RECORD_SYSCTLS"):
        RECORD.write_text("".join(f"{line}\n" for line in settings.splitlines() if line))
    assert without_states(read(settings)) == without_states(read(RECORD.read_text()))


def test_a_host_in_a_lab_differs_in_what_is_listed_and_in_nothing_else():
    words = [sys.executable, "-m", "slownet.cli", "lab", "exec", "--tdf", "inf", "--", "python", "-m", "pytest", "-q"]
    words += ["-p", "no:cacheprovider", "tests/lab/test_stock_sysctls.py"]
    done = subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_connection_opens_with_the_same_buffers(guest):
    """The window of a SYN and the send buffer, over a veth of MTU 1500, as a lab's hosts have them."""
    program = """
import os, socket
os.system("ip netns add A && ip link add v0 type veth peer name v1 netns A")
os.system("ip addr add 10.9.0.1/24 dev v0 && ip link set v0 up")
os.system("ip -n A addr add 10.9.0.2/24 dev v1 && ip -n A link set v1 up")
with socket.create_server(("10.9.0.1", 8000)) as listening:
    os.system("ip netns exec A bash -c 'exec 3<>/dev/tcp/10.9.0.1/8000; ss -Htmn'")
"""
    shown = guest.run(f"cat >/tmp/open.py <<'END'\n{program}END\nsudo python3 /tmp/open.py", LIMIT_S).output
    assert "rb131072," in shown, shown
    assert f"tb{FIRST_SEND_BUFFER}," in shown, shown


@pytest.fixture(scope="module")
def natively(guest):
    done = guest.run(f"cd {SHARED} && sudo slownet run /vagrant/{EXPERIMENT} --out json=- 2>errors", LIMIT_S)
    assert done.status == 0, done.output + (guest.folder / "errors").read_text()
    return law_of(done.output)


@pytest.fixture(scope="module")
def in_the_lab(tmp_path_factory):
    words = [sys.executable, "-m", "slownet.cli", "run", str(CHECKOUT / EXPERIMENT), "--place", "lab", "--out", "json=-"]
    folder = tmp_path_factory.mktemp("lab")
    return law_of(subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout)


def test_both_kernels_have_one_law(natively, in_the_lab, kernel):
    (native_run, native), (lab_run, lab) = natively, in_the_lab
    assert (native_run["clock"], native_run["kernel"]) == ("real", kernel.release)
    assert "User-Mode Linux" in lab_run["kernel"]
    assert native["measured"] == pytest.approx(lab["measured"], rel=AGREE)
    assert (native["verdict"], lab["verdict"]) == ("supported", "supported")
    for run, law in (natively, in_the_lab):
        print(f"{law['measured']:.3f} round trips per page on {run['kernel']}")


def test_the_smoke_tests_pass_under_sudo_pytest(guest):
    done = guest.run(f"cd /vagrant && sudo pytest -q -p no:cacheprovider {' '.join(SMOKE)}", LIMIT_S)
    assert done.status == 0, done.output
    assert " passed" in done.output


def test_a_users_claims_about_a_link_are_decided(guest):
    """Emulated, where a program takes long to start: two true claims are supported, and a wrong one is refuted."""
    done = guest.run(f"cd /vagrant && sudo pytest -p no:cacheprovider {CLAIMS}", LIMIT_S)
    print(done.output)
    assert "1 failed, 2 passed" in done.output, done.output
    assert "about 100ms, within 5 %: refuted: " in done.output
