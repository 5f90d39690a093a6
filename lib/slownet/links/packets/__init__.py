"""Packets: captures read and TCP segments crafted with scapy."""
