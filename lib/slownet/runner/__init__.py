"""Runs: an experiment's cells measured in a place, as often as its claims need."""
