"""Sweeps: thousands of cells over many labs, in one store."""

__all__ = ["Sweep", "Where", "run"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from slownet.runner.where import Where
    from slownet.sweep.sweeping import Sweep, run


def __getattr__(name: str) -> object:
    """Import a public name on first use: workers need none of what the store loads."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("slownet.runner.where" if name == "Where" else "slownet.sweep.sweeping"), name)
