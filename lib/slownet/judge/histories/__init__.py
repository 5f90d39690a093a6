"""Histories of operations: what clients asked of a system and what it answered while it was broken, and what must hold."""
