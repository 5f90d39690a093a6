"""Compose files: read on the host into a model, and brought up in a lab as a network of containers."""
