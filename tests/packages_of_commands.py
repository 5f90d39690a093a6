"""Looks every command of lib/slownet/data/commands.toml up in its package of Debian: `make test-commands`.

The packages are downloaded by apt, in the suite of the lab's image, and their lists of files read. An alternative, such as
`ftp` for `tnftp`, is made when a package is installed: a file of that name with more after it counts, or a line of the script
that registers it. A package without programs, such as default-jre-headless, stands for those that it depends on.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from slownet.lab.build.distribution import IMAGE

TABLE = Path(__file__).parents[1] / "lib/slownet/data/commands.toml"
HOOK = r"""
set -eu
export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
cd "$1"
mkdir -p lists
: >lists/absent
there=
for package in $PACKAGES; do
    if apt-cache policy "$package" | grep 'Candidate: [^(]' >/dev/null; then
        there="$there $package"
    else
        echo "$package" >>lists/absent
    fi
done
apt-get -q -o APT::Sandbox::User=root download $there >&2
for package in $there; do
    dpkg-deb -c "$package"_*.deb >"lists/$package.list"
    if ! grep -E '/s?bin/' "lists/$package.list" >/dev/null; then
        apt-get -q -o APT::Sandbox::User=root download $(apt-cache depends --no-recommends --no-suggests "$package" |
            sed -n 's/^ *|*Depends: \([a-z0-9][^<]*\)$/\1/p') >&2 || true
    fi
    for file in "$package"_*.deb $(find . -maxdepth 1 -newer "lists/$package.list" -name '*.deb'); do
        dpkg-deb -c "$file"
        dpkg-deb --ctrl-tarfile "$file" | tar -xO ./postinst 2>/dev/null || true
    done >>"lists/$package.list"
    rm -f "$package"_*.deb
done
"""


def brings(listed: str, command: str) -> bool:
    """Return whether the files of a package, and its script that runs when it is installed, have a command."""
    for line in listed.splitlines():
        path = line.partition(" -> ")[0].split(" ")[-1]
        name = path.rpartition("/")[2]
        if path.startswith("./usr/") and (name == command or name.startswith((f"{command}.", f"{command}-"))):
            return True
        if f"/bin/{command} " in f"{line} ":  # of update-alternatives
            return True
    return False


def main() -> int:
    """Print each command that is not in its package; return 1 if there is one."""
    table = tomllib.loads(TABLE.read_text())
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        command = [
            "mmdebstrap", "--variant=custom", "--format=null", f"--customize-hook=PACKAGES='{' '.join(table)}'; {HOOK}",
            f"--customize-hook=copy-out /lists {folder}", IMAGE.suite, "/dev/null",
        ]  # fmt: skip
        subprocess.run(command, check=True, cwd="/")
        lists = Path(folder, "lists")
        wrong = [f"{package}: no such package in {IMAGE.suite}" for package in (lists / "absent").read_text().split()]
        for package, commands in table.items():
            path = lists / f"{package}.list"
            listed = path.read_text(errors="replace") if path.exists() else ""
            wrong += [f"{package}: no {each}" for each in commands.split() if listed and not brings(listed, each)]
    print("\n".join(wrong) or f"{sum(len(each.split()) for each in table.values())} commands of {len(table)} packages")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
