"""A real web server on this machine, with and without TLS."""

import ssl
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PEM = Path(__file__).with_name("localhost.pem")
BODY = b"x" * 52_000


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.seen.append((self.path, dict(self.headers), time.monotonic()))
        if self.path == "/moved":
            return self.answer(301, b"", Location="http://elsewhere.example/")
        if self.path == "/slow":
            time.sleep(0.5)
        if self.path == "/trickle":
            self.send_response(200)
            self.end_headers()
            for _ in range(20):
                self.wfile.write(b"x")
                time.sleep(0.05)
            return None
        if self.path == "/chunks":
            return self.chunks()
        if self.path == "/tired" and len(self.server.seen) > 7:
            return self.answer(503, b"")
        if self.path == "/short":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"short")
            return None
        return self.answer(404 if self.path == "/gone" else 200, BODY)

    def answer(self, status, body, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def chunks(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in (BODY[:30_000], BODY[30_000:]):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")

    def handle(self):
        with suppress(ConnectionError, ssl.SSLError):  # a client that gave up
            super().handle()

    def log_message(self, *words):
        pass


class Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        pass


def serving(context=None):
    server = Server(("127.0.0.1", 0), Answers)
    server.seen = []
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    server.url = f"http{'s' if context else ''}://localhost:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
