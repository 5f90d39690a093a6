"""The probes against links that are true, and against links that were changed behind the network's back."""

import pytest

from slownet.calibration.carried import carried
from slownet.calibration.inside import ends
from slownet.calibration.judge import judge
from slownet.calibration.matrix import Case, choose, matrix
from slownet.calibration.probes import PROBES
from slownet.lab import native
from slownet.net import Network
from slownet.topologies import TwoHosts


@pytest.fixture(scope="module")
def pair():
    with Network(TwoHosts) as network:
        network.mininet.staticArp()
        yield network


def measured(pair, case, *meddling):
    """The rows of a case; the lines of tc are run after its link was set."""
    with pair.link("client", "server").set(**case.fields):
        for line in meddling:
            output, errors, status = pair["client"].pexec(f"tc {line}")
            assert status == 0, errors or output
        numbers = PROBES[case.probe](ends(pair), case)
        if meddling:  # as it was, or the network would not find what it left
            pair.link("client", "server").set(ping=False, **case.fields)
    return judge([(case, numbers)], native.cpu_is_free())


@pytest.mark.parametrize("case", choose(matrix(), quick=True), ids=lambda case: case.name)
def test_a_true_link_is_ok(pair, case):
    rows = measured(pair, case)
    assert rows
    assert all(row.ok for row in rows), rows


CABLE = "qdisc change dev client-eth0 root handle 51: netem limit 100000"
BOTTLENECK = "qdisc change dev client-eth0 parent 51: handle 52: netem limit"
MEDDLING = [
    (Case("", "echo", {"delay": "5ms"}, 11), f"{CABLE} delay 5.5ms"),
    (Case("", "spread", {"delay": "50ms", "jitter": "5ms", "seed": 1}, 4000), f"{CABLE} delay 50ms 4ms"),
    (Case("", "numbers", {"loss": "5%", "seed": 1}, 10_000), f"{CABLE} loss 7%"),
    (Case("", "numbers", {"loss": "5%", "seed": 1}, 10_000), f"{CABLE} loss gemodel 0.66% 12.5%"),
    (Case("", "numbers", {"loss": "5% in bursts of 8", "seed": 1}, 40_000), f"{CABLE} loss gemodel 1.32% 25%"),
    (Case("", "numbers", {"duplicate": "10%", "seed": 1}, 10_000), f"{CABLE} duplicate 8%"),
    (Case("", "damage", {"corrupt": "10%", "seed": 1}, 10_000), f"{CABLE} corrupt 8%"),
    (Case("", "early", {"delay": "50ms", "reorder": "25%", "seed": 1}, 4000), f"{CABLE} delay 50ms reorder 15%"),
    (Case("", "transfer", {"rate": "2Mbit"}, 250_000), f"{BOTTLENECK} 10 rate 2.1Mbit"),
    (Case("", "crossing", {"rate": "2Mbit"}, 5), f"{BOTTLENECK} 10 rate 1.5Mbit"),
    (Case("", "fill", {"rate": "10Mbit", "queue": "100 packets"}, 600), f"{BOTTLENECK} 110 rate 10Mbit"),
    (Case("", "kept", {"delay": "200ms", "queue": "50 packets"}, 600), f"{CABLE.replace('100000', '51')} delay 200ms"),
]


@pytest.mark.parametrize(("case", "line"), MEDDLING, ids=lambda each: each.name if isinstance(each, Case) else "")
def test_a_link_that_somebody_changed_is_not_ok(pair, case, line):
    assert not all(row.ok for row in measured(pair, case, line))


def test_the_same_seed_draws_the_same(pair):
    case = Case("", "numbers", {"loss": "5% in bursts of 8", "seed": 5}, 5000)
    assert measured(pair, case) == measured(pair, case)


@pytest.mark.charged  # without that there is no ceiling
def test_a_rate_that_the_cpu_carries_is_found(pair):
    most = carried(pair.link("client", "server"), pair["client"], pair["server"])
    case = Case("", "transfer", {"rate": f"{int(most / 2)}bit"}, 2_000_000)
    # The machine's other work only takes CPU away, and CPU time is what is charged: a rate beyond the CPU fails each time.
    tries = [measured(pair, case) for _ in range(3)]
    assert any(all(row.ok for row in rows) for rows in tries), (most, tries)
