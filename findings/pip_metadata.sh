#!/bin/sh
# Question: does an index that offers each wheel's metadata as a file of its own (PEP 658) spare pip round trips?
#
# Such a file exists so that an installer need not fetch a wheel to see what it requires. On a slow link each request is a round trip,
# because pip waits for one answer before it asks the next question.
# Guess, written before: pip asks for as many files or fewer, as it learns earlier what it needs.
#
# What came, with pip 26.3 of PyPI: "20 wheels: 40 requests without metadata files, 60 with them". pip reads each metadata file before
# the wheel that it then fetches anyway, so that where each candidate is installed, as from a list of fixed versions, the
# files cost half as much time again. They spare bytes where candidates are given up. Fails if that changes.
#
# Installs the package in a temporary folder; its index is a server on loopback.
set -eu
folder=$(mktemp -d)
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pip==26.3
cat > index.py <<'EOF'
import hashlib
import io
import sys
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAMES = [f"piece{number}" for number in range(20)]
METADATA = {name: f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode() for name in NAMES}


def wheel(name):
    file, info = io.BytesIO(), f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": b"",
        f"{info}/METADATA": METADATA[name],
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: none\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(file, "w") as archive:
        for path, text in {**files, f"{info}/RECORD": record.encode()}.items():
            archive.writestr(path, text)
    return file.getvalue()


class Index(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        name = self.path.split("/")[2].partition("-")[0]
        file = f"{name}-1.0-py3-none-any.whl"
        if self.path.endswith(".metadata"):
            kind, body = "application/octet-stream", METADATA[name]
        elif self.path.endswith(".whl"):
            kind, body = "application/octet-stream", wheel(name)
        else:
            digest = hashlib.sha256(METADATA[name]).hexdigest()
            offered = f' data-core-metadata="sha256={digest}"' if OFFERED else ""
            kind, body = "text/html", f'<!DOCTYPE html><a href="/files/{file}"{offered}>{file}</a>'.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        print(self.path, file=LOG, flush=True)


OFFERED, LOG = sys.argv[1] == "with", open(f"{sys.argv[1]}.log", "w")
server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
print(server.server_port, flush=True)
server.serve_forever()
EOF
for way in without with; do
    python3 index.py "$way" > port 2>&1 &
    server=$!
    while [ ! -s port ]; do sleep 0.1; done
    venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --index-url "http://127.0.0.1:$(cat port)/simple" \
        --target "$way" $(seq -f 'piece%g' 0 19)
    kill "$server"
    : > port
done
requests() { wc -l < "$1.log"; }
echo "$(ls -d with/*.dist-info | wc -l) wheels: $(requests without) requests without metadata files, $(requests with) with them"
[ "$(requests without)" = 40 ]
[ "$(requests with)" = 60 ]
