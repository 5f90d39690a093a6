"""slownet: what a slow network does to a system, measured before the field trial.

The names of ``__all__`` are what a user needs: ``from slownet import experiment, law, ab, ClientWebDb``. Each one is imported
from its module when it is first asked for, so that ``import slownet`` itself brings nothing. Beside them these modules are
public, with what their own documentation shows:

- `slownet.claim`: every kind of claim, and how a kind of one's own is written
- `slownet.conditions`: models of loss, queues, measured jitter, and the conditions that have names
- `slownet.published`: the numbers of the reproduced articles
- `slownet.records.result`: a run read back from its directory
- `slownet.services`, `slownet.tools`: every server and every client program, one a file
- `slownet.slow_start`, `slownet.throughput`: what theory says of round trips and rates
- `slownet.stats`: summaries with intervals
- `slownet.topologies`: plain Mininet topologies
- `slownet.units`: durations, rates and sizes as texts

Everything else may change without notice.
"""

import os
import sys
from types import ModuleType

__version__ = "0.1.0"

__all__ = [
    "Ab",
    "BrokerWorkerDatabase",
    "Chain",
    "Claim",
    "ClientEdgeWebDb",
    "ClientProxyServer",
    "ClientWebDb",
    "Condition",
    "ConditionError",
    "ConstantRate",
    "Dumbbell",
    "Experiment",
    "ExperimentError",
    "FileServer",
    "Host",
    "Hosts",
    "Iperf3",
    "Judgement",
    "LabError",
    "Law",
    "Link",
    "MariaDB",
    "Measure",
    "Measured",
    "Memcached",
    "Network",
    "NetworkError",
    "Nginx",
    "Node",
    "Oha",
    "OltpDatabase",
    "PhpFpm",
    "Ping",
    "PrimaryReplicas",
    "Record",
    "Redis",
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
    "UnitError",
    "Varnish",
    "Wget",
    "WordPress",
    "Wrk",
    "ab",
    "about",
    "all_of",
    "any_of",
    "bound",
    "constant_rate",
    "constant_round_trips",
    "equal",
    "expected_round_trips",
    "experiment",
    "fit",
    "fitted",
    "follows",
    "grows",
    "iperf3",
    "law",
    "monotone",
    "more_round_trips",
    "no_worse_than",
    "not_",
    "oha",
    "oltp",
    "ping",
    "predicted",
    "published_times",
    "ratio",
    "round_trips",
    "round_trips_between",
    "slowed",
    "wget",
    "wrk",
    "wrk2",
]

_HOMES = {
    "slownet.claim": (
        "Claim about all_of any_of bound constant_round_trips equal expected_round_trips fitted follows grows law monotone "
        "more_round_trips no_worse_than not_ predicted published_times ratio round_trips_between slowed"
    ),
    "slownet.conditions.link": "Condition",
    "slownet.conditions.schedule": "Schedule",
    "slownet.errors": "ConditionError ExperimentError LabError NetworkError ServiceError SlownetError ToolError UnitError",
    "slownet.experiment": "Experiment Record experiment",
    "slownet.law": "Law fit",
    "slownet.measured": "Measured",
    "slownet.mininets": "Node Topology",
    "slownet.net.cable": "Link",
    "slownet.net.network": "Network",
    "slownet.records.judgement": "Judgement",
    "slownet.records.result": "RunData",
    "slownet.services.files": "FileServer",
    "slownet.services.mariadb": "MariaDB",
    "slownet.services.memcached": "Memcached",
    "slownet.services.nginx": "Nginx",
    "slownet.services.oltp": "OltpDatabase",
    "slownet.services.page": "StaticPage",
    "slownet.services.php_fpm": "PhpFpm",
    "slownet.services.redis": "Redis",
    "slownet.services.service": "Service",
    "slownet.services.varnish": "Varnish",
    "slownet.services.wordpress": "WordPress",
    "slownet.slow_start": "round_trips",
    "slownet.tools.ab": "Ab ab",
    "slownet.tools.constant_rate": "ConstantRate constant_rate",
    "slownet.tools.iperf3": "Iperf3 iperf3",
    "slownet.tools.oha": "Oha oha",
    "slownet.tools.ping": "Ping ping",
    "slownet.tools.process": "Host Hosts",
    "slownet.tools.sysbench": "Sysbench oltp",
    "slownet.tools.tool": "Measure",
    "slownet.tools.wget": "Wget wget",
    "slownet.tools.wrk": "Wrk wrk wrk2",
    "slownet.topologies": (
        "BrokerWorkerDatabase Chain ClientEdgeWebDb ClientProxyServer ClientWebDb Dumbbell PrimaryReplicas Star "
        "ThreeRegions TwoHosts"
    ),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

TYPE_CHECKING = False  # type checkers take it for true; the one of `typing` would bring that module
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

    from slownet.claim import (
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
    from slownet.conditions.link import Condition
    from slownet.conditions.schedule import Schedule
    from slownet.errors import (
        ConditionError,
        ExperimentError,
        LabError,
        NetworkError,
        ServiceError,
        SlownetError,
        ToolError,
        UnitError,
    )
    from slownet.experiment import Experiment, Record, experiment
    from slownet.law import Law, fit
    from slownet.measured import Measured
    from slownet.mininets import Node, Topology
    from slownet.net.cable import Link
    from slownet.net.network import Network
    from slownet.records.judgement import Judgement
    from slownet.records.result import RunData
    from slownet.services.files import FileServer
    from slownet.services.mariadb import MariaDB
    from slownet.services.memcached import Memcached
    from slownet.services.nginx import Nginx
    from slownet.services.oltp import OltpDatabase
    from slownet.services.page import StaticPage
    from slownet.services.php_fpm import PhpFpm
    from slownet.services.redis import Redis
    from slownet.services.service import Service
    from slownet.services.varnish import Varnish
    from slownet.services.wordpress import WordPress
    from slownet.slow_start import round_trips
    from slownet.tools.ab import Ab, ab
    from slownet.tools.constant_rate import ConstantRate, constant_rate
    from slownet.tools.iperf3 import Iperf3, iperf3
    from slownet.tools.oha import Oha, oha
    from slownet.tools.ping import Ping, ping
    from slownet.tools.process import Host, Hosts
    from slownet.tools.sysbench import Sysbench, oltp
    from slownet.tools.tool import Measure
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
    )
else:  # a type checker would take it for every name that there is not

    def __getattr__(name: str) -> object:
        """A public name, imported when it is first asked for."""
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        found = getattr(import_module(_HOME[name]), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """A package whose public names win over its modules of the same name, `slownet.law` and `slownet.experiment`.

    Python makes a module an attribute of its package when it is imported; `from slownet import law` would give the function or
    the module, as it happens. `from slownet.law import fit` asks for the module by its whole name, and gets it.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


class _Rooms:
    """Finds `slownet.topologies` and `slownet.experiments` in a checkout, where they stand at the top level.

    In a wheel they are inside this package. Only these two: a longer `__path__` would make `slownet.setup` and
    `slownet.tests` modules, too.
    """

    checkout = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> "ModuleSpec | None":
        """What the import system asks each of its finders for; None where the module is none of these two."""
        if name not in ("slownet.topologies", "slownet.experiments"):
            return None
        from importlib.machinery import PathFinder

        return PathFinder.find_spec(name, [cls.checkout])


if os.path.isfile(f"{_Rooms.checkout}/topologies/__init__.py") and os.path.isfile(f"{_Rooms.checkout}/setup.py"):
    sys.meta_path.insert(0, _Rooms)  # before pip's finder, which may know those of another checkout
