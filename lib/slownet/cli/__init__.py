"""The implementation of each command, one per file; ``cli`` parses the command line."""
