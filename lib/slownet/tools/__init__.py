"""Real client programs that run on the hosts of an emulated network: one program a file, command and parser."""
