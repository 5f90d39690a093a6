"""Debian's own kernel for exact labs: its cloud kernel, unpacked from the package, and the modules that a lab loads.

User-Mode Linux needs a kernel of the project's; an emulated machine boots any. Debian's has netem, Open vSwitch and all
other parts of the network that the project's kernel has, as modules. They are kept in one archive, decompressed, in the order
in which they can be loaded, so that a lab needs no programs for that and takes no time to find them.
"""

from __future__ import annotations

import json
import lzma
import re
import shutil
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from slownet.lab.build import cache, debian, digests, distribution, module_names
from slownet.lab.build.digests import TEXT, Part
from slownet.lab.build.init import archive
from slownet.lab.build.shelf import Shelf
from slownet.lab.run.clock import EXACT
from slownet.model.errors import LabError

PATTERN = distribution.IMAGE.cloud_kernels
"""Of those kernels, one a security update, the newest one is taken."""
MODULES = (
    # the image, the shares, disks
    "nfit", "nd_pmem", "squashfs", "overlay", "loop", "dm_delay", "dm_flakey",
    # links, switches, tunnels
    "veth", "tun", "dummy", "bridge", "8021q", "vxlan", "macvlan", "ifb", "openvswitch",
    # queues
    "sch_netem", "sch_htb", "sch_tbf", "sch_fq", "sch_cake", "sch_codel", "sch_pie", "sch_hfsc", "sch_red", "sch_sfq",
    "sch_prio", "sch_drr", "sch_ets", "sch_fq_pie", "sch_choke", "sch_ingress",
    # filters, actions
    "cls_basic", "cls_fw", "cls_u32", "cls_matchall", "cls_flower", "cls_route",
    "em_cmp", "em_nbyte", "em_u32", "em_meta", "em_text", "ts_kmp", "ts_bm", "ts_fsm",
    "act_gact", "act_mirred", "act_pedit", "act_police", "act_skbedit", "act_vlan",
    # TCP, and what ss asks
    "tcp_bbr", "tcp_dctcp", "tcp_vegas", "tcp_westwood", "tcp_htcp", "tcp_illinois", "tcp_bic", "tcp_highspeed", "tcp_hybla",
    "tcp_lp", "tcp_scalable", "tcp_veno", "tcp_yeah",
    "inet_diag", "tcp_diag", "udp_diag", "mptcp_diag", "af_packet_diag", "unix_diag",
    # nft
    "nf_tables", "nf_nat", "nft_ct", "nft_nat", "nft_masq", "nft_reject", "nft_reject_inet", "nft_reject_ipv4",
    "nft_reject_ipv6", "nft_chain_nat", "nft_limit", "nft_log", "nft_numgen", "nft_redir", "nf_log_syslog",
    # iptables, arptables and ebtables, which speak to nf_tables
    "nft_compat", "ipt_REJECT", "ip6t_REJECT", "xt_tcpudp", "xt_nat", "xt_mark", "xt_connmark", "xt_CLASSIFY", "xt_DSCP",
    "xt_HL", "xt_LOG", "xt_MASQUERADE", "xt_NETMAP", "xt_REDIRECT", "xt_TCPMSS", "xt_addrtype", "xt_comment", "xt_connlimit",
    "xt_conntrack", "xt_dscp", "xt_hashlimit", "xt_hl", "xt_iprange", "xt_length", "xt_limit", "xt_mac", "xt_multiport",
    "xt_owner", "xt_pkttype", "xt_recent", "xt_state", "xt_statistic", "xt_string", "xt_tcpmss", "xt_u32",
)  # fmt: skip
"""The modules of Debian's kernel that `linux/lab.config` builds into the project's kernel; dependencies come along."""
SIGNED, SIGNATURE_HEAD = b"~Module signature appended~\n", 12
"""The end of a signed module, and how many bytes are before it; the last four of them are the signature's size."""
VMLINUZ, ARCHIVE, NAMES, FACTS = "vmlinuz", "modules.cpio", "modules", "kernel.json"
WHAT = "unpacking Debian's kernel"


@dataclass(frozen=True)
class Kernel:
    """Debian's kernel: the compressed kernel, and its modules as an initial RAM disk."""

    path: Path
    archive: Path
    release: str
    package: str
    kind: str = EXACT

    @property
    def description(self) -> str:
        return f"{self.release} (Debian, {self.package})"

    @cached_property
    def modules(self) -> Mapping[str, str]:
        """The modules that a lab loads and those that are built in, by their names and aliases."""
        return module_names.parsed(self.path.with_name(NAMES).read_text(encoding="utf-8"))


def key() -> str:
    """Return what a kernel of this version is kept under."""
    return cache.key(PATTERN, *MODULES, *module_names.NFT_SERVES)


def find() -> Kernel | None:
    """Return the kernel, or None if it was not unpacked on this machine. Raises DamagedError."""
    return SHELF.find(key())


def build() -> Kernel:
    """Return the kernel; fetch and unpack its package if necessary (half a minute). Raises LabError."""
    return SHELF.make(key(), _build)


def _load(folder: Path) -> Kernel:
    facts = digests.facts(folder / FACTS, PART, {"release": TEXT, "package": TEXT})
    return Kernel(folder / VMLINUZ, folder / ARCHIVE, facts["release"], facts["package"])


PART = Part("the kernel of exact labs", (VMLINUZ, ARCHIVE, NAMES, FACTS))
SHELF = Shelf("exact-kernel", PART, _load)


def _build(folder: Path) -> None:
    work = folder / "work"
    work.mkdir()
    log = work / "kernel.log"
    deb = debian.download(PATTERN, 1, work, log)
    tree = work / "tree"
    cache.run(["dpkg-deb", "-x", deb, tree], log, WHAT, hints=debian.HINTS)
    unpack(tree, deb.name.removesuffix(".deb"), folder)
    shutil.rmtree(work)


def unpack(tree: Path, package: str, folder: Path) -> None:
    """Keep what a lab needs of an unpacked package. Raises LabError if something is missing."""
    found = [each for name in ("lib/modules", "usr/lib/modules") for each in (tree / name).glob("*") if each.is_dir()]
    if len(found) != 1:
        raise LabError(f"{package} has no modules of one kernel", where=str(tree))
    release = found[0].name
    shutil.copyfile(tree / "boot" / f"vmlinuz-{release}", folder / VMLINUZ)
    files = {module_names.plain(each.name.partition(".ko")[0]): each for each in found[0].rglob("*.ko*")}
    names = module_names.built_in(found[0])
    content = in_order(MODULES, files, names)
    names |= {name: module_names.aliases(module) for name, module in content.items()}
    table = module_names.text(names)
    paths = [f"modules/{number:03}-{name}.ko" for number, name in enumerate(content)]
    listed = "".join(f"/{each}\n" for each in paths).encode()
    entries = {"modules/list": listed, "modules/names": table.encode(), **dict(zip(paths, content.values(), strict=True))}
    (folder / ARCHIVE).write_bytes(archive(entries, folders=["modules"]))
    (folder / NAMES).write_text(table, encoding="utf-8")
    facts = {"format": digests.FORMAT, "release": release, "package": package}
    (folder / FACTS).write_text(json.dumps(facts, indent=1) + "\n")


def in_order(wanted: Iterable[str], files: Mapping[str, Path], built_in: Iterable[str] = ()) -> dict[str, bytes]:
    """Return modules and those that they need, {name: content}, each after those that it needs. Raises LabError."""
    found: dict[str, bytes] = {}
    there = set(built_in)

    def take(name: str) -> None:
        if name in found or name in there:
            return
        if name not in files:
            raise LabError(f"Debian's kernel has no module {name}", fix="an older version of its package may have it")
        content = _content(files[name])
        for each in needed(content):
            take(each)
        found[name] = content

    for each in wanted:
        take(each)
    return found


def needed(module: bytes) -> list[str]:
    """Return the names of the modules that a module needs, from its .modinfo."""
    said = re.search(rb"(?:^|\0)depends=([^\0]*)\0", module)
    return [module_names.plain(each) for each in said[1].decode().split(",") if each] if said else []


def _content(file: Path) -> bytes:
    """Return a module without its signature, which Debian's kernel does not ask for, and which takes time to check."""
    content = lzma.decompress(file.read_bytes()) if file.suffix == ".xz" else file.read_bytes()
    if not content.endswith(SIGNED):
        return content
    end = len(content) - len(SIGNED)
    (size,) = struct.unpack(">I", content[end - 4 : end])
    return content[: end - SIGNATURE_HEAD - size]
