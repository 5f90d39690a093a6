"""Compares `sysctl -a` of a host with that of a new network namespace on Debian 13's own kernel.

The latter is recorded in stock_sysctls.txt, which `make test-stock-kernel` compares with that kernel; the reasons of all
differences are in lib/slownet/data/sysctls.toml.
"""

import re
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

RECORD = Path(__file__).with_name("stock_sysctls.txt")
REASONS = Path(__file__).parents[2] / "lib" / "slownet" / "data" / "sysctls.toml"
OF_AN_INTERFACE = re.compile(r"net\.ipv[46]\.(conf|neigh)\.(?!all\.|default\.|lo\.)")


def read(text):
    """Return settings by name, without those of interfaces, which have names of their own."""
    pairs = (line.partition(" =") for line in text.splitlines() if " =" in line)
    return {name: " ".join(value.split()) for name, _, value in pairs if not OF_AN_INTERFACE.match(name)}


def listed():
    """Return the patterns of names, in order, and whether each is of a state rather than of a setting."""
    entries = tomllib.loads(REASONS.read_text())["different"]
    assert all(each["reason"] for each in entries)
    return {name: each.get("state", False) for each in entries for name in each["names"]}


def without_states(settings):
    """Return the settings that are the same whenever they are read."""
    states = [pattern for pattern, state in listed().items() if state]
    return {name: value for name, value in settings.items() if not any(fnmatchcase(name, each) for each in states)}


def compare(stock, host):
    """Return the differences that are not listed, and the listed patterns that no difference has."""
    names = [name for name in sorted(stock.keys() | host.keys()) if stock.get(name) != host.get(name)]
    patterns, used, unlisted = listed(), set(), []
    for name in names:
        found = next((each for each in patterns if fnmatchcase(name, each)), None)
        if found is None:
            unlisted.append(f"{name}: {stock.get(name)} on Debian, {host.get(name)} here")
        used.add(found)
    return unlisted, [each for each, state in patterns.items() if not state and each not in used]
