"""Real servers for the hosts of an emulated network, one per module."""
