"""Packages from a mirror that is far away: what apt and pip wait for, package by package or pipelined."""

from slownet import TwoHosts, experiment, law
from slownet.judge.records.repeatability import Spread
from slownet.reproductions.mirror import APT, COMMITTED, PIP, WITHOUT_PIPELINE, Mirror

NEAR, FAR = "20ms", "100ms"
COUNTS = ("1", "10", "20")
PROGRAMS = (APT, WITHOUT_PIPELINE, PIP)


# One block: little is random.
@experiment(
    topology=TwoHosts, service=Mirror, vary={"program": list(PROGRAMS), "packages": list(COUNTS), "rtt": [NEAR, FAR]},
    tdf="inf", blocks=1,
)  # fmt: skip
def package_mirror(net, mirror, program, packages, rtt):
    """How many round trips do apt and pip take to fetch 1, 10 or 20 small packages from a mirror?"""
    with net.link("client", "server").set(rtt=rtt):
        return mirror.fetch(net["client"], program, int(packages))


def trips(program, packages):
    """The handshake, then requests on one connection.

    pip asks for the index's page of a package (PEP 503), then for its wheel. apt commits ten files at a time to its program for
    HTTP, which asks for the first one alone, then for the others together, and for more when all ten are there.
    """
    if program == PIP:
        return 1 + 2 * packages
    if program == WITHOUT_PIPELINE:
        return 1 + packages
    return 1 + 2 * (packages // COMMITTED) + min(packages % COMMITTED, 2)


package_mirror.differs("pip's names of temporary files are random", Spread("time_ms", 0.0015))  # 11 boots: 0.14 %

package_mirror.claims(
    *(
        law("time_ms", round_trips=trips(program, int(packages)), within=0.01, at={"program": program, "packages": packages})
        for program in PROGRAMS
        for packages in COUNTS
    ),
)


@package_mirror.answer
def answer(run):
    def trips(program, packages):
        return f"{run.round_trips('time_ms', {'program': program, 'packages': packages}):.3g}"

    each = (f"{program} {', '.join(trips(program, count) for count in COUNTS)}" for program in PROGRAMS)
    return f"For 1, 10 and 20 packages: {'; '.join(each)} round trips."
