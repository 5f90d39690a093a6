"""The field: a real, reachable service measured as an experiment measures it, and compared with a run of the lab.

`slownet field` measures (address, request, record, measure), `slownet compare` compares (row, runs, extrapolation, compare).
"""
