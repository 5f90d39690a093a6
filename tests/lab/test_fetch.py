"""Pages over each version of HTTP and TLS: the parts are round trips, and the lab's kernel saw no other protocol."""

import subprocess

import pytest

from slownet.judge.claim import about
from slownet.model.errors import ToolError
from slownet.services.readiness import Command
from slownet.tools.fetch import fetch

RTT_MS = 40.0
CONFIG = """
user root; daemon off; pid {folder}/pid; error_log stderr info; worker_processes 1;
events {{}}
http {{
    access_log off; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e; root {folder}; default_type text/html;
    ssl_certificate {folder}/pem; ssl_certificate_key {folder}/key; ssl_session_tickets off; ssl_protocols TLSv1.2 TLSv1.3;
    server {{ listen 443 ssl; listen 443 quic; http2 on; http3 on; }}
    server {{ listen 80; }}
}}
"""


@pytest.fixture(scope="module")
def site(net, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    folder.chmod(0o755)
    (folder / "nginx.conf").write_text(CONFIG.format(folder=folder))
    (folder / "index.html").write_text("x" * 500)
    make = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-subj",
        "/CN=web",
    ]
    names = ["-addext", "subjectAltName=DNS:web", "-keyout", f"{folder}/key", "-out", f"{folder}/pem", "-days", "36500"]
    subprocess.run([*make, *names], check=True, capture_output=True)
    with Command(net["web"], f"nginx -p {folder} -c {folder}/nginx.conf", folder, port=443):
        yield folder / "pem"


def page(net, site, url="https://web/", **options):
    with net.link("client", "switch").set(rtt=f"{RTT_MS}ms"):
        return fetch(net["client"], url, requests=3, certificates=site, **options)


@pytest.mark.parametrize(
    ("http", "tls", "handshake"),
    [
        ("1.1", "1.2", 2),  # RFC 5246, 7.3
        ("1.1", "1.3", 1),  # RFC 8446, 2
        ("2", "1.2", 2),
        ("2", "1.3", 1),
        ("3", "best", 0),  # QUIC's first round trip carries TLS's (RFC 9001, 4)
    ],
)
def test_a_page_takes_the_round_trips_of_its_protocol(net, site, http, tls, handshake):
    found = page(net, site, http=http, tls=tls)
    version = "1.3" if tls == "best" else tls
    assert {(each.http, each.tls) for each in found.pages} == {(http, version)}
    metrics = found.metrics()
    trips = {"connect_rtt_ms": 1, "tls_ms": handshake, "waiting_ms": 1, "body_ms": 0, "time_per_request_ms": 2 + handshake}
    seen = {name: metrics[name]["mean"] / RTT_MS for name in trips}
    assert seen == pytest.approx(trips, abs=0.06)


def test_a_page_without_tls(net, site):
    found = page(net, site, "http://web/")
    assert "tls_ms" not in found.metrics()
    assert found.time_per_request == about(f"{2 * RTT_MS}ms", within=0.03)


def test_http2_without_tls_is_not_negotiated_down(net, site):
    with pytest.raises(ToolError, match=r"fetch failed|HTTP"):
        page(net, site, "http://web/", http="2")


def test_a_certificate_that_nobody_trusts_is_one_line(net, site):
    with pytest.raises(ToolError, match="the certificate of web port 443 is not accepted"):
        fetch(net["client"], "https://web/")
