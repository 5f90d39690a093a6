"""Mininet networks: built, changed while they run, and always taken down; and programs on their hosts."""
