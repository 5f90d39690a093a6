"""What a run leaves on disk, and what is read back from it."""
