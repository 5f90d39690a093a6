"""Requests of a page in HTTP/1.1, 2 or 3, each on a new connection, with the time of each phase (``programs/fetch.py``)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from slownet.judge.measured import Metrics
from slownet.model.errors import SlownetError, ToolError, above_zero, counts
from slownet.model.options import HTTP, Option, here, of_another_program
from slownet.net.output import last_line
from slownet.net.process import Host
from slownet.net.tool import run
from slownet.tools.numbers import Metric, metric, sample_sd, series
from slownet.tools.program import python, read_json
from slownet.tools.register import tool
from slownet.tools.web import address, protocol
from slownet.tools.web.protocol import BEST, PLAIN
from slownet.tools.web.request import Page

TIME, RTT, TLS, WAITING, BODY = "time_per_request_ms", "connect_rtt_ms", "tls_ms", "waiting_ms", "body_ms"
PARTS = {RTT: "connect", TLS: "TLS", WAITING: "first byte", BODY: "body"}
"""The phases of a request in their order: metric and name. Together they are its time."""
SERVER, WITHOUT_TLS, NAME = "server_ms", "time_without_tls_ms", "name_ms"


@dataclass(frozen=True)
class Fetch(Metrics):
    """The pages that were requested, and the time of each phase.

    Attributes
    ----------
    command : tuple of str
        The command.
    raw : str
        Its output.
    name_ms : float
        Time to look up the host's addresses, once.
    pages : tuple of Page
        The responses, in order: ``connect_ms``, ``tls_ms``, ``waiting_ms``, ``body_ms``, ``total_ms``, ``http``, ``tls``,
        ``length`` of each.
    """

    command: tuple[str, ...]
    raw: str
    name_ms: float
    pages: tuple[Page, ...]

    def metrics(self) -> dict[str, Metric]:
        """Return the metrics of `phases`, and ``name_ms``."""
        return {**phases(self.pages), NAME: metric(self.name_ms, 0.0, 1)}

    def facts(self) -> dict[str, object]:
        """Return the page's size, and the versions of HTTP and TLS."""
        first = self.pages[0]
        return {"document_length": first.length, "http": first.http, "tls": first.tls}


def phases(pages: Sequence[Page]) -> dict[str, Metric]:
    """Return the metrics of pages in ms, as `ab` calls them, and those of their phases.

    ``time_per_request_ms`` is the sum of ``connect_rtt_ms`` (one round trip), ``tls_ms`` (if there is TLS), ``waiting_ms``
    (from the request to the response's first byte) and ``body_ms``; ``server_ms`` is the server's time to its first byte,
    ``waiting_ms`` without a round trip; ``time_without_tls_ms`` is the time without ``tls_ms``.
    """
    times = {
        TIME: [page.total_ms for page in pages],
        RTT: [page.connect_ms for page in pages],
        WAITING: [page.waiting_ms for page in pages],
        BODY: [page.body_ms for page in pages],
        SERVER: [page.waiting_ms - page.connect_ms for page in pages],
    }
    tls = [page.tls_ms for page in pages if page.tls_ms is not None]
    if tls:
        times[TLS] = tls
        times[WITHOUT_TLS] = [total - part for total, part in zip(times[TIME], tls, strict=True)]
    found = {name: series(each) for name, each in times.items()}
    time, sd = found[TIME]["mean"], sample_sd(times[TIME])
    if time > 0:  # as for ab, the deviation follows from the time's
        found["requests_per_second"] = metric(1000 / time, 1000 / time * sd / time, len(pages))
    return found


@tool(versions=("http", "tls"))
def fetch(
    host: Host, url: str, *, requests: int = 20, pause: float = 0.0, http: str = PLAIN, tls: str = BEST,
    certificates: Path | None = None, timeout: float = 60.0,
) -> Fetch:  # fmt: skip
    """Request a page several times from a host, one request at a time, each on a new connection.

    Parameters
    ----------
    host : Host
        The host that sends the requests.
    url : str
        The page's http or https URL.
    requests : int
        How many.
    pause : float
        Seconds between two.
    http : str
        The version of HTTP: ``1.1``, ``2`` or ``3``.
    tls : str
        The version of TLS: ``1.2``, ``1.3``, or ``best``, the newest that both sides have.
    certificates : Path, optional
        A file of certificates (PEM) that are trusted beside the system's: that of your own test server.
    timeout : float
        Seconds for one page.

    Returns
    -------
    Fetch
        The time of each phase of each page, in ms.

    Raises
    ------
    ToolError
        A page did not come, or not in that version: nothing else is measured instead.
    SlownetError
        The URL or a version cannot be.

    Examples
    --------
    >>> page = fetch(net["client"], "https://web/", http="2", certificates=Path("web.pem"))  # doctest: +SKIP
    >>> page.tls_ms < "50ms"  # doctest: +SKIP
    True
    """
    counts("fetch", requests=requests)
    above_zero("fetch", timeout=timeout)
    if pause:
        above_zero("fetch", pause=pause)
    http, tls = str(http), str(tls)  # 2 is as good as "2"
    try:
        protocol.read(http, tls, address.read(url))  # raises early
    except SlownetError as error:
        raise type(error)(*map(_of_arguments, (error.what, error.where, error.fix))) from None
    trusted = str(certificates) if certificates else None
    job = {
        "url": url, "requests": requests, "pause_s": pause, "timeout_s": timeout, "http": http, "tls": tls,
        "certificates": trusted,
    }  # fmt: skip
    argv = python("phase_timer", json.dumps(job))
    done = run(host, argv, timeout=requests * (pause + timeout) + 60, check=False)
    if done.status:
        raise ToolError(_of_arguments(last_line(done.raw)), f"host '{host.name}'", raw=done.raw)
    return parse(done.stdout, argv)


def _of_arguments(text: str) -> str:
    """Return a text with this function's arguments in place of the options that the command line has for them."""
    own = (HTTP.name, Option("tls").name)
    with of_another_program(lambda name, value: (f'{name}="{value}"' if value else name) if name in own else None):
        return here(text)


def parse(text: str, command: Sequence[str] = ("fetch.py",)) -> Fetch:
    """Parse the program's output. Raises ToolError that quotes a line it does not understand."""
    record = read_json(text, command, "name_ms", "pages")
    try:
        known = {each.name for each in fields(Page)}
        pages = tuple(Page(**{name: page[name] for name in known}) for page in record["pages"])
        if not pages:
            raise ValueError("no page")
        return Fetch(tuple(command), text, float(record["name_ms"]), pages)
    except (KeyError, TypeError, ValueError) as error:
        raise ToolError(f"the pages' times are not understood ({error})", raw=text) from None
