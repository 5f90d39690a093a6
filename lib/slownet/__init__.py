"""Measure what a slow network does to a system, before the field trial.

The names in ``__all__`` are the public interface: ``from slownet import experiment, law, ab, ClientWebDb``. Each is imported
from its module on first use, so that ``import slownet`` itself loads nothing. These modules are public as well, as far as their
own documentation describes them:

- `slownet.tools.browser.page`, `slownet.tools.browser.locator`, `slownet.tools.browser.expecting`: pages and elements in
  Playwright's words
- `slownet.judge.claim`: all kinds of claims, and how to write a new kind
- `slownet.links.conditions`: models of loss, queues and measured jitter, and conditions with names
- `slownet.theory.published`: the numbers of the reproduced articles
- `slownet.judge.records.result`: a run loaded from its directory
- `slownet.services`, `slownet.tools`: all servers and client programs, one per file
- `slownet.net.tool`, `slownet.net.process`, `slownet.net.nft`, `slownet.net.tcpdump`: other programs on hosts,
  filters and captures
- `slownet.theory`, a module for each subject (``slow_start``, ``handshakes``, ``throughput`` and so on): round trips, times and
  rates as they follow from the protocols
- `slownet.theory.stats`: summaries with intervals
- `slownet.topologies`: plain Mininet topologies
- `slownet.model.units`: durations, rates and sizes as text

Everything else may change without notice.
"""

import os
import sys

__all__ = [
    "Ab",
    "Act",
    "BrokerWorkerDatabase",
    "Browse",
    "Chain",
    "Claim",
    "Client",
    "ClientEdgeWebDb",
    "ClientProxyServer",
    "ClientWebDb",
    "Command",
    "Compared",
    "Compose",
    "Condition",
    "ConditionError",
    "ConstantRate",
    "Container",
    "Dumbbell",
    "Experiment",
    "ExperimentError",
    "FaultSpace",
    "Faults",
    "Fetch",
    "FileServer",
    "History",
    "Host",
    "Hosts",
    "ImageError",
    "Iperf3",
    "Judgement",
    "LabError",
    "Law",
    "Link",
    "MariaDB",
    "Measure",
    "Measured",
    "Memcached",
    "Mount",
    "NameServer",
    "Network",
    "NetworkError",
    "Nginx",
    "Node",
    "Numbers",
    "Oha",
    "OltpDatabase",
    "PhpFpm",
    "Ping",
    "Plot",
    "PrimaryReplicas",
    "Record",
    "Recorder",
    "Redis",
    "Run",
    "RunData",
    "Schedule",
    "Service",
    "ServiceError",
    "SlownetError",
    "Star",
    "StaticPage",
    "Sysbench",
    "ThreeRegions",
    "ToolError",
    "Topology",
    "TwoHosts",
    "TwoPaths",
    "UnitError",
    "Varnish",
    "Violation",
    "Wget",
    "WordPress",
    "Wrk",
    "ab",
    "about",
    "act",
    "all_of",
    "any_of",
    "bound",
    "browse",
    "compare",
    "constant_rate",
    "constant_round_trips",
    "equal",
    "expected_round_trips",
    "experiment",
    "faults",
    "fetch",
    "fit",
    "fitted",
    "follows",
    "grows",
    "healthy",
    "http",
    "iperf3",
    "law",
    "linearizable",
    "load",
    "monotone",
    "more_round_trips",
    "no_lost_writes",
    "no_worse_than",
    "not_",
    "nothing_invented",
    "oha",
    "oltp",
    "ping",
    "predicted",
    "published_times",
    "ratio",
    "reads_never_go_back",
    "recovers_within",
    "round_trips",
    "round_trips_between",
    "run",
    "slowed",
    "wget",
    "wrk",
    "wrk2",
]

_HOMES = {
    "slownet.api.calls": "compare load run",
    "slownet.api.compared": "Compared",
    "slownet.api.plot": "Plot",
    "slownet.api.presented": "Run",
    "slownet.tools.browser.act": "Act act",
    "slownet.tools.browser.browse": "Browse browse",
    "slownet.judge.claim": (
        "Claim about all_of any_of bound constant_round_trips equal expected_round_trips fitted follows grows law monotone "
        "more_round_trips no_worse_than not_ predicted published_times ratio round_trips_between slowed"
    ),
    "slownet.compose.project_topology": "Compose",
    "slownet.links.conditions.link": "Condition",
    "slownet.links.conditions.schedule": "Schedule",
    "slownet.links.faults": "Faults",
    "slownet.links.fault_space": "FaultSpace faults",
    "slownet.judge.histories.checks": "Violation no_lost_writes nothing_invented reads_never_go_back recovers_within",
    "slownet.judge.histories.history": "History",
    "slownet.judge.histories.linear": "linearizable",
    "slownet.tools.clients": "Client Recorder",
    "slownet.containers.mount": "Mount",
    "slownet.model.errors": (
        "ConditionError ExperimentError ImageError LabError NetworkError ServiceError SlownetError ToolError UnitError"
    ),
    "slownet.hypotheses.experiment": "Experiment Record experiment",
    "slownet.theory.law": "Law fit",
    "slownet.judge.measured": "Measured",
    "slownet.model.mininets": "Node Topology",
    "slownet.net.network_link": "Link",
    "slownet.net.network": "Network",
    "slownet.judge.records.judgement": "Judgement",
    "slownet.judge.records.result": "RunData",
    "slownet.services.readiness": "http",
    "slownet.services.command": "Command",
    "slownet.containers.container": "Container",
    "slownet.services.files": "FileServer",
    "slownet.containers.healthcheck": "healthy",
    "slownet.services.mariadb": "MariaDB",
    "slownet.services.memcached": "Memcached",
    "slownet.services.names": "NameServer",
    "slownet.services.nginx": "Nginx",
    "slownet.services.oltp": "OltpDatabase",
    "slownet.services.static_page": "StaticPage",
    "slownet.services.php_fpm": "PhpFpm",
    "slownet.services.redis": "Redis",
    "slownet.services.service": "Service",
    "slownet.services.varnish": "Varnish",
    "slownet.services.wordpress": "WordPress",
    "slownet.theory.slow_start": "round_trips",
    "slownet.tools.ab": "Ab ab",
    "slownet.tools.constant_rate": "ConstantRate constant_rate",
    "slownet.tools.fetch": "Fetch fetch",
    "slownet.tools.iperf3": "Iperf3 iperf3",
    "slownet.tools.oha": "Oha oha",
    "slownet.tools.ping": "Ping ping",
    "slownet.net.process": "Host Hosts",
    "slownet.tools.user_metrics": "Measure Numbers",
    "slownet.tools.sysbench": "Sysbench oltp",
    "slownet.tools.wget": "Wget wget",
    "slownet.tools.wrk": "Wrk wrk wrk2",
    "slownet.topologies": (
        "BrokerWorkerDatabase Chain ClientEdgeWebDb ClientProxyServer ClientWebDb Dumbbell PrimaryReplicas Star "
        "ThreeRegions TwoHosts TwoPaths"
    ),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}
_HOME["__version__"] = "slownet.model.version"

TYPE_CHECKING = False  # type checkers assume True; importing it from `typing` would load that module
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

    from slownet.api.calls import compare, load, run
    from slownet.api.compared import Compared
    from slownet.api.plot import Plot
    from slownet.api.presented import Run
    from slownet.compose.project_topology import Compose
    from slownet.containers.container import Container
    from slownet.containers.healthcheck import healthy
    from slownet.containers.mount import Mount
    from slownet.hypotheses.experiment import Experiment, Record, experiment
    from slownet.judge.claim import (
        Claim,
        about,
        all_of,
        any_of,
        bound,
        constant_round_trips,
        equal,
        expected_round_trips,
        fitted,
        follows,
        grows,
        law,
        monotone,
        more_round_trips,
        no_worse_than,
        not_,
        predicted,
        published_times,
        ratio,
        round_trips_between,
        slowed,
    )
    from slownet.judge.histories.checks import (
        Violation,
        no_lost_writes,
        nothing_invented,
        reads_never_go_back,
        recovers_within,
    )
    from slownet.judge.histories.history import History
    from slownet.judge.histories.linear import linearizable
    from slownet.judge.measured import Measured
    from slownet.judge.records.judgement import Judgement
    from slownet.judge.records.result import RunData
    from slownet.links.conditions.link import Condition
    from slownet.links.conditions.schedule import Schedule
    from slownet.links.fault_space import FaultSpace, faults
    from slownet.links.faults import Faults
    from slownet.model.errors import (
        ConditionError,
        ExperimentError,
        ImageError,
        LabError,
        NetworkError,
        ServiceError,
        SlownetError,
        ToolError,
        UnitError,
    )
    from slownet.model.mininets import Node, Topology
    from slownet.model.version import __version__ as __version__
    from slownet.net.network import Network
    from slownet.net.network_link import Link
    from slownet.net.process import Host, Hosts
    from slownet.services.command import Command
    from slownet.services.files import FileServer
    from slownet.services.mariadb import MariaDB
    from slownet.services.memcached import Memcached
    from slownet.services.names import NameServer
    from slownet.services.nginx import Nginx
    from slownet.services.oltp import OltpDatabase
    from slownet.services.php_fpm import PhpFpm
    from slownet.services.readiness import http
    from slownet.services.redis import Redis
    from slownet.services.service import Service
    from slownet.services.static_page import StaticPage
    from slownet.services.varnish import Varnish
    from slownet.services.wordpress import WordPress
    from slownet.theory.law import Law, fit
    from slownet.theory.slow_start import round_trips
    from slownet.tools.ab import Ab, ab
    from slownet.tools.browser.act import Act, act
    from slownet.tools.browser.browse import Browse, browse
    from slownet.tools.clients import Client, Recorder
    from slownet.tools.constant_rate import ConstantRate, constant_rate
    from slownet.tools.fetch import Fetch, fetch
    from slownet.tools.iperf3 import Iperf3, iperf3
    from slownet.tools.oha import Oha, oha
    from slownet.tools.ping import Ping, ping
    from slownet.tools.sysbench import Sysbench, oltp
    from slownet.tools.user_metrics import Measure, Numbers
    from slownet.tools.wget import Wget, wget
    from slownet.tools.wrk import Wrk, wrk, wrk2
    from slownet.topologies import (
        BrokerWorkerDatabase,
        Chain,
        ClientEdgeWebDb,
        ClientProxyServer,
        ClientWebDb,
        Dumbbell,
        PrimaryReplicas,
        Star,
        ThreeRegions,
        TwoHosts,
        TwoPaths,
    )
else:  # hidden from type checkers, which would otherwise accept any name

    def __getattr__(name: str) -> object:
        """Import a public name on first use."""
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        found = getattr(import_module(_HOME[name]), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Rooms:
    """Finds `slownet.topologies` and `slownet.experiments` in a checkout, where they are at the top level.

    In a wheel they are inside this package. A longer `__path__` would also make `slownet.setup` and `slownet.tests` modules.
    """

    checkout = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> "ModuleSpec | None":
        """Return the module's spec for the import system; None for any module but these two."""
        if name not in ("slownet.topologies", "slownet.experiments"):
            return None
        from importlib.machinery import PathFinder

        return PathFinder.find_spec(name, [cls.checkout])


if os.path.isfile(f"{_Rooms.checkout}/topologies/__init__.py") and os.path.isfile(f"{_Rooms.checkout}/setup.py"):
    sys.meta_path.insert(0, _Rooms)  # before pip's finder, which may find those of another checkout


class _MininetNode:
    """Finds `mininet.node`, also where Python no longer has what it imports: see `slownet.model.mininet_node`."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> "ModuleSpec | None":
        """Return the module's spec for the import system; None for any other module."""
        if name != "mininet.node":
            return None
        from slownet.model.mininet_node import spec

        return spec(path)  # type: ignore[arg-type]


sys.meta_path.insert(0, _MininetNode)
