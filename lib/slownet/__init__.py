"""Measure what a slow network does to a system, before the field trial.

The names in ``__init__.pyi`` are the public interface: ``from slownet import experiment, law, ab, ClientWebDb``. Each is
imported from its module on first use, so that ``import slownet`` itself loads nothing. These modules are public as well, as far
as their own documentation describes them:

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
- `slownet.waits.live`, `slownet.waits.account`: where the time of a command or a block goes, and the account of it
- `slownet.model.units`: durations, rates and sizes as text

Everything else may change without notice.
"""

import os
import sys

TYPE_CHECKING = False  # importing it from `typing` would load that module
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    from slownet.model.face import homes, public

    if name == "__all__":
        return public()
    if name not in homes():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(homes()[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    from slownet.model.face import homes

    return sorted({*globals(), *homes()})


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
