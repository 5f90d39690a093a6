"""Tables of a kernel's modules: a line each, its name and its aliases, by which programs and the kernel ask modprobe for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

TABLES = ("filter", "mangle", "nat", "raw")
NFT = "nft_compat"
NFT_SERVES = ("ip_tables", "ip6_tables", *(f"{ip}table_{name}" for ip in ("ip", "ip6") for name in TABLES))
"""Modules that programs ask for before they run iptables, and that Debian's does not need: it speaks to nf_tables."""
BUILT_IN = re.compile(r"(?P<module>[\w-]+)\.alias=(?P<alias>\S+)")
OWN = re.compile(rb"\0alias=([^\0\s]+)")


def plain(name: str) -> str:
    """Return a module's name with underscores, as the kernel takes both.

    >>> plain("nft-compat")
    'nft_compat'
    """
    return name.replace("-", "_")


def built_in(folder: Path) -> dict[str, list[str]]:
    """Return the modules that a compiled kernel has built in, with their aliases.

    folder: where `modules.builtin` and, if the kernel was not only cleaned, `modules.builtin.modinfo` are.
    """
    listed = (folder / "modules.builtin").read_text(encoding="utf-8").split()
    found: dict[str, list[str]] = {plain(Path(each).name.removesuffix(".ko")): [] for each in listed}
    for each in (folder / "modules.builtin.modinfo").read_bytes().decode(errors="replace").split("\0"):
        if alias := BUILT_IN.fullmatch(each):
            found.setdefault(plain(alias["module"]), []).append(alias["alias"])
    return found


def aliases(module: bytes) -> list[str]:
    """Return the aliases of a module, from its content."""
    return [each.decode(errors="replace") for each in OWN.findall(module)]


def text(modules: Mapping[str, Sequence[str]]) -> str:
    """Return the table of modules and their aliases."""
    served = [name for name in NFT_SERVES if name not in modules]
    table = {name: {*others, *(served if name == NFT else [])} for name, others in modules.items()}
    return "".join(f"{' '.join([name, *sorted(others)])}\n" for name, others in sorted(table.items()))


def parsed(table: str) -> dict[str, str]:
    """Return modules by their names and aliases.

    >>> parsed("# of tunnels\\nip_gre rtnl-link-gre\\n")
    {'ip_gre': 'ip_gre', 'rtnl-link-gre': 'ip_gre'}
    """
    lines = (line.split() for line in table.splitlines() if not line.startswith("#"))
    return {name: words[0] for words in lines if words for name in words}
