"""What npm waits for, far from its registry: for packages that it is told, that packages need, and that a lock file has."""

from registry import Registry

from slownet import TwoHosts, experiment, law

NEAR, FAR = "100ms", "400ms"
COUNTS = {"flat": ("1", "10", "20"), "tree": ("20",), "ci": ("10", "20")}
CELLS = [{"way": way, "packages": count} for way, counts in COUNTS.items() for count in counts]
SOCKETS = 15  # npm-config(1): maxsockets, "the maximum number of connections to use per origin"


# One block: little is random.
@experiment(
    topology=TwoHosts, service=Registry, cells=[{**each, "rtt": rtt} for each in CELLS for rtt in (NEAR, FAR)], tdf="inf",
    blocks=1, warm_up=0,
)  # fmt: skip
def npm_install(net, registry, way, packages, rtt):
    """How many round trips does npm take to install 1, 10 or 20 small packages?"""
    with net.link("client", "server").set(rtt=rtt):
        return registry.install(net["client"], way, int(packages))


def side_by_side(files, opened):
    """Round trips of files that are asked for at once, and how many connections are open then.

    Each of 15 connections has one request at a time (RFC 9112, 9.3); a new one is opened meanwhile, and takes one more.
    """
    sockets = min(SOCKETS, max(files, opened))
    done = trips = 0
    while done < files:
        trips += 1
        done += opened if trips == 1 else sockets
    return trips, sockets


def trips(way, packages):
    """The handshake; what is said of each package; the packages.

    What package.json names is looked up one by one, what packages need side by side, and nothing that a lock file has.
    """
    if way == "flat":
        return 1 + packages + side_by_side(packages, 1)[0]
    if way == "ci":
        return side_by_side(packages, 0)[0]
    said, sockets = side_by_side(packages - 1, 1)
    return 1 + 1 + said + side_by_side(packages, sockets)[0]


npm_install.claims(
    *(law("time_ms", round_trips=trips(each["way"], int(each["packages"])), within=0.01, at=each) for each in CELLS),
)


@npm_install.answer
def answer(run):
    def trips(way, packages):
        return f"{run.round_trips('time_ms', {'way': way, 'packages': packages}):.3g}"

    return (
        "; ".join(f"{way} {', '.join(trips(way, count) for count in counts)}" for way, counts in COUNTS.items())
        + " round trips."
    )
