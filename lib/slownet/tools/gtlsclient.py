"""``gtlsclient``, ngtcp2's HTTP/3 client on GnuTLS: it sends early data over QUIC, which curl does not."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from slownet.tools.curl import key_log
from slownet.tools.process import Host
from slownet.tools.tool import Completed, run

PROGRAM = "gtlsclient"


def gtlsclient(host: Host, url: str, *, session: Path, keys: Path | None = None, timeout: float = 60.0) -> Completed:
    """Request a URL with ``gtlsclient``, which ends once it has the response and a ticket for the next time.

    Parameters
    ----------
    host : Host
        The host that ``gtlsclient`` runs on.
    url : str
        What to request, with an IP address.
    session : Path
        A folder that keeps the session. If it has one, the request is sent as early data.
    keys : Path, optional
        A file to which the connection's secrets are written.
    timeout : float
        Seconds for the request.

    Returns
    -------
    Completed
        The program's output. What it says of early data is only that it was sent: see `slownet.links.packets.quic`.

    Raises
    ------
    ToolError
        ``gtlsclient`` is missing, fails, or takes longer.
    """
    kept = [f"--session-file={session}/session", f"--tp-file={session}/parameters"]
    parts = urlsplit(url)
    argv = [PROGRAM, "--quiet", "--exit-on-all-streams-close", "--wait-for-ticket", *kept]
    argv += [str(parts.hostname), str(parts.port or 443), url]
    return run(host, argv, timeout=timeout, env=key_log(keys))
