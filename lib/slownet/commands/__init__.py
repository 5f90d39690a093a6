"""What the command line does, a command a file; ``cli`` reads the words."""
