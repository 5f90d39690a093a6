"""What a person reads of a run: ``table`` for the terminal, ``page`` for one self-contained HTML file.

Import the module that is needed: ``page`` brings in matplotlib, ``table`` does not.
"""
