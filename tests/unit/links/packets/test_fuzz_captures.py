"""Whatever a capture, a key log or a payload holds, only ToolError comes out."""

from pathlib import Path

import pytest
from fuzzing import damaged, only
from hypothesis import given
from hypothesis import strategies as st

from slownet.links.packets import capture, connection_attempts, connections, dns, responses, tls
from slownet.model.errors import ToolError

DATA = Path(__file__).parent / "data"
SMALL = [path.read_bytes() for path in sorted(DATA.glob("*.pcap")) if path.stat().st_size < 40_000]
DNS = [path.read_bytes() for path in sorted(DATA.glob("dns*.pcap"))]
ENCRYPTED = [(path.read_bytes(), path.with_suffix(".keys").read_bytes()) for path in sorted(DATA.glob("*.pcap"))
             if path.with_suffix(".keys").exists() and path.stat().st_size < 60_000]  # fmt: skip


@given(damaged(SMALL))
def test_captures(data):
    for read in (
        capture.read,
        connection_attempts.opens,
        lambda data: capture.datagrams(data, 443),
        lambda data: connection_attempts.read([data]),
    ):
        with only(ToolError):
            read(data)


@given(damaged(DNS))
def test_lookups(data):
    with only(ToolError):
        dns.read(data)


@pytest.mark.parametrize("transport", ["TCP", "QUIC"])
@given(data=st.data())
def test_connections_that_are_decrypted(tmp_path_factory, transport, data):
    pcap, keys = data.draw(st.sampled_from(ENCRYPTED))
    folder = tmp_path_factory.getbasetemp()
    pcap, keys = data.draw(st.sampled_from([(damaged([pcap]), st.just(keys)), (st.just(pcap), damaged([keys]))]))
    (folder / "x.pcap").write_bytes(data.draw(pcap))
    (folder / "x.keys").write_bytes(data.draw(keys))
    for read in (connections.connections, responses.answered):
        with only(ToolError):
            read(folder / "x.pcap", folder / "x.keys", transport)


@given(damaged([path.read_bytes() for path in sorted(DATA.glob("*.keys"))]))
def test_key_logs(data):
    with only(ToolError):
        tls.parse(data.decode("utf-8", "replace"))
