"""Commands of hosts that this machine lacks: a program that does not read their output would not notice.

Each is noted where its host's shell looks for it, and named once the program has ended, with the package that brings it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from slownet.lab import native, owner

COMMANDS = {
    "aircrack-ng": "airmon-ng", "arp-scan": "arp-scan", "arping": "arping", "bind9": "named",
    "bind9-dnsutils": "dig nslookup", "bind9-host": "host", "bird2": "bird", "bwm-ng": "bwm-ng", "conntrack": "conntrack",
    "default-jre-headless": "java", "dsniff": "arpspoof dsniff", "ebtables": "ebtables", "ettercap-text-only": "ettercap",
    "ffmpeg": "ffmpeg", "fping": "fping", "frr": "bgpd ospfd ripd zebra", "ftp": "ftp", "gcc": "gcc", "git": "git",
    "hping3": "hping3", "htop": "htop", "iftop": "iftop", "iptraf-ng": "iptraf", "isc-dhcp-client": "dhclient",
    "isc-dhcp-server": "dhcpd", "iw": "iw", "lsof": "lsof", "make": "make", "mosquitto": "mosquitto",
    "mosquitto-clients": "mosquitto_pub mosquitto_sub", "mtr-tiny": "mtr", "ncat": "ncat", "netperf": "netperf netserver",
    "ngrep": "ngrep", "nload": "nload", "nmap": "nmap nping", "nodejs": "node", "python3-pip": "pip pip3",
    "python3-scapy": "scapy", "radvd": "radvd", "screen": "screen", "siege": "siege", "snmpd": "snmpd", "snort": "snort",
    "tcpreplay": "tcpreplay", "tftp-hpa": "tftp", "tmux": "tmux", "tshark": "tshark", "udhcpc": "udhcpc",
    "udhcpd": "udhcpd", "vim": "vim", "vlc-bin": "vlc", "vsftpd": "vsftpd", "whois": "whois", "xterm": "xterm",
}  # fmt: skip
"""Commands that people run on hosts and that a lab does not have, by their Debian package."""
PACKAGES = {command: package for package, commands in COMMANDS.items() for command in commands.split()}
OF_MININET = {"netplan"}
"""What Mininet's NAT runs wherever there might be a network manager."""
NOWHERE = {
    "ofdatapath": "let an OVSSwitch do its work", "ofprotocol": "let an OVSSwitch do its work", "dpctl": "use ovs-ofctl",
}  # fmt: skip
"""Commands that no Debian package has, and what to do instead."""


def _note() -> Path:
    return owner.directory() / "absent"


def function() -> str:
    """Return the function of bash that notes a command, and says what bash says."""
    return (
        "command_not_found_handle() { printf '%s\\n' \"$1\" >>" + str(_note()) + " 2>/dev/null; "
        "printf 'bash: %s: command not found\\n' \"$1\" >&2; return 127; }"
    )


def note(command: str) -> None:
    """Note a command that was not found."""
    with suppress(OSError), _note().open("a", encoding="utf-8") as file:
        file.write(f"{command}\n")


def line() -> str:
    """Return one line that names all commands that were not found since the last call, and what brings them; or nothing."""
    path = owner.this().directory / "absent"
    try:
        noted = path.read_text(encoding="utf-8", errors="replace").split("\n")
        path.unlink()
    except OSError:
        return ""
    found = [each for each in dict.fromkeys(noted) if each and each not in OF_MININET]
    there = "in the lab" if native.inside_lab() else "on this machine"
    what = f"hosts ran what is not {there}: {', '.join(found)}"
    return f"{what}: {_fix(found)}" if found else ""


def _fix(commands: Sequence[str]) -> str:
    fixes = dict.fromkeys(f"no Debian package has {each}: {NOWHERE[each]}" for each in commands if each in NOWHERE)
    others = [each for each in commands if each not in NOWHERE]
    return "; ".join([*([_install(sorted({PACKAGES[each] for each in others if each in PACKAGES}))] if others else []), *fixes])


def _install(packages: Sequence[str]) -> str:
    if not native.inside_lab():
        return f"apt-get install {' '.join(packages)}" if packages else "install the packages that have it"
    listed = ", ".join(f'"{each}"' for each in packages) or '"..."'
    return f"write packages = [{listed}] under [tool.slownet] in pyproject.toml, then slownet lab build"
