"""Conditions of links, recorded traces, and packets: data, without a network."""
