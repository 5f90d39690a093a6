"""Stated against measured: whether the links of this lab do what they say, for a matrix of conditions.

matrix   the cases: a condition and the probe that measures it
frames   packet sockets on two hosts: numbered frames, stamped by the kernel when they arrive
probes   what a probe sends, and the numbers that it brings back
inside   runs the probes where the network is
chain    the statistics of losses that come in bursts
judge    from numbers to rows: stated, measured, and the interval that theory leaves
measure  has them run in a place, and judged here; view: its table
carried  what this place's CPU can carry
"""
