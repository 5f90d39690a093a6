"""Real servers that run on the hosts of an emulated network: one server a file."""
