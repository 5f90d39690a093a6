"""What `git pull` waits for if there is nothing to pull: the round trips of SSH's login, and those of git."""

from repositories import Repositories

from slownet import TwoHosts, experiment, law
from slownet.theory import published

NEAR, FAR = "50ms", "250ms"
WAYS = [(way, version) for way in ("ssh", "ssh, shared", "https", "git") for version in ("2", "0")]
CELLS = [{"way": way, "protocol": version, "rtt": rtt} for way, version in WAYS for rtt in (NEAR, FAR)]
# A program that writes twice in a row without TCP_NODELAY waits for the acknowledgement of the first piece (Nagle, RFC 896): a
# round trip each time, and 40 ms if the peer has nothing to say meanwhile.
HELD = 1
# TCP's handshake; the versions; the key exchange, whose second message is held behind the first; the service, whose request is
# held behind the end of the key exchange (RFC 4253); the login without a password, with the key's name, and with its signature
# (RFC 4252). Then the channel (RFC 4254).
LOGIN, CHANNEL = 1 + 1 + (HELD + 1) + (HELD + 1) + 3, 1
# With protocol 2 the server says what it can, and is asked for its branches; with 0 they are what it says first.
GIT = {"2": 2, "0": 1}
END = 1  # of the program at the server, whose status ssh waits for
# git's own protocol: the request, the server's answer and, with protocol 2, the question for branches are two pieces each.
OWN = {"2": (HELD + 1) + HELD + (HELD + 1), "0": (HELD + 1) + HELD}
EXPECTED = {
    "ssh": lambda version: LOGIN + CHANNEL + GIT[version] + END,
    "ssh, shared": lambda version: CHANNEL + GIT[version] + END,
    "https": lambda version: 2 + GIT[version],  # TCP and TLS 1.3
    "git": lambda version: 1 + OWN[version],
}


# One block: nothing is random but keys.
@experiment(
    topology=TwoHosts, service=Repositories, cells=CELLS, published=published.git_pull(), tdf="inf", blocks=1, warm_up=0
)
def git_pull(net, repositories, way, protocol, rtt):
    """How many round trips does a `git pull` take that finds nothing new?"""
    with net.link("client", "server").set(rtt=rtt):
        return repositories.pull(way, protocol)


git_pull.claims(
    *(
        law("time_ms", round_trips=EXPECTED[way](version), within=0.01, at={"way": way, "protocol": version})
        for way, version in WAYS
    ),
)


@git_pull.answer
def answer(run):
    def trips(way, version):
        return f"{run.round_trips('time_ms', {'way': way, 'protocol': version}):.3g}"

    return "; ".join(f"{way} {trips(way, '2')} with protocol 2, {trips(way, '0')} with 0" for way in EXPECTED) + "."
