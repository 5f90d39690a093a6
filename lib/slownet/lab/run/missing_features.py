"""Features that the lab's kernel was asked for and lacks, in one line at the end, like missing programs.

A kernel with modules would have loaded them: a tunnel, a queue, a congestion control. The lab's has none, and keeps a list of
the names that it would have given to modprobe (`linux/7/0016-*`). Of these the wide kernel's modules are named here, and what
Linux itself has given up. Other names, which programs ask for to see what there is, are not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Protocol

from slownet.lab.build import kernel, module_names
from slownet.lab.build.kernel import WIDE
from slownet.lab.run.clock import EXACT
from slownet.model.options import CLOCK, KERNEL

GONE = {
    "net-sch-cbq": "cbq (gone since 6.3)",
    "net-sch-dsmark": "dsmark (gone since 6.3)",
    "net-sch-atm": "the queue atm (gone since 6.3)",
    "net-cls-rsvp": "the classifier rsvp (gone since 6.3)",
    "net-cls-tcindex": "the classifier tcindex (gone since 6.3)",
    "tcp_probe": "tcp_probe (gone since 4.16: the event tcp:tcp_probe has taken its place)",
    "ipt_ULOG": "iptables' ULOG (gone since 3.17: NFLOG has taken its place)",
    "dccp": "DCCP (gone since 6.16)",
    "net-pf-2-proto-33-type-6": "DCCP (gone since 6.16)",
    "ipx": "IPX (gone since 5.15)",
}
"""Features that Linux has removed, by name, and the release without them."""
SYSCTLS = {
    "net/mpls": "mpls_router", "net/mpls/*": "mpls_router", "net/bridge": "br_netfilter", "net/bridge/*": "br_netfilter",
    "net/ipv4/vs": "ip_vs", "net/ipv4/vs/*": "ip_vs", "net/sctp": "sctp", "net/sctp/*": "sctp",
    "net/ipv4/tcp_ao_keys": "tcp_ao", "net/ipv6/conf/*/rpl_seg_enabled": "rpl",
}  # fmt: skip
"""The modules that bring sysctls, by patterns of their paths."""
OF_THE_MACHINE = {"net/ipv4/tcp_low_latency", "net/core/default_qdisc"}
"""Sysctls that coursework sets on hosts, and that Linux has in a machine's first network namespace alone."""
OPTIONS = {
    "fs-tracefs": "events (tracefs)", "fs-debugfs": "debugfs", "fs-bpf": "eBPF", "net-cls-bpf": "eBPF", "net-act-bpf": "eBPF",
    "rtnl-lwt-SEG6": "seg6", "rtnl-lwt-SEG6LOCAL": "seg6", "rtnl-lwt-RPL": "rpl", "nft-chain-5-filter": "nf_tables_netdev",
    "net-sch-dualpi2": "sch_dualpi2",
}  # fmt: skip
"""Features of the wide kernel that Debian builds in, or has as options of modules that the base kernel has without them."""
KIND = re.compile(r"(?:rtnl-link-|rtnl-lwt-|net-sch-|net-cls-|net-act-)(?P<kind>[\w-]+)|(?P<target>(?:ip|ip6|x|arp|eb)t_\w+)")
"""Requests that only programs make which need that very feature."""
MODPROBE = "modprobe-"
"""Before what a program asked for by modprobe, in the kernel's list."""
LOOKED_FOR = {
    "af_alg", "algif_hash", "algif_skcipher", "algif_aead", "tls", "netlink_diag", "raw_diag", "sctp_diag", "tipc_diag",
    "xsk_diag", "nfnetlink_cttimeout", "rtnl-link-ovs_geneve",
}  # fmt: skip
"""Features that programs look for, and do without: libraries, `ss`, which asks for every kind of socket, and Open vSwitch."""


BUILT = KERNEL.in_command("lab build", "wide")
LACKING = f"the lab's kernel lacks {{}}: the wide one has it ({BUILT}, then {KERNEL.typed} wide)"
LACKING_EXACT = (
    f"the exact clock's kernel lacks {{}}: the wide one of the virtual clock has it ({BUILT}, then "
    f"{CLOCK.typed} virtual {KERNEL.typed} wide)"
)
LACKING_BOTH = f"the exact clock's kernel lacks {{}}: those of the virtual clock have it ({CLOCK.typed} virtual)"
UNKNOWN = "no kernel of the lab has {}"
GIVEN_UP = "Linux itself has no more {}"
OF_A_MACHINE = "hosts of Linux do not have {}, only a machine as a whole"
NOT_KNOWN = "which of these the lab's kernel has is not known, because {1} cannot be read: {0}"
TEXTS = (LACKING, LACKING_BOTH, UNKNOWN, GIVEN_UP, OF_A_MACHINE)
ONLY_VIRTUAL = {
    "sit": "sit", "netdev-sit0": "sit", "rtnl-link-sit": "sit", "net-sch-cake_mq": "cake_mq",
}  # fmt: skip
"""Features of the base kernel that exact labs lack: newer ones, and sit, which would give each host a tunnel unasked."""


class HasModules(Protocol):
    """A kernel of any kind: its file, and its modules by their names and aliases. Raises OSError where they cannot be read."""

    @property
    def path(self) -> Path: ...
    @property
    def kind(self) -> str: ...
    @property
    def modules(self) -> Mapping[str, str]: ...


def line(asked: Sequence[str], has: HasModules) -> str:
    """Return one line that names what a lab's kernel lacks of what was asked for, and what brings it; or nothing.

    Where the table of its modules cannot be read, it names all that was asked for.
    """
    try:
        there = has.modules
    except OSError:
        return NOT_KNOWN.format(", ".join(dict.fromkeys(each.removeprefix(MODPROBE) for each in asked)), has.path.parent)
    found: dict[str, dict[str, bool]] = {text: {} for text in TEXTS}
    for each in asked:
        if named := _named(each, there, has.kind):
            found[named[0]][named[1]] = True
    if has.kind == WIDE:
        del found[LACKING]
    in_words = {LACKING: LACKING_EXACT} if has.kind == EXACT else {}
    return "; ".join(in_words.get(text, text).format(", ".join(names)) for text, names in found.items() if names)


def _named(asked: str, there: Mapping[str, str], kind: str) -> tuple[str, str] | None:
    """Return which text names what was asked for, and how it is called there; None if it exists, or only looked for."""
    name = asked.removeprefix(MODPROBE)
    path = name.removeprefix("sysctl-") if name.startswith("sysctl-") else ""
    if name in GONE:
        return GIVEN_UP, GONE[name]
    if kind == EXACT and name in ONLY_VIRTUAL:
        return LACKING_BOTH, ONLY_VIRTUAL[name]
    if path:
        return (OF_A_MACHINE, path.replace("/", ".")) if path in OF_THE_MACHINE else _lacking(_sysctl(path))
    if name in LOOKED_FOR or (_module(name, there) and name not in OPTIONS):
        return None
    if module := OPTIONS.get(name) or _module(name, wide_modules()):
        return _lacking(module)
    if found := KIND.fullmatch(name):
        return UNKNOWN, found["kind"] or found["target"]
    return (UNKNOWN, name) if name != asked else None


def _lacking(module: str) -> tuple[str, str] | None:
    return (LACKING, module) if module and module not in LOOKED_FOR else None


def _sysctl(path: str) -> str:
    return next((module for pattern, module in SYSCTLS.items() if fnmatchcase(path, pattern)), "")


def _module(name: str, known: Mapping[str, str]) -> str:
    """Return the module of a name or an alias; empty if none is known."""
    found = known.get(name) or known.get(name.replace("-", "_"))
    return found or next((known[each] for each in known if "*" in each and fnmatchcase(name, each)), "")


@cache
def wide_modules() -> Mapping[str, str]:
    """Return the modules that only the wide kernel has, by their names and aliases."""
    return module_names.parsed((kernel.FILES / kernel.NAMES).read_text(encoding="utf-8"))
