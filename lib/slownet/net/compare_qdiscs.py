"""Compares every option that `tc -json` shows with the configured one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from slownet.model.shapes import Json
from slownet.net.plan import ROOT, Layer, Options, Qdisc

Deviation = tuple[str, Any, Any]  # field, stated, found


def deviations(layers: Sequence[Layer], shown: Sequence[Qdisc], root: str = ROOT) -> Iterator[Deviation]:
    """Yield each field where the kernel differs from what was configured.

    shown: the output of `tc -json qdisc show dev ...`. Fields that it does not show are 0. root: the handle of the root.
    """
    found = {qdisc["handle"]: qdisc for qdisc in shown}
    for layer in layers:
        qdisc = found.get(layer.handle)
        if qdisc is None or qdisc["kind"] != layer.kind:
            yield layer.kind, f"at {layer.parent}", "nothing" if qdisc is None else qdisc["kind"]
            continue
        parent = "root" if qdisc.get("root") else qdisc.get("parent", "")
        if _minor(parent) != _minor(layer.parent):
            yield f"{layer.kind}'s place", layer.parent, parent
        options = dict(flat(qdisc["options"]))
        for name, stated in layer.options.items():
            value = options.get(name, 0)
            if not stated.same(stated.value, value):
                yield f"{layer.kind} {name}", stated.value, value
    stated_handles = {layer.handle for layer in layers}
    for handle, qdisc in found.items():
        if handle not in stated_handles and _under(qdisc, root):
            yield f"{qdisc['kind']} {handle}", "nothing", "it"


def _minor(parent: str) -> str:
    """Return 51: for 51:1: netem has one class, which tc shows by either name."""
    return parent.removesuffix("1") if parent.endswith(":1") else parent


def _under(qdisc: Qdisc, root: str) -> bool:
    return _minor(str(qdisc.get("parent", ""))) == root


def flat(options: Options, prefix: str = "") -> Iterator[tuple[str, Json]]:
    """Yield nested options as `("delay.jitter", 0.002)`."""
    for name, value in options.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value
