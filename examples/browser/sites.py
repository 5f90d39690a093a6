"""Pages of equal images, and pages whose first paint waits, served by nginx, and by HAProxy with early hints."""

import http.server
import threading
import time
from contextlib import contextmanager

from slownet.net.namespace import inside
from slownet.services.https import HttpsServer
from slownet.services.readiness import Command

IMAGE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><rect width="16" height="16" fill="teal"/><!--{}--></svg>'
)
HEAD = "<!DOCTYPE html><title>A page</title>"


def page_of_images(number, size):
    """Return the files of a page with so many images of so many bytes."""
    pad = "x" * (size - len(IMAGE.format("")))
    images = "".join(f"<img src=i.svg?{each} width=16 height=16>" for each in range(number))
    return {"page.html": f"{HEAD}<p>Text{images}".encode(), "i.svg": IMAGE.format(pad).encode()}


class TwoPorts(HttpsServer):
    """nginx that also listens on port 444: another origin, with connections of its own."""

    def site(self):
        return [*super().site(), "listen 444 ssl"]


HAPROXY = """
defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
frontend page
    bind :{port} ssl crt {pem} alpn h2
    http-request early-hint Link "</own.css>; rel=preload; as=style" if {{ path /hinted.html }}
    use_backend slow if {{ path_end .html }}
    default_backend files
backend slow
    server one 127.0.0.1:{slow}
backend files
    http-response set-header Cache-Control max-age=600
    server one 127.0.0.1:80
"""
HINTS, SLOW = 445, 8001
THINKS_S = 0.5


@contextmanager
def thinking(web, page):
    """Serve a page that takes half a second to make, on port 445 of a host; /hinted.html says at once what it will need.

    nginx serves the page's files, and HAProxy sends the 103 (Early Hints, RFC 8297), which Debian's nginx does not.
    Chromium keeps what was hinted in its cache until the page asks for it, so it must be cacheable.
    """

    class Slow(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            time.sleep(THINKS_S)
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\n\r\n"
            self.wfile.write(head.encode() + page)

        def log_message(self, *words):
            pass

    pem, settings = web.state / "both.pem", web.state / "haproxy.cfg"
    pem.write_bytes(web.certificate.read_bytes() + (web.state / "key.pem").read_bytes())
    settings.write_text(HAPROXY.format(port=HINTS, pem=pem, slow=SLOW))
    with inside(web.host):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", SLOW), Slow)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        with Command(web.host, ["haproxy", "-db", "-f", str(settings)], web.directory, port=HINTS):
            yield f"https://{web.host.IP()}:{HINTS}/"
    finally:
        server.shutdown()
        server.server_close()
