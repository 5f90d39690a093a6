"""What a lab says is built in is built in: its name stands in the kernel's configuration."""

import re
from pathlib import Path

import pytest

from slownet.lab import kernel
from slownet.net import machine, standin

CONFIG = set(re.findall(r"^CONFIG_(\w+)=y$", (Path(kernel.__file__).parent / "linux/lab.config").read_text(), re.MULTILINE))
BY_NAME = {
    "8021q": "VLAN_8021Q",
    "ip_tables": "IP_NF_IPTABLES", "iptable_filter": "IP_NF_IPTABLES", "iptable_mangle": "IP_NF_IPTABLES",
    "iptable_nat": "IP_NF_IPTABLES", "xt_conntrack": "NETFILTER_XT_MATCH_CONNTRACK", "xt_MASQUERADE":
    "NETFILTER_XT_TARGET_MASQUERADE",
}  # fmt: skip


def symbols(name):
    upper = name.upper()
    return {BY_NAME.get(name, ""), upper, f"NET_{upper}", upper.replace("TCP_", "TCP_CONG_", 1)}


@pytest.mark.parametrize("name", machine.BUILT_IN)
def test_it_is_in_the_configuration(name):
    assert symbols(name) & CONFIG


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("s.cmd('ovs-vsctl set bridge s1 stp_enable=true')", True),
        ("os.system('ovs-vsctl set Bridge s1 rstp_enable=True')", True),
        ("s.cmd('ovs-vsctl set bridge s1 stp-enable=true')", True),
        ("s.cmd('ovs-vsctl set bridge s1 stp_enable=false')", False),
        ("stp = True", False),
    ],
)
def test_a_program_that_starts_the_spanning_tree_itself(text, found):
    assert bool(standin.OWN_STP.search(text)) is found
