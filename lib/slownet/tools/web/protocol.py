"""The versions of HTTP and TLS that a page is asked in."""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass

import pycurl

from slownet.model.errors import ServiceError, SlownetError, nearest
from slownet.model.options import Option
from slownet.tools.web.address import Address, Endpoint

HTTP = {"1.1": pycurl.CURL_HTTP_VERSION_1_1, "2": pycurl.CURL_HTTP_VERSION_2TLS, "3": pycurl.CURL_HTTP_VERSION_3ONLY}
SPOKEN = {
    pycurl.CURL_HTTP_VERSION_1_0: "1.0",
    pycurl.CURL_HTTP_VERSION_1_1: "1.1",
    pycurl.CURL_HTTP_VERSION_2: "2",
    pycurl.CURL_HTTP_VERSION_3: "3",
}
TLS = {
    "1.2": pycurl.SSLVERSION_TLSv1_2 | pycurl.SSLVERSION_MAX_TLSv1_2,
    "1.3": pycurl.SSLVERSION_TLSv1_3 | pycurl.SSLVERSION_MAX_TLSv1_3,
}
PLAIN = "1.1"
BEST = "best"
"""The newest version of TLS that both sides have."""
OF_QUIC = "1.3"
"""QUIC has no other TLS (RFC 9001, 4.2)."""
NEGOTIATED = re.compile(r"^SSL connection using TLSv([\d.]+)")


@dataclass(frozen=True)
class Protocol:
    """The requested version; it is never replaced by another one."""

    http: str = PLAIN
    tls: str = BEST
    certificates: str | None = None
    """A file of trusted certificates; None for the system's."""

    def set(self, handle: pycurl.Curl, address: Address) -> None:
        """Ask for these versions and no others."""
        version = HTTP[self.http]
        if self.http == "2" and address.scheme == "http":
            version = pycurl.CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE  # RFC 9113, 3.3: nothing is negotiated without TLS
        handle.setopt(pycurl.HTTP_VERSION, version)
        if self.tls != BEST:
            handle.setopt(pycurl.SSLVERSION, TLS[self.tls])
        system = ssl.get_default_verify_paths()  # libcurl's own default is that of the machine that it was built on
        if file := self.certificates or system.cafile:
            handle.setopt(pycurl.CAINFO, file)
        if system.capath:
            handle.setopt(pycurl.CAPATH, system.capath)

    def check(self, spoken: str, address: Address, endpoint: Endpoint) -> None:
        """Raise ServiceError if the server answered in another version of HTTP."""
        if spoken != self.http and (spoken, self.http) != ("1.0", PLAIN):
            what = f"{address.host} port {address.port} answers in HTTP/{spoken}, not in HTTP/{self.http}"
            raise ServiceError(what, f"at {endpoint.ip}", f"give {Option('http').set(spoken.replace('1.0', '1.1'))}")


def read(http: str, tls: str, address: Address, certificates: str | None = None) -> Protocol:
    """Return what is asked for. Raises SlownetError: a version that does not exist, or not with that URL or in this libcurl."""
    if http not in HTTP:
        raise SlownetError(f"no HTTP version '{http}'", Option("http"), nearest(http, HTTP))
    if tls not in (*TLS, BEST):
        raise SlownetError(f"no TLS version '{tls}'", Option("tls"), nearest(tls, (*TLS, BEST)))
    if address.scheme == "http":
        if http == "3":
            raise SlownetError("HTTP/3 is always encrypted", Option("http"), "give an https URL")
        if tls != BEST:
            raise SlownetError("an http URL has no TLS", Option("tls"), "give an https URL")
    if http == "3" and tls == "1.2":
        raise SlownetError("HTTP/3 requires TLS 1.3", Option("tls"), "leave it out")
    lacking = {"2": pycurl.VERSION_HTTP2, "3": pycurl.VERSION_HTTP3}.get(http, 0) & ~pycurl.version_info()[4]
    if lacking:
        fix = "pip install --force-reinstall --only-binary :all: pycurl"
        raise SlownetError(f"the libcurl of this pycurl ({pycurl.version_info()[1]}) has no HTTP/{http}", Option("http"), fix)
    return Protocol(http, tls, certificates)
