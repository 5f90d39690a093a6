"""The buttons of a page, on hosts: load a page, measure the rate or a ping, and what a condition costs beside the law."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from slownet.links.conditions.link import Condition
from slownet.live import orders
from slownet.model.errors import ExperimentError
from slownet.model.shapes import Json
from slownet.net.network import Network
from slownet.services.https import HttpsServer
from slownet.theory import slow_start
from slownet.tools.curl import curl
from slownet.tools.fetch import Fetch, fetch
from slownet.tools.iperf3 import iperf3
from slownet.tools.ping import ping

PAGE_BYTES = 50_000
"""Of the page that a host serves if the network has no web server: four round trips on a new connection."""
HEADER_BYTES = 239
"""Of a response from nginx with a static file; a step of slow start lies seldom between two servers' headers."""
LARGE_BYTES, SMALL_BYTES = 200_000, 600
FILES = {"page": PAGE_BYTES, "large": LARGE_BYTES, "small": SMALL_BYTES}
"""The files of a web server that is started on a host."""
PINGS, REQUESTS, IPERF_S = 5, 3, 5.0
MOST_BASES = 500
"""Times without the link's delay that are kept: a page that is open for days forgets the first."""
RAW_CHARACTERS = 20_000
MOST_AT_ONCE = 4
LIMIT_S = 120.0
"""For one page: over a link that is cut nothing comes."""

Post = Callable[..., None]


@dataclass(frozen=True)
class Cost:
    """An operation whose time obeys a law: ms, and round trips by theory with their reason."""

    ms: float
    k: float
    why: str


class Actions:
    """Runs tools on the hosts of a network, each in a thread of its own.

    pages: URLs of web servers that run there. setting: sets a link, given its key and a condition, None for the present one;
    returns the condition that it has then.
    """

    def __init__(self, network: Network, pages: list[str], post: Post, setting: Callable[[str, Condition | None], Condition]):
        self._network = network
        self._pages = pages
        self._post = post
        self._setting = setting
        self._servers = ExitStack()
        self._serving: dict[str, HttpsServer] = {}
        self._base: dict[tuple[str, ...], float] = {}
        self._lock = threading.Lock()
        self._one_cost = threading.Lock()
        self._running = 0

    def start(self, order: Mapping[str, Any]) -> None:
        """Start what a button asks for: "page", "iperf3", "ping" or "cost". Raises ExperimentError."""
        with self._lock:
            if self._running >= MOST_AT_ONCE:
                raise ExperimentError(f"{MOST_AT_ONCE} measurements are running", fix="wait for one of them")
            self._running += 1
        threading.Thread(target=self._attend, args=(dict(order),), daemon=True).start()

    def close(self) -> None:
        """Stop the web servers that were started."""
        self._servers.close()

    def _attend(self, order: dict[str, Any]) -> None:
        try:
            self._run(order)
        except Exception as error:
            line = getattr(error, "line", None) or f"{type(error).__name__}: {error}"
            self._post(kind="failed", id=order["id"], line=str(line)[:3900])
        finally:
            with self._lock:
                self._running -= 1

    def _run(self, order: dict[str, Any]) -> None:
        what, client, server = order["what"], self._network[order["client"]], self._network[order["server"]]
        if client is server:
            raise ExperimentError(f"'{client.name}' is both ends", fix="choose two hosts")
        if what == "cost":
            self._cost(order, client, server)
            return
        title, text, raw = getattr(self, f"_{what}")(client, server)
        self._post(kind="result", id=order["id"], title=title, text=text, raw=raw[-RAW_CHARACTERS:])

    def _ping(self, client: Any, server: Any) -> tuple[str, str, str]:
        record = ping(client, server.IP(), count=PINGS)
        assert record.rtt_ms is not None
        text = f"{record.rtt_ms.min:.3g} ms round trip, {record.received} of {record.sent} answered"
        return f"ping {client.name} to {server.name}", text, record.raw

    def _iperf3(self, client: Any, server: Any) -> tuple[str, str, str]:
        record = iperf3(server, client, seconds=IPERF_S, timeout=LIMIT_S)
        return f"iperf3 {server.name} to {client.name}", f"{record.mbit_per_s:.3g} Mbit/s in {IPERF_S:g} s", record.raw

    def _page(self, client: Any, server: Any) -> tuple[str, str, str]:
        url = self._url(server)
        record = fetch(client, url, requests=1, timeout=LIMIT_S)
        page = record.pages[0]
        title = f"page {url} from {client.name}"
        text = (
            f"{page.total_ms:.4g} ms for {page.length:,} bytes: {page.connect_ms:.3g} ms handshake, {page.waiting_ms:.3g} ms "
        )
        return title, f"{text}to the first byte, {page.body_ms:.3g} ms for the body", record.raw

    def _url(self, server: Any) -> str:
        """Return the URL of a page on a host, where nginx with pages of its own is started if no web server runs."""
        return self._own_page(server) or f"http://{self._server(server).host.IP()}/page"

    def _own_page(self, server: Any) -> str:
        """Return the URL of the web server that the network has on a host; empty without one."""
        addresses = {server.name, *(str(each.IP()) for each in server.intfList())}
        return next((url for url in self._pages if urlsplit(url).hostname in addresses), "")

    def _server(self, server: Any) -> HttpsServer:
        """Return the web server that is started on a host for measurements. Raises ExperimentError if it has another one."""
        if self._own_page(server):
            what = f"'{server.name}' has a web server of its own, which serves one page"
            raise ExperimentError(what, fix="measure page, TCP connection or ping, or choose another host")
        with self._lock:
            if server.name not in self._serving or not self._serving[server.name].running:
                self._serving[server.name] = self._servers.enter_context(HttpsServer(server, files=FILES))
            return self._serving[server.name]

    def _cost(self, order: dict[str, Any], client: Any, server: Any) -> None:
        """Measure an operation without the link's delay, once, and at the condition that is shown."""
        operation, key = order["operation"], order["key"]
        measure: Callable[[], Cost] = lambda: self._operation(operation, client, server)  # noqa: E731
        with self._one_cost:
            shown = self._setting(key, None)
            near = (
                shown.but(delay="0ms", jitter_up=None, jitter_down=None, distribution=None)
                if shown.chancy
                else shown.but(delay="0ms")
            )
            known = (operation, client.name, server.name, key, *self._conditions(key), str(near))
            if known not in self._base:
                if len(self._base) >= MOST_BASES:
                    self._base.clear()
                self._setting(key, near)
                try:
                    self._base[known] = measure().ms
                finally:
                    self._setting(key, shown)
            found = measure()
        point: dict[str, Json] = {"rtt_ms": round(shown.rtt * 1000, 6), "ms": found.ms}
        self._post(
            kind="cost", id=order["id"], key=key,
            operation=f"{orders.OPERATIONS[operation]} from {client.name} to {server.name}", k=found.k,
            why=found.why, t0_ms=self._base[known], point=point, under=str(near),
        )  # fmt: skip

    def _conditions(self, but: str) -> list[str]:
        """Return the conditions of the other links as texts: a base belongs to them."""
        return [f"{name} {condition}" for name, condition in self._network.conditions.items() if name != but]

    def _operation(self, operation: str, client: Any, server: Any) -> Cost:
        cost: Cost = getattr(self, f"_cost_of_{operation}")(client, server)
        return cost

    def _cost_of_ping(self, client: Any, server: Any) -> Cost:
        found = ping(client, server.IP(), count=PINGS)
        assert found.rtt_ms is not None
        return Cost(found.rtt_ms.min, 1, "a ping is one round trip")  # the first one may wait for ARP

    def _cost_of_page(self, client: Any, server: Any) -> Cost:
        return _of_pages(fetch(client, self._url(server), requests=REQUESTS, timeout=LIMIT_S))

    def _cost_of_large(self, client: Any, server: Any) -> Cost:
        url = f"http://{self._server(server).host.IP()}/large"
        return _of_pages(fetch(client, url, requests=REQUESTS, timeout=LIMIT_S))

    def _cost_of_tls(self, client: Any, server: Any) -> Cost:
        words = ["--tlsv1.3", "--http1.1", f"{self._server(server).url}page"]
        times = [curl(client, words, timeout=LIMIT_S).times_ms[0] for _ in range(REQUESTS)]
        plain = _of_bytes(PAGE_BYTES, sum(times) / len(times))
        return Cost(plain.ms, plain.k + 1, f"{plain.why}, and TLS 1.3's handshake")

    def _cost_of_connection(self, client: Any, server: Any) -> Cost:
        found = fetch(client, self._url(server), requests=REQUESTS, timeout=LIMIT_S)
        ms = sum(each.connect_ms for each in found.pages) / len(found.pages)
        return Cost(ms, 1, "a connection is open after one round trip")

    def _cost_of_kept(self, client: Any, server: Any) -> Cost:
        url = f"http://{self._server(server).host.IP()}/small"
        _, *kept = curl(client, [url] * (1 + REQUESTS), timeout=LIMIT_S).times_ms
        return Cost(sum(kept) / len(kept), 1, f"{SMALL_BYTES} bytes on a connection that is open: one round trip")


def _of_pages(found: Fetch) -> Cost:
    """Return the cost of pages on new connections."""
    return _of_bytes(found.pages[0].length, sum(each.total_ms for each in found.pages) / len(found.pages))


def _of_bytes(length: int, ms: float) -> Cost:
    """Return the cost of so many bytes on a new connection, which took so long."""
    k = slow_start.round_trips(length, until=slow_start.LAST_BYTE, header_bytes=HEADER_BYTES)
    flights = "1 flight" if k == 2 else f"{k - 1} flights"
    return Cost(ms, k, f"{length:,} bytes on a new connection: the handshake and {flights} of slow start")
