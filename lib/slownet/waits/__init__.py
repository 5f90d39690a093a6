"""Accounts of waits: an operation's time, walked back across hosts from captures.

The doors of the package are `slownet.waits.door`, for captures, and `slownet.waits.live`, for a network that runs. Nothing else
of it is imported from outside, and no other feature imports it.
"""
