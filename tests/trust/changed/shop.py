"""A shop of two programs, and small changes of it that variables make: more work, one question more, more delay.

`python3 shop.py stock` answers how many there are, `python3 shop.py web` asks it for each article and counts a little.
"""

import http.client
import http.server
import os
import sys

ARTICLES, COUNTED = int(os.environ.get("ARTICLES", "5")), int(os.environ.get("COUNTED", "50000"))
PORT = 8000


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one write for head and body

    def do_GET(self):
        body = self.page().encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Stock(Server):
    def page(self):
        return "2"


class Web(Server):
    def page(self):
        for _ in range(COUNTED):
            pass
        connection = http.client.HTTPConnection("10.0.0.3", PORT)
        lines = [f"article {article}: {ask(connection, article)} in stock\n" for article in range(ARTICLES)]
        connection.close()
        return "".join(lines)


def ask(connection, article):
    connection.request("GET", f"/{article}")
    return connection.getresponse().read().decode()


def main():
    handler = {"stock": Stock, "web": Web}[sys.argv[1]]
    http.server.ThreadingHTTPServer(("", PORT), handler).serve_forever()


if __name__ == "__main__":
    main()
