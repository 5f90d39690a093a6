"""Judging: what was claimed, what was recorded, and the verdicts."""
