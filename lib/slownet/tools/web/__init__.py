"""Web pages requested one at a time in a version of HTTP and TLS, with the time of each phase.

`slownet field` requests them from this machine, `slownet.tools.fetch` from a host of a network: the same code measures both.
"""
