"""Checks links: configured against measured, for a matrix of conditions.

matrix   the cases: a condition and the probe that measures it
frames   numbered frames through packet sockets, with the kernel's arrival times
probes   what each probe sends and returns
inside   runs the probes where the network is
chain    the statistics of losses in bursts
judge    makes rows of the probes' numbers: stated, measured, and the interval that theory allows
measure  runs the cases in a place, and judges them here; view: the table
carried  the highest rate that a place's CPU can carry
"""
