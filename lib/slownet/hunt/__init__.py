"""Hunts: which schedule of faults breaks a system, and which is the smallest that does."""
