"""A program that starts the spanning tree itself is found by its text."""

import pytest

from slownet.net import standin


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
