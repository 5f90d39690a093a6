"""Commands of hosts that this machine lacks: a program that does not read their output would not notice.

Each is noted where its host's shell looks for it, and in a lab whatever tries to start it (`slownet.lab.run.absent`); it is
named once the program has ended, with the package that brings it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from slownet.lab.host import native, owner
from slownet.lab.run import absent

SEARCHED = os.pathsep.join(absent.FOLDERS)
TABLE = Path(__file__).parents[1] / "data/commands.toml"
"""Commands that people run on hosts and that a lab may lack, by their Debian package."""
OF_MININET = {"netplan"}
"""The command that Mininet's NAT runs on any system that might have a network manager."""
SOUGHT_BY_MININET = {"controller", "ovs-controller", "test-controller", "ofdatapath", "ofprotocol", "ifconfig", "mnexec"}
"""The programs that Mininet looks up by which(1), to choose among the installed ones."""
NOWHERE = {
    "ofdatapath": "let an OVSSwitch do its work", "ofprotocol": "let an OVSSwitch do its work", "dpctl": "use ovs-ofctl",
}  # fmt: skip
"""Commands that no Debian package has, and what to do instead."""


def _note() -> Path:
    return owner.directory() / "absent"


def function() -> str:
    """Return the function of bash that notes a command, and prints what bash prints."""
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
    noted: list[str] = []
    with suppress(OSError):
        noted = path.read_text(encoding="utf-8", errors="replace").split("\n")
        path.unlink()
    other = absent.found()
    started = [each for each in dict.fromkeys((*noted, *other.started)) if each and each not in OF_MININET]
    asked = [each for each in other.asked if each not in (*started, *SOUGHT_BY_MININET)]
    if not started and not asked:
        return ""
    there = "in the lab" if native.inside_lab() else "on this machine"
    verb = " or ".join(filter(None, ("ran" if started else "", "looked for" if asked else "")))
    packages = _packages()
    named = [_named(each, packages) for each in dict.fromkeys((*started, *asked))]
    return f"hosts {verb} what is not {there}: {', '.join(named)}: {_fix([*started, *asked], packages)}"


def _packages() -> dict[str, str]:
    """Return the Debian package of each command that the table has."""
    import tomllib  # only an end with something missing needs it

    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return {command: package for package, commands in table.items() for command in commands.split()}


def _named(command: str, packages: Mapping[str, str]) -> str:
    """Return a command with its package, where that has another name."""
    package = packages.get(_base(command), command)
    return command if package == command else f"{command} ({package})"


def _base(command: str) -> str:
    return command.rpartition("/")[2]


def _fix(commands: Sequence[str], packages: Mapping[str, str]) -> str:
    fixes, elsewhere = [], []
    for each in commands:
        where = shutil.which(_base(each), path=SEARCHED) if "/" in each else None
        if _base(each) in NOWHERE:
            fixes.append(f"no Debian package has {_base(each)}: {NOWHERE[_base(each)]}")
        elif where:
            fixes.append(f"{each} is {where} here")
        elif "/" in each and _base(each) not in packages:
            elsewhere.append(each)
    if elsewhere:
        fixes.append(f"name files that are there in place of {', '.join(elsewhere)}")
    others = [each for each in commands if _base(each) in packages or ("/" not in each and each not in NOWHERE)]
    first = [_install(sorted({packages[_base(each)] for each in others if _base(each) in packages}))] if others else []
    return "; ".join([*first, *dict.fromkeys(fixes)])


def _install(packages: Sequence[str]) -> str:
    if not native.inside_lab():
        return f"apt-get install {' '.join(packages)}" if packages else "install the packages that have it"
    listed = ", ".join(f'"{each}"' for each in packages) or '"..."'
    return f"write packages = [{listed}] under [tool.slownet] in pyproject.toml, then slownet lab build"
