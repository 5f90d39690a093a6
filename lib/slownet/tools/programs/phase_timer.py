"""Requests a page several times and prints each one's phases as JSON: the program of `slownet.tools.fetch`."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from slownet.model.errors import SlownetError
from slownet.tools.web import address, protocol
from slownet.tools.web.page_requests import visit


def main() -> int:
    """Read the job from the first argument, request the page and print the visit. A failure is one line, exit status 2."""
    job = json.loads(sys.argv[1])
    try:
        where = address.read(job["url"])
        asked = protocol.read(job["http"], job["tls"], where, job["certificates"])
        found = visit(where, job["requests"], job["pause_s"], job["timeout_s"], asked)
        if found.error:
            raise SlownetError(found.error, f"after {len(found.pages)} of {job['requests']} requests")
    except SlownetError as error:
        print(error.line, file=sys.stderr)
        return 2
    pages = [asdict(page) for page in found.pages]
    print(json.dumps({"name_ms": found.name_ms, "address": found.endpoint.ip, "pages": pages}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
