"""Sweeps: thousands of cells over many labs, in one store."""

__all__ = ["Sweep", "Where", "run"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from slownet.runner.sweep.spec import Where
    from slownet.runner.sweep.sweeping import Sweep, run


def __getattr__(name: str) -> object:
    """Import a public name on first use: workers need none of what the store loads."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("slownet.runner.sweep.spec" if name == "Where" else "slownet.runner.sweep.sweeping"), name)
