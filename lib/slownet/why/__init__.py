"""Where the time of an operation went: an account of waits, walked back across hosts from captures.

The door of the package is `slownet.why.door`; nothing else of it is imported from outside, and no other feature imports it.
"""
