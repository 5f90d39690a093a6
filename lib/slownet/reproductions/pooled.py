"""PostgreSQL with TLS, found by its address or by a name whose answer may be remembered for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from slownet.model.protocol_names import UDP
from slownet.net.process import Hosts
from slownet.reproductions.named_pages import asking
from slownet.services.postgresql import PostgreSQL
from slownet.services.unbound import LOCAL, Unbound
from slownet.tools.statements import statements
from slownet.tools.user_metrics import Numbers

OPENSSL = "openssl_conf = all\n[all]\nssl_conf = of_tls\n[of_tls]\nsystem_default = default\n[default]\nGroups = {}\n"
NAME, QUESTION = "database.example", "SHOW server_version_num"


class FarPostgreSQL(PostgreSQL):
    """PostgreSQL with TLS on ``net["server"]``, and a client on ``net["client"]``.

    net: the network.
    directory: the run directory, for logs.
    """

    def __init__(self, net: Hosts, directory: str | Path) -> None:
        super().__init__(net["server"], directory, tls=True)
        self.client = net["client"]

    def ask(self, connection: str, *, ttl: int | None = None, group: str = "", **parameters: str) -> Numbers:
        """Ask it something three times.

        connection: as in `slownet.tools.statements.statements`.
        ttl: look it up by its name each time, by a resolver at the client, which may remember the answer of the name server
            beside the database for so many seconds.
        group: the only group for key exchange that the client's OpenSSL knows, such as ``"P-256"``; its own list unless given.
        **parameters: more parameters of libpq, such as ``sslmode="require"``.
        returns: ``statement_ms``.
        Raises ServiceError, ToolError: a server does not start, or the client is refused.
        """
        where = {**self.login, **({} if ttl is None else {"host": NAME}), **parameters}
        (self.state / "openssl.cnf").write_text(OPENSSL.format(group))
        env = {"OPENSSL_CONF": str(self.state / "openssl.cnf")} if group else {}
        with nullcontext() if ttl is None else self._named(ttl):
            return statements(self.client, "postgresql", QUESTION, where, connection=connection, count=3, env=env)

    @contextmanager
    def _named(self, ttl: int) -> Iterator[None]:
        own = Unbound(self.host, self.directory, records={NAME: [self.host.IP()]}, ttl=ttl)
        with own, Unbound(self.client, self.directory, forward=(self.host.IP(), UDP)), asking(self.client, LOCAL):
            yield
