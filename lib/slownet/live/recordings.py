"""Own recordings to play on a link: files in the formats of `slownet.links.traces`, checked here and played in the lab."""

from __future__ import annotations

import base64
import binascii
import tempfile
import zlib
from pathlib import Path

from slownet.links.conditions.schedule import Schedule
from slownet.links.traces import mahimahi, stepped, trace_summary
from slownet.links.traces.mahimahi import Opportunities
from slownet.links.traces.pinglog import PingLog
from slownet.links.traces.stepped import BothWays, Steps
from slownet.model import userfile
from slownet.model.errors import ExperimentError, TraceError

BYTES = 8 << 20
"""Of a recording's file."""
PACKED = 700_000
"""Characters of a packed recording: it goes to the lab in one message."""


def schedule(data: bytes, name: str) -> Schedule:
    """Return the schedule of a recording; one of a single direction is played in both. Raises TraceError.

    name: the file's, for errors.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "recording")
        path.write_bytes(data)
        try:
            found = trace_summary.load(path)
        except TraceError as error:
            raise TraceError(error.what, (error.where or name).replace(str(path), name), error.fix) from error
    if isinstance(found, Opportunities):
        return mahimahi.schedule(found, found)
    if isinstance(found, Steps):
        return stepped.schedule(found, found)
    if isinstance(found, BothWays):
        return found.schedule()
    if isinstance(found, PingLog):
        return found.schedule(repeat=True)
    kind = str(found.facts().get("kind", "it"))
    raise TraceError(f"{kind}: it has nothing about a link over time", name, "play rates, delays or a log of pings over time")


def read(path: Path) -> str:
    """Return a recording that can be played, packed. Raises TraceError."""
    try:
        if path.stat().st_size > BYTES:
            raise TraceError(f"it is larger than {BYTES >> 20} MB", str(path), "cut it into parts")
        data = userfile.read_bytes(path, BYTES)
    except OSError as error:
        raise TraceError(f"it cannot be read ({userfile.reason(error)})", str(path), "name a recording's file") from error
    return packed(data, path.name)


def packed(data: bytes, name: str) -> str:
    """Return a recording as text for the lab. Raises TraceError unless it can be played."""
    schedule(data, name)
    text = base64.b64encode(zlib.compress(data, 9)).decode()
    if len(text) > PACKED:
        raise TraceError("it is too long to be played on a page", name, "cut it into parts")
    return text


def decoded(text: str, name: str) -> bytes:
    """Return the recording that a page has sent, in base 64. Raises ExperimentError."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ExperimentError(f"{name} did not arrive whole", fix="choose the file again") from error


def unpacked(text: str) -> bytes:
    """Return the recording of such a text."""
    return zlib.decompress(base64.b64decode(text))
