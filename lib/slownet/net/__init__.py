"""Mininet networks: built, changed while they run, and always taken down."""

from slownet.net.network import Network

__all__ = ["Network"]
