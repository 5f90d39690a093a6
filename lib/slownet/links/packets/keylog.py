"""Key logs in NSS's format (SSLKEYLOGFILE): the secrets of TLS connections, by which a capture of them can be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slownet.model.errors import ToolError

SERVER_HANDSHAKE, SERVER_DATA = "SERVER_HANDSHAKE_TRAFFIC_SECRET", "SERVER_TRAFFIC_SECRET_0"


@dataclass(frozen=True)
class KeyLog:
    """The secrets of a key log, by the random of the ClientHello and the secret's label."""

    secrets: Mapping[tuple[bytes, str], bytes]

    def need(self, random: bytes, label: str) -> bytes:
        """Return a secret. Raises ToolError if the log does not have it."""
        found = self.secrets.get((random, label))
        if found is None:
            what = f"the capture cannot be read without keys: no {label} of its connection"
            raise ToolError(what, "in the key log", "does the client write SSLKEYLOGFILE?")
        return found


def parse(text: str) -> KeyLog:
    """Parse a key log: lines ``LABEL RANDOM SECRET``, the last two hexadecimal; other lines are ignored."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and not line.startswith("#"):
            try:
                found[bytes.fromhex(words[1]), words[0]] = bytes.fromhex(words[2])
            except ValueError:
                continue
    return KeyLog(found)
