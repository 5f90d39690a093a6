"""The project's experiments, one question per file."""
