"""Packets as scapy reads and crafts them."""
