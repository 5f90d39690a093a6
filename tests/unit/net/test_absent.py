"""Commands that hosts lack are named once, with what brings them."""

import subprocess
import tomllib

import pytest

from slownet.lab.host import native, owner
from slownet.lab.run import absent
from slownet.net import missing_commands


@pytest.fixture(autouse=True)
def mine(tmp_path, monkeypatch):
    monkeypatch.setattr(owner, "directory", lambda: tmp_path)
    monkeypatch.setattr(owner.Owner, "directory", tmp_path)
    monkeypatch.setattr(absent, "NOTES", tmp_path / "of-the-library")


def in_lab(monkeypatch, inside=True):
    monkeypatch.setattr(native, "inside_lab", lambda: inside)


def bash(line):
    return subprocess.run(["bash", "-c", f"{missing_commands.function()}; {line}"], capture_output=True, text=True, check=False)


def test_a_shell_says_what_bash_says_and_notes_it(monkeypatch):
    in_lab(monkeypatch)
    done = bash("no-such-command a b")
    assert (done.returncode, done.stderr) == (127, "bash: no-such-command: command not found\n")
    assert bash("true; no-such-command || nmap-of-nobody").returncode == 127
    assert missing_commands.line() == (
        "hosts ran what is not in the lab: no-such-command, nmap-of-nobody: "
        'write packages = ["..."] under [tool.slownet] in pyproject.toml, then slownet lab build'
    )
    assert missing_commands.line() == "", "it was said"


def test_known_commands_come_with_their_packages(monkeypatch):
    for each in ("dig", "nmap", "dig", "nslookup", "netplan"):
        missing_commands.note(each)
    in_lab(monkeypatch)
    assert missing_commands.line() == (
        "hosts ran what is not in the lab: dig (bind9-dnsutils), nmap, nslookup (bind9-dnsutils): "
        'write packages = ["bind9-dnsutils", "nmap"] under [tool.slownet] in pyproject.toml, then slownet lab build'
    )
    missing_commands.note("hping3")
    in_lab(monkeypatch, inside=False)
    assert missing_commands.line() == "hosts ran what is not on this machine: hping3: apt-get install hping3"


def test_what_no_package_has_is_said_with_what_does_its_work(monkeypatch):
    for each in ("ofdatapath", "fping", "ofprotocol"):
        missing_commands.note(each)
    in_lab(monkeypatch, inside=False)
    assert missing_commands.line() == (
        "hosts ran what is not on this machine: ofdatapath, fping, ofprotocol: apt-get install fping; "
        "no Debian package has ofdatapath: let an OVSSwitch do its work; "
        "no Debian package has ofprotocol: let an OVSSwitch do its work"
    )


def test_nothing_is_said_of_nothing():
    assert missing_commands.line() == ""


def test_whole_paths_come_with_packages_and_places(monkeypatch, tmp_path):
    in_lab(monkeypatch)
    (tmp_path / "of-the-library").write_text(
        "E /usr/lib/quagga/zebra\nE /opt/mine/daemon\nE /usr/sbin/ls\nN wg\nW keepalived\nW controller\n"
    )
    assert missing_commands.line() == (
        "hosts ran or looked for what is not in the lab: /usr/lib/quagga/zebra (frr), /opt/mine/daemon, /usr/sbin/ls, "
        'wg (wireguard-tools), keepalived: write packages = ["frr", "keepalived", "wireguard-tools"] under [tool.slownet] in '
        "pyproject.toml, then slownet lab build; /usr/sbin/ls is /usr/bin/ls here; name files that are there in place of "
        "/opt/mine/daemon"
    )


def test_the_table_has_each_command_once():
    rows = tomllib.loads(missing_commands.TABLE.read_text()).values()
    commands = [each for row in rows for each in row.split()]
    assert len(commands) == len(set(commands)) > 200
