"""Versions of HTTP and TLS: what is asked for is measured, or nothing is. tests/lab/test_fetch.py measures HTTP/2 and 3."""

import ssl

import pytest
from pages import BODY, PEM, serving

from slownet.model.errors import ServiceError, SlownetError
from slownet.tools.web import address, protocol
from slownet.tools.web.page_requests import visit


@pytest.fixture
def secure_web():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    yield from serving(context)


def asked(url, http="1.1", tls="best"):
    where = address.read(url)
    return visit(where, 1, 0.0, 5.0, protocol.read(http, tls, where, str(PEM))).pages[0]


def test_the_versions_are_those_of_the_answer(secure_web):
    page = asked(secure_web.url)
    assert (page.http, page.tls, page.length) == ("1.1", "1.2", len(BODY))
    assert page.connect_ms + page.tls_ms + page.waiting_ms + page.body_ms == pytest.approx(page.total_ms)
    assert asked(secure_web.url, tls="1.2").tls == "1.2"


def test_a_version_of_tls_that_the_server_does_not_have_is_one_line(secure_web):
    with pytest.raises(ServiceError, match=r"^the TLS handshake with localhost port \d+ failed \(.*\), at 127.0.0.1: "):
        asked(secure_web.url, tls="1.3")


def test_a_server_that_answers_in_another_version_is_one_line(secure_web):
    with pytest.raises(ServiceError, match=r"answers in HTTP/1.1, not in HTTP/2, at 127.0.0.1: give --http 1.1$"):
        asked(secure_web.url, http="2")


def test_a_server_without_quic_is_one_line(secure_web):
    with pytest.raises(ServiceError, match=r"^localhost port \d+ (cannot be reached|refuses the connection)"):
        asked(secure_web.url, http="3")


@pytest.mark.parametrize(
    ("url", "http", "tls", "said"),
    [
        ("http://localhost/", "3", "best", "HTTP/3 is always encrypted, --http: give an https URL"),
        ("http://localhost/", "1.1", "1.3", "an http URL has no TLS, --tls: give an https URL"),
        ("https://localhost/", "3", "1.2", "HTTP/3 requires TLS 1.3, --tls: leave it out"),
        ("https://localhost/", "h2", "best", "no HTTP version 'h2', --http: did you mean '2'?"),
        ("https://localhost/", "2", "1.4", "no TLS version '1.4', --tls: "),
    ],
)
def test_what_cannot_be_asked_for(url, http, tls, said):
    with pytest.raises(SlownetError) as caught:
        protocol.read(http, tls, address.read(url))
    assert caught.value.line.startswith(said)


def test_a_libcurl_without_http3_is_one_line(monkeypatch):
    version = protocol.pycurl.version_info()
    lacking = (*version[:4], version[4] & ~protocol.pycurl.VERSION_HTTP3, *version[5:])
    monkeypatch.setattr(protocol.pycurl, "version_info", lambda: lacking)
    with pytest.raises(SlownetError, match=r"has no HTTP/3, --http: pip install --force-reinstall"):
        protocol.read("3", "best", address.read("https://localhost/"))
    protocol.read("2", "best", address.read("https://localhost/"))
