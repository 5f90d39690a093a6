"""Reports of a run for people: ``table`` for the terminal, ``page`` for one self-contained HTML file."""
