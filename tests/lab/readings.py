"""What the kernel says of an interface, by `tc` alone; and how long packets take in this place without any delay."""

import json

from slownet.lab.host import native

OWN_MS = 0.1 if native.cpu_is_free() else 1.0


def qdiscs(node, interface):
    """Return the queueing disciplines of an interface, {handle: its options and its kind}, the root first."""
    shown = json.loads(node.pexec(f"tc -json qdisc show dev {interface}")[0])
    return {each.get("handle", "0:"): each["options"] | {"kind": each["kind"]} for each in shown}
