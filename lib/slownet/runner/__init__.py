"""Runs: an experiment's cells measured in a place, as often as its claims need."""

from pathlib import Path

RUNS = Path("runs")
"""The folder in which run directories are created unless another one is named."""
