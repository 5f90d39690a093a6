"""Tables of a kernel's modules, by which what it lacks is named."""

from slownet.lab.build import module_names


def test_the_modules_that_are_built_in_are_listed_with_what_else_they_are_called(tmp_path):
    (tmp_path / "modules.builtin").write_text(
        "kernel/net/ipv4/ip_gre.ko\nkernel/net/ipv4/tcp_bbr.ko\nkernel/net/8021q/8021q.ko\n"
    )
    texts = ["ip_gre.license=GPL", "ip_gre.alias=rtnl-link-gre", "ip_gre.alias=netdev-gre0", "ip_gre.alias=netdev-gre0"]
    (tmp_path / "modules.builtin.modinfo").write_bytes("\0".join([*texts, "nf-nat.alias=nf-nat-2", ""]).encode())
    table = module_names.text(module_names.built_in(tmp_path))
    assert table.splitlines() == ["8021q", "ip_gre netdev-gre0 rtnl-link-gre", "nf_nat nf-nat-2", "tcp_bbr"]


def test_a_table_names_each_module_by_all_that_it_is_called():
    names = module_names.parsed("# of tunnels\nip_gre netdev-gre0\n\ntcp_bbr\n")
    assert names == {"ip_gre": "ip_gre", "netdev-gre0": "ip_gre", "tcp_bbr": "tcp_bbr"}


def test_iptables_needs_no_modules_of_its_own_where_nf_tables_serves_it():
    names = module_names.parsed(module_names.text({"nft_compat": [], "ip_tables": []}))
    assert (names["iptable_nat"], names["ip_tables"]) == ("nft_compat", "ip_tables")


def test_the_aliases_of_a_file():
    assert module_names.aliases(b"\x7fELF\0license=GPL\0alias=net-sch-a\0alias=b\0depends=") == ["net-sch-a", "b"]
