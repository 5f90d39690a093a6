"""Recordings of networks: read, summed up, and made into what a link does."""
