"""Sweeps: thousands of cells over many labs, in one store."""
