"""Real client programs for the hosts of an emulated network, one per module: how each is run, and how its output is parsed."""
