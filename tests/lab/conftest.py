"""Tests that need an emulated network: they run inside a lab, or as root on a kernel with netem and Open vSwitch."""

from collections.abc import Iterator

import pytest

from slownet.lab.host import native
from slownet.net.network import Network
from slownet.topologies import ClientWebDb


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "distances: one of the round trips that `make test-theory` adds to the representative")
    config.addinivalue_line("markers", "strict: of a list that may be too long, which `make test-stock-kernel` asks")
    config.addinivalue_line("markers", "charged: asks what the CPU's time does, so it needs a clock that counts that")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("charged") and native.cpu_is_free():
        pytest.skip("the CPU is free here: run it in a lab without --tdf inf")


@pytest.fixture(scope="session", autouse=True)
def able() -> None:
    missing = native.lacks()
    if missing:
        pytest.exit(f"no network can be emulated here, this machine lacks {', '.join(missing)}: make lab-tests", returncode=2)


@pytest.fixture(scope="module")
def net(request: pytest.FixtureRequest) -> Iterator[Network]:
    """A network of the module's `TOPOLOGY`, by default ClientWebDb."""
    with Network(getattr(request.module, "TOPOLOGY", ClientWebDb)) as network:
        yield network


@pytest.fixture
def free() -> None:
    """Skip a test of an account, which is exact where the CPU is free."""
    if not native.cpu_is_free():
        pytest.skip("the account is exact where the CPU is free: run it in a lab with --tdf inf")


@pytest.fixture
def far(net: Network) -> Iterator[Network]:
    """ClientWebDb with its client 40 ms and its database 10 ms away."""
    with net.link("client", "switch").set(rtt="40ms"), net.link("db", "switch").set(rtt="10ms"):
        yield net
