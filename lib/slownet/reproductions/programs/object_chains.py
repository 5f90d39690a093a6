"""Loads a page of many objects for each line on standard input, on new connections; see `slownet.reproductions.page_load`.

    python -m slownet.reproductions.programs.object_chains JOB

JOB is JSON: ``chains``, lists of URLs that are requested one after the other while the chains go side by side, the
``application`` protocol, and the ``groups`` of its key exchange. Each load is one line of JSON: its time, and its transfers in
the order they ended. It is one process for all loads, because a start of ``curl``, with its forty libraries, takes
longer than the loads of some pages.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence

from slownet.tools.programs import libcurl
from slownet.tools.programs.libcurl import CurlError, Transfers

HTTP = {"http/1.1": libcurl.HTTP_1_1, "h2": libcurl.HTTP_2, "h3": libcurl.HTTP_3_ONLY}
BUFFER = 102_400
"""curl's, in bytes."""


def load(chains: Sequence[Sequence[str]], application: str, groups: str) -> dict[str, object]:
    """Load the page once. Raises CurlError."""
    began = time.monotonic()
    ended = []
    with Transfers() as transfers:  # they share connections and tickets, so each page has its own
        options: dict[int, int | str] = {
            libcurl.HTTP_VERSION: HTTP[application],
            libcurl.PIPEWAIT: int(application != "http/1.1"),  # wait for the page's connection instead of opening more
            libcurl.SSL_EC_CURVES: groups,
            libcurl.SSL_VERIFYPEER: 0,
            libcurl.SSL_VERIFYHOST: 0,
            libcurl.FAILONERROR: 1,
            libcurl.BUFFERSIZE: BUFFER,
            libcurl.NOSIGNAL: 1,  # Python ignores SIGPIPE; libcurl would set and restore that at each step
            libcurl.USERAGENT: f"curl/{transfers.version}",
        }
        left = {transfers.begin(first, options): list(others) for first, *others in chains}
        while left:
            for handle in transfers.wait():
                ended.append(transfers.figures(handle))
                transfers.close(handle)
                if others := left.pop(handle):
                    left[transfers.begin(others[0], options)] = others[1:]
        taken = time.monotonic() - began
    return {"time_s": taken, "transfers": ended}


def main() -> int:
    """Load the page as often as there are lines. A transfer that fails is one line on standard error, and exit status 1."""
    job = json.loads(sys.argv[1])
    for _ in sys.stdin:
        try:
            print(json.dumps(load(**job)), flush=True)
        except CurlError as error:
            print(f"libcurl: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
