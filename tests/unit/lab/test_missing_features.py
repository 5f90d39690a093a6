"""Which names that a kernel would have given to modprobe are named at the end, and with what that brings them."""

from pathlib import Path

import pytest

from slownet.lab.build import kernel
from slownet.lab.build.kernel import BASE, WIDE, Kernel
from slownet.lab.run import missing_features
from slownet.lab.run.clock import EXACT


@pytest.fixture
def has(tmp_path):
    def has(*lines, kind=BASE):
        (tmp_path / "modules").write_text("".join(f"{line}\n" for line in lines))
        return Kernel(tmp_path / "linux", "7.3.4", "linux-source-7.3", kind)

    return has


def lacks(*modules):
    brings = "the wide one has it (slownet lab build --kernel wide, then --kernel wide)"
    return f"the lab's kernel lacks {', '.join(modules)}: {brings}"


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        (["rtnl-link-wireguard"], lacks("wireguard")),
        (["rtnl-link-vrf", "net-sch-gred", "ipt_TEE"], lacks("vrf", "sch_gred", "xt_TEE")),
        (["modprobe-wireguard", "rtnl-link-wireguard"], lacks("wireguard")),
        (["modprobe-ip-gre"], lacks("ip_gre")),
        (["sysctl-net/mpls"], lacks("mpls_router")),
        (["sysctl-net/mpls/platform_labels"], lacks("mpls_router")),
        (["fs-debugfs"], lacks("debugfs")),
        (["fs-bpf", "fs-tracefs"], lacks("eBPF", "events (tracefs)")),
        (["nft-chain-5-filter"], lacks("nf_tables_netdev")),
        (["net-pf-10-proto-132-type-5", "net-pf-10-proto-132"], lacks("sctp")),
        (["net-sch-cbq"], "Linux itself has no more cbq (gone since 6.3)"),
        (["modprobe-tcp_probe"],
         "Linux itself has no more tcp_probe (gone since 4.16: the event tcp:tcp_probe has taken its place)"),
        (["rtnl-link-hidden", "modprobe-no_such_module"], "no kernel of the lab has hidden, no_such_module"),
        (["sysctl-net/ipv4/tcp_low_latency"],
         "hosts of Linux do not have net.ipv4.tcp_low_latency, only a machine as a whole"),
        (["rtnl-link-vrf", "net-sch-cbq"], f"{lacks('vrf')}; Linux itself has no more cbq (gone since 6.3)"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named_with_what_brings_it(has, asked, line):
    assert missing_features.line(asked, has("tcp_bbr")) == line


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        (["rtnl-link-wireguard", "modprobe-ip_gre"], "the exact clock's kernel lacks wireguard, ip_gre: the wide one of the "
         "virtual clock has it (slownet lab build --kernel wide, then --clock virtual --kernel wide)"),
        (["netdev-sit0", "net-sch-cake_mq"],
         "the exact clock's kernel lacks sit, cake_mq: those of the virtual clock have it (--clock virtual)"),
        (["net-sch-cbq"], "Linux itself has no more cbq (gone since 6.3)"),
        (["modprobe-no_such_module"], "no kernel of the lab has no_such_module"),
        (["modprobe-tcp_bbr", "netdev-eth7", "net-pf-38"], ""),
    ],
)  # fmt: skip
def test_what_the_kernel_of_the_exact_clock_lacks(has, asked, line):
    assert missing_features.line(asked, has("tcp_bbr", kind=EXACT)) == line


@pytest.mark.parametrize(
    "asked",
    [
        [],
        ["modprobe-tcp_bbr"],  # which is built in
        ["netdev-eth7", "eth7"],  # an interface that is not there
        ["rtnl-link-ip-gre-no-kind"],
        ["net-pf-38"],  # libraries look for the kernel's ciphers, and do without
        ["tcp-ulp-tls"],
        ["net-pf-16-proto-4-type-40"],  # ss asks for every kind of socket
        ["sysctl-net/ipv4/no_such_thing"],  # sysctl says that itself
        ["fs-fuse"],
    ],
)
def test_what_programs_only_look_for_is_not_named(has, asked):
    assert missing_features.line(asked, has("tcp_bbr", "ip_gre rtnl-link-ip-gre-no-kind")) == ""


def test_of_the_wide_kernel_only_what_it_lacks_is_named(has):
    wide = has("vrf rtnl-link-vrf", kind=WIDE)
    assert missing_features.line(["rtnl-link-vrf", "sysctl-net/mpls"], wide) == ""
    assert missing_features.line(["rtnl-link-hidden"], wide) == "no kernel of the lab has hidden"


def test_an_alias_may_be_a_pattern(has):
    assert missing_features.line(["nf-nat-helper-x"], has("nf_nat nf-nat-helper-*")) == ""


def test_the_base_kernel_has_none_of_the_modules_that_only_the_wide_one_has():
    """The list names what wide.config adds: each of its modules stands in a line of its own, sorted."""
    lines = (Path(kernel.FILES) / kernel.NAMES).read_text().splitlines()
    names = [line.split()[0] for line in lines if not line.startswith("#")]
    assert names == sorted(set(names))
    assert len(names) > 200


def test_where_the_table_of_modules_cannot_be_read_all_that_was_asked_for_is_named(has, tmp_path):
    unreadable = has("tcp_bbr")
    unreadable.path.with_name(kernel.MODULES).unlink()
    said = missing_features.line(["modprobe-tcp_bbr", "net-sch-cbq", "net-sch-cbq"], unreadable)
    assert said == (
        f"which of these the lab's kernel has is not known, because {unreadable.path.parent} cannot be read: "
        "tcp_bbr, net-sch-cbq"
    )
