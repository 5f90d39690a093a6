"""Boots whose samples are stored under keys of what determines them, whole or not at all: those of sweeps and hunts."""
