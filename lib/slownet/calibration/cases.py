"""The matrix of a calibration: conditions, and the probe that measures each one. Values only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from slownet.links.conditions.field_row import DISTRIBUTIONS
from slownet.links.conditions.link import Condition
from slownet.links.conditions.queueing import AQM
from slownet.links.ip import IP, IPV4
from slownet.model.errors import ExperimentError, nearest
from slownet.model.options import Option
from slownet.model.shapes import Json

ECHOES = 21
FRAMES = 40_000  # a loss of 5 % is then known to 0.3 % of the frames, and a case takes half a second
BURST = 600  # frames sent at once: more than any queue of the matrix holds
LEAST_BYTES, MOST_BYTES = 100_000, 12_500_000


@dataclass(frozen=True)
class Case:
    """One condition to measure.

    ``group`` is its name for `--only`, ``probe`` a function of `probes`, ``fields`` the arguments of `Condition.parse`,
    ``count`` how many echoes, frames or bytes the probe sends; ``quick``: whether `--quick` includes it.
    ``ip`` is the version of IP of the probes that send IP packets; frames of an EtherType of our own are the same in both.
    """

    group: str
    probe: str
    fields: Mapping[str, Json]
    count: int
    quick: bool = False
    ip: IP = IPV4

    @property
    def condition(self) -> Condition:
        return Condition.parse(**self.fields)

    @property
    def name(self) -> str:
        """The condition as text without the seed: "delay 50ms, jitter 5ms"."""
        words = [f"{key.replace('_', ' ')} {value}" for key, value in self.fields.items() if key != "seed"]
        return ", ".join(words) or "nothing"

    @property
    def rate(self) -> float:
        """The highest configured rate in bit/s; 0 without one."""
        return max(self.condition.rate_up or 0.0, self.condition.rate_down or 0.0)


def matrix(seed: int = 1, ip: IP = IPV4) -> list[Case]:
    """Return all cases, in the same order over IPv4 and IPv6. Random ones have different seeds, derived from `seed`."""
    cases = [*_delays(), *_jitters(), *_losses(), *_single_packets(), *_rates(), *_queues(), *_sizes(ip)]
    return [replace(_seeded(case, 1000 * seed + 2 * index), ip=ip) for index, case in enumerate(cases)]


def groups() -> list[str]:
    """Return the names of the groups that `choose` takes."""
    return list(dict.fromkeys(case.group for case in matrix()))


def choose(cases: Iterable[Case], only: Sequence[str] = (), quick: bool = False) -> list[Case]:
    """Select cases by group, and the quick ones if wanted. Raises ExperimentError for an unknown group."""
    known = groups()
    for name in only:
        if name not in known:
            raise ExperimentError(f"unknown kind of condition '{name}'", where=Option("only"), fix=nearest(name, known))
    return [case for case in cases if (not only or case.group in only) and (case.quick or not quick)]


def _seeded(case: Case, seed: int) -> Case:
    if not case.condition.chancy:
        return case
    return replace(case, fields={**case.fields, "seed": seed})


def _delays() -> list[Case]:
    delays = ["0ms", "0.1ms", "1ms", "5ms", "20ms", "60ms", "150ms", "500ms"]
    cases = [Case("delay", "echo", {"delay": each}, ECHOES, each == "20ms") for each in delays]
    return [*cases, Case("delay", "echo", {"delay_up": "30ms", "delay_down": "5ms"}, ECHOES)]


def _jitters() -> list[Case]:
    return [
        Case("jitter", "spread", {"delay": "50ms", "jitter": "5ms", "distribution": each}, 10_000, each == "normal")
        for each in DISTRIBUTIONS
    ]


def _losses() -> list[Case]:
    alone = [Case("loss", "numbers", {"loss": f"{each}%"}, FRAMES, each == 1) for each in (0.1, 0.5, 1)]
    alone += [Case("loss", "numbers", {"loss": f"{each}%"}, FRAMES // 2) for each in (2, 5, 10, 30)]
    bursts = ["1% in bursts of 3", "5% in bursts of 8", "10% in bursts of 20", "gemodel 1% 10% 70% 0.1%"]
    chains = ["state 1% 30%", "state 1% 20% 30% 5% 2%"]
    return [
        *alone,
        *(Case("bursts", "numbers", {"loss": each}, FRAMES, each.endswith("of 8")) for each in bursts),
        *(Case("markov", "numbers", {"loss": each}, FRAMES, each == chains[1]) for each in chains),
    ]


def _single_packets() -> list[Case]:
    return [
        *(Case("duplicate", "numbers", {"duplicate": each}, 20_000, each == "10%") for each in ("1%", "10%")),
        *(Case("corrupt", "damage", {"corrupt": each}, 20_000, each == "10%") for each in ("1%", "10%")),
        *(Case("reorder", "early", {"delay": "50ms", "reorder": each}, 10_000, each == "25%") for each in ("5%", "25%")),
    ]


def _rates() -> list[Case]:
    plain = [{"rate": each} for each in ("200kbit", "2Mbit", "10Mbit", "100Mbit", "1Gbit")]
    others = [{"rate_up": "2Mbit", "rate_down": "500kbit"}, {"rate": "10Mbit", "burst": "30kB"}]
    managed = [{"rate": "10Mbit", "aqm": each} for each in AQM]
    return [
        *(Case("rate", "transfer", each, _bytes(each), each == {"rate": "2Mbit"}) for each in (*plain, *others)),
        *(Case("rate", "crossing", each, 5) for each in plain[:3]),
        *(Case("aqm", "transfer", each, 4 * _bytes(each), each["aqm"] == "fq_codel") for each in managed),
    ]


def _bytes(fields: Mapping[str, Json]) -> int:
    """Return the bytes of one second at the rate, but at least enough that the first packets do not matter."""
    return int(min(max(Condition.parse(**fields).rate_up or 0, 8 * LEAST_BYTES) / 8, MOST_BYTES))


def _queues() -> list[Case]:
    waiting = [
        {"rate": "10Mbit", "queue": "20 packets"}, {"rate": "10Mbit", "queue": "100 packets"},
        {"rate": "10Mbit", "queue": "50ms"}, {"rate": "10Mbit", "queue": "60560B"},
        {"rate": "10Mbit", "rtt": "100ms", "queue": "2 bdp"}, {"rate": "2Mbit", "queue": "100 packets"},
        {"rate": "10Mbit", "burst": "30kB", "queue": "100 packets"},
    ]  # fmt: skip
    travelling = Case("queue", "kept", {"delay": "200ms", "queue": "50 packets"}, BURST)
    return [*(Case("queue", "fill", each, BURST, each == waiting[1]) for each in waiting), travelling]


def _sizes(ip: IP) -> list[Case]:
    # Below its least MTU, Linux takes IPv6 off an interface, addresses included.
    return [Case("mtu", "largest", {"mtu": each}, 1, each == 1400) for each in (ip.least_mtu, 1400, 9000)]
