"""Screens that pages are loaded on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slownet.model.errors import ToolError, nearest


@dataclass(frozen=True)
class Device:
    """A screen.

    width, height: in CSS pixels.
    scale: pixels of the screen for each of those.
    mobile: whether pages are laid out as on a telephone, and the browser states that it is one.
    source: where the numbers are from.
    """

    width: int
    height: int
    scale: float = 1.0
    mobile: bool = False
    source: str = ""


MOBILE = (
    "Mozilla/5.0 (Linux; Android 11; moto g power (2022)) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{} Mobile Safari/537.36"
)
"""The user agent of the browser on a telephone: Lighthouse's text."""
DEVICES: Mapping[str, Device] = {
    "desktop": Device(1350, 940, source="Lighthouse's desktop configuration: 1350 x 940"),
    "phone": Device(412, 823, 1.75, mobile=True, source="Lighthouse's mobile configuration, a Moto G Power: 412 x 823, 1.75"),
    "tablet": Device(768, 1024, 2.0, mobile=True, source="Chrome's list of devices, iPad Mini: 768 x 1024, 2"),
}


def device(name: str) -> Device:
    """Return a screen by its name, or by its size such as ``"1280x720"``. Raises ToolError."""
    width, _, height = name.partition("x")
    if width.isdecimal() and height.isdecimal() and 0 < int(width) <= 10_000 and 0 < int(height) <= 10_000:
        return Device(int(width), int(height))
    if name not in DEVICES:
        raise ToolError(f"no device '{name}'", "in browse", f"{nearest(name, DEVICES)}, or write a size: 1280x720")
    return DEVICES[name]
