"""A run: its cells measured in a place, as often as its claims need."""
