"""What nginx is told for each way to open connections, and certificates of a size."""

import shutil
import subprocess

import pytest

from slownet.model.errors import ServiceError
from slownet.services.https import HttpsServer, certificate


class Box:
    name = "web"

    def IP(self):  # noqa: N802
        return "10.0.0.2"


def test_the_site_is_reached_in_every_way(tmp_path):
    server = HttpsServer(Box(), tmp_path, files={}, groups="P-256", retry=True)
    server._state = tmp_path
    site = server.site()
    assert {"listen 80 fastopen=16", "listen 443 ssl fastopen=16", "listen 443 quic reuseport", "http2 on"} <= set(site)
    assert {"ssl_ecdh_curve P-256", "quic_retry on", "ssl_early_data on"} <= set(site)
    assert server.url == "https://10.0.0.2/"


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
@pytest.mark.parametrize("size", [0, 7_000, 16_000])
def test_a_certificate_has_about_the_size_that_was_asked_for(tmp_path, size):
    path, key = certificate(tmp_path, size)
    der = subprocess.run(["openssl", "x509", "-in", path, "-outform", "der"], capture_output=True, check=True).stdout
    assert len(der) == pytest.approx(max(size, 375), rel=0.03)
    assert "PRIVATE KEY" in key.read_text()


def test_without_openssl_there_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ServiceError, match="openssl is not installed: apt-get install openssl"):
        certificate(tmp_path)
