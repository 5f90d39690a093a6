"""nftables' rules: one transaction, its counters, and its complaints (nft 1.1.3)."""

import subprocess

import pytest

from slownet.model.errors import ToolError
from slownet.net.nft import Rule, count, filtering

COUNTER = """table ip slownet {
	counter matched0 {
		packets 3 bytes 4500
	}
}
"""
COMPLAINT = """Error: Could not process rule: File exists
create table ip slownet
^^^^^^^^^^^^^^^^^^^^^^^^
"""
DROPS = (Rule("input", "udp sport 443", "drop"), Rule("forward", "tcp flags syn", "tcp option maxseg size set 1360"))


def test_rules_are_made_at_once_counted_and_removed(canned):
    host = canned(COUNTER)
    with filtering(host, *DROPS) as matched:
        assert matched() == (3, 3)
    made, first, second, removed = (words[1] for words in host.argv)
    assert made.split("; ")[0] == "create table ip slownet"
    assert "hook input priority 0; }" in made
    assert "chain0 udp sport 443 counter name matched0 drop" in made
    assert made.endswith("chain1 tcp flags syn counter name matched1 tcp option maxseg size set 1360")
    assert (first, second) == ("list counter ip slownet matched0", "list counter ip slownet matched1")
    assert removed == "delete table ip slownet"


def test_rules_are_removed_after_an_error(canned):
    host = canned(COUNTER)
    with pytest.raises(ZeroDivisionError), filtering(host, *DROPS):
        raise ZeroDivisionError
    assert [words[1].split()[0] for words in host.argv] == ["create", "delete"]


def test_a_complaint_is_its_first_line_and_nothing_is_removed(canned):
    host = canned("", COMPLAINT, 1)
    with pytest.raises(ToolError) as caught, filtering(host, *DROPS):
        pass
    said = "nft: Could not process rule: File exists, host 'here': commands: create table ip slownet; "
    assert str(caught.value).startswith(said)
    assert len(str(caught.value).splitlines()) == 1
    assert len(host.argv) == 1


def test_without_nft_there_is_one_line():
    class Without:
        name = "client"

        def popen(self, argv, **options):
            return subprocess.Popen(["sh", "-c", "echo 'mnexec: nft: No such file or directory' >&2; exit 1"], **options)

    with pytest.raises(ToolError, match=r"^nft is not installed, host 'client': apt-get install nftables$"):
        filtering(Without(), *DROPS).__enter__()


@pytest.mark.parametrize("text", ["", "table ip slownet {\n}\n", "packets", "packets many"])
def test_no_count_is_one_line(text):
    with pytest.raises(ToolError, match="nft printed no number of packets") as caught:
        count(text)
    assert caught.value.raw == text
