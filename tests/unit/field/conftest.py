"""A real web server on this machine, and records of runs."""

import ssl
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from slownet.records.result import gather

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


@pytest.fixture
def web():
    yield from serving()


@pytest.fixture
def secure_web():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)
    yield from serving(context)


TIMES = {0: 9.0, 10: 49.0, 40: 169.0, 120: 489.0}


@pytest.fixture
def made():
    """made(times by rtt, ...) returns a run of pages that take four round trips; without delay a round trip is 0.1 ms."""

    def make(times=TIMES, sd=0.4, **more):
        def sample(index, rtt, time):
            metrics = {
                "time_per_request_ms": {"mean": time, "sd": sd, "n": 100},
                "time_p99_ms": {"mean": time, "sd": 0.0, "n": 100},
            }
            cell = {"cell": {"rtt": f"{rtt}ms"}, "condition": {"rtt_ms": float(rtt)}, "verified_rtt_ms": rtt + 0.1}
            named = {"experiment": "client_delay", "index": index, "status": "ok", "error": None}
            return cell | named | {"metrics": metrics, "facts": {"document_length": 52_000, "header_length": 238}} | more

        return gather(
            [sample(index, *each) for index, each in enumerate(times.items())], {"clock": "virtual", "tdf": 4, "cpu": "work"}
        )

    return make
