"""Field measurements: a real service is measured as an experiment would measure it, and compared with a run.

`slownet field` measures (address, request, record, measure); `slownet compare` compares (row, runs, extrapolation, compare).
"""
