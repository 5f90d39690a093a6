"""Reports of a run for people: ``table`` for the terminal, ``page`` for one self-contained HTML file.

Import the module that is needed: ``page`` imports matplotlib, ``table`` does not.
"""
