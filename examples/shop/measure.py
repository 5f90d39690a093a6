"""Measures the shop for checkout.toml."""

from slownet import ab


def checkout(net, requests=20):
    times = {}
    for batched, name in enumerate(("naive", "batched")):
        record = ab(net["client"], f"http://web:8000/checkout?batched={batched}", requests=requests)
        times[f"{name}_ms"] = record.time_per_request_ms
    return times
