"""A shop whose checkout asks its database five times, one question after the other, and its cache once."""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg2
import redis

QUERIES = int(os.environ.get("SHOP_QUERIES", "5"))
PORT = 8000

with open("/run/secrets/database") as secret:
    PASSWORD = secret.read().strip()
database = psycopg2.connect(host=os.environ["DATABASE"], user="shop", password=PASSWORD, dbname="postgres")
database.autocommit = True
cache = redis.Redis("cache")


class Shop(BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"ok\n"
        if self.path == "/checkout":
            with database.cursor() as cursor:
                for number in range(QUERIES):
                    cursor.execute("SELECT %s::int", (number,))
                    cursor.fetchone()
            body = b"sold after %d questions, %d before\n" % (QUERIES, cache.incr("sold") > 0)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


print(f"the shop is open, on {PORT}", flush=True)
ThreadingHTTPServer(("", PORT), Shop).serve_forever()
